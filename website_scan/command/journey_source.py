"""Texts of journeys in files and in website-scan.toml.

The reader of a journey is imported only if there is one, because few commands have one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from website_scan.command.errors import WrongUsage
from website_scan.records import repr_without

if TYPE_CHECKING:
    from website_scan.journeys.passwords import ReadJourney

RECORDING = ".json"


class JourneySource(Struct, frozen=True):
    """Text of a journey that has been read from a file.

    `table` is a table of website-scan.toml, and then `text` is empty. `is_typed` is True if the command line names the
    file.
    """

    name: str
    # Recordings contain passwords as text.
    text: str = ""
    table: Mapping[str, object] | None = None
    is_typed: bool = False

    def __repr__(self) -> str:
        return repr_without(self, "text", "table")

    def read(self, base_url: str) -> ReadJourney:
        """Read the journey. Addresses of the short form may be relative to `base_url`.

        Raises WrongUsage, whose message names the file and the line.
        """
        from website_scan.journeys.journey import JourneyRefused
        from website_scan.journeys.passwords import ReadJourney
        from website_scan.journeys.recordings import read_recording
        from website_scan.journeys.short_form import read_short_form
        from website_scan.journeys.tables import journey_from_table

        try:
            if self.table is not None:
                return ReadJourney(journey_from_table(self.table, base_url))
            if self.name.lower().endswith(RECORDING):
                return read_recording(self.text)
            return read_short_form(self.text, title=Path(self.name).stem, base_url=base_url)
        except JourneyRefused as refusal:
            lacks_base = not base_url and "address" in str(refusal)
            hint = ". For relative addresses, write the URL of the site on the command line." if lacks_base else ""
            raise WrongUsage(f"{self.name}: {refusal}{hint}") from None
