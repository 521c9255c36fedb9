"""Sample reports, for people without own reports: real scans of a fictional shop, stored in `samples/`.

`make pictures` scans the shop again (tests/e2e/pictures.py).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from scanner.document import ExportDocument, Facts, StoredBasis, StoredExhibits, StoredPictures, StoredWaterfall
from scanner.report.elsewhere import OtherReport
from scanner.report.filters import Filter
from scanner.report.mute_matching import NO_MUTES
from scanner.report.muting import Muting
from scanner.report.pictures import frame_of, pictures_of
from scanner.report.report_page import ReportPage, report_page

FOLDER = Path(__file__).resolve().parent / "samples"
SCREENSHOT = FOLDER / "screenshot.webp"
# Pictures of the page load that all samples share.
PAGE_PICTURE = FOLDER / "page.webp"
FILM = FOLDER / "film.jpgs"
FRAME = re.compile(r"film/([0-9]{1,3})\.jpg", re.ASCII)
NOTICE = "This is a sample. The shop does not exist, but this service made the report from its demo pages."


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample report, with the fields of `reports.models.Report`."""

    document: ExportDocument
    facts: Facts
    scoring: StoredBasis | None
    waterfall: StoredWaterfall | None
    exhibits: StoredExhibits | None
    has_screenshot: bool
    pictures: StoredPictures | None
    expires_at: None = None  # never

    def page(self, chosen: Filter, check_pages: str, base: str, others: Iterable[OtherReport] = ()) -> ReportPage:
        """Return the page of the sample, without links to the shop. The URLs of its pictures are below `base`."""
        facts: Facts = {**self.facts, "notice": NOTICE}
        facts.pop("final_url", None)
        muting = Muting(NO_MUTES, self.scoring, shows_rules=False, mute_url="")
        page = report_page(
            self.document,
            facts,
            self.waterfall,
            muting,
            exhibits=self.exhibits,
            pictures=pictures_of(
                self.pictures,
                screenshot=f"{base}/screenshot.webp",
                page=f"{base}/page.webp",
                frame=lambda number: f"{base}/film/{number}.jpg",
            ),
            chosen=chosen,
            check_pages=check_pages,
            others=others,
        )
        return replace(page, link=None)

    def picture(self, name: str) -> tuple[bytes, str] | None:
        """Return a picture by its path below the sample's address, such as `film/0.jpg`, and its media type."""
        if name == "screenshot.webp" and self.has_screenshot:
            return SCREENSHOT.read_bytes(), "image/webp"
        if name == "page.webp" and self.pictures and self.pictures["of"] == "page":
            return PAGE_PICTURE.read_bytes(), "image/webp"
        if (number := FRAME.fullmatch(name)) and self.pictures:
            frame = frame_of(FILM.read_bytes(), self.pictures, int(number[1]))
            return (frame, "image/jpeg") if frame else None
        return None


@functools.cache
def sample_of(scan_type: str) -> Sample:
    """Return the sample report for a type of scan."""
    return Sample(**json.loads((FOLDER / f"{scan_type}.json").read_text()))
