"""Import of sites into a list: what was pasted or sent as a file, a preview of what would change, then the change.

The preview's page carries the sites that it read, signed, so that the change is exactly what was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from scans.policy import scan_policy
from sites.lists.importing import Difference, difference
from sites.lists.uploads import Row, read_rows
from sites.models import SiteList

SALT = "sites.lists.pages.import_preview"
MAX_AGE_S = 3600
MAX_FILE_BYTES = 10_000_000
# What a form may carry (settings.DATA_UPLOAD_MAX_MEMORY_SIZE), less the room of its other fields.
MAX_CARRIED = 2_400_000
MAX_SHOWN_AGAIN = 200_000


class ImportTooLarge(Exception):
    """The sites are more than a page can carry; the API and the command take them."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Input of the form: its bytes and their media type; `text` to show it again, if it is not too long."""

    data: bytes
    media_type: str
    is_file: bool

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace") if len(self.data) <= MAX_SHOWN_AGAIN else ""


@dataclass(frozen=True, slots=True)
class Preview:
    """Change that an import would make; `carried` is what the form sends back to make it."""

    number: int
    difference: Difference
    carried: str
    keeps: int

    @property
    def changes_nothing(self) -> bool:
        found = self.difference
        return not (found.added or found.removed or found.changed)


def entered_of(request: HttpRequest) -> Entered | None:
    """Return what was sent: the file if there is one, else the pasted text; None if there is neither."""
    found = request.FILES.get("file")
    if isinstance(found, UploadedFile) and found.size:
        media_type = "application/json" if (found.name or "").lower().endswith(".json") else "text/csv"
        return Entered(found.read(), media_type, is_file=True)
    text = request.POST.get("sites", "")
    if not text.strip():
        return None
    media_type = "application/json" if text.lstrip().startswith("{") else "text/csv"
    return Entered(text.encode(), media_type, is_file=False)


def preview(site_list: SiteList, entered: Entered) -> Preview:
    """Return what the input would change. Raises `InvalidEntries`, or `ImportTooLarge`."""
    if len(entered.data) > MAX_FILE_BYTES:
        raise ImportTooLarge
    rows = read_rows(entered.data, entered.media_type, scan_policy())
    carried = _seal(site_list, rows)
    if len(carried) > MAX_CARRIED:
        raise ImportTooLarge
    found = difference(site_list, rows)
    return Preview(len(rows), found, carried, keeps=found.unchanged + found.removed)


def carried_rows(site_list: SiteList, carried: str) -> list[Row] | None:
    """Return the sites of a preview's form; None if it is older than an hour, or of another list."""
    try:
        list_id, found = signing.loads(carried, salt=SALT, max_age=MAX_AGE_S)
    except signing.BadSignature:
        return None
    if list_id != site_list.id:
        return None
    return [Row(line, url, host, tuple(tags), note) for line, (url, host, tags, note) in enumerate(found, 1)]


def _seal(site_list: SiteList, rows: Sequence[Row]) -> str:
    carried = [(each.url, each.host, each.tags, each.note) for each in rows]
    return signing.dumps((site_list.id, carried), salt=SALT, compress=True)
