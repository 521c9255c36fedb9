"""Preview of an import of sites into a list, from pasted text or from a file.

The form of the preview contains the parsed sites, signed, so that the import makes exactly the changes of the preview.
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
# Maximum length of the signed sites: settings.DATA_UPLOAD_MAX_MEMORY_SIZE, less some bytes for other fields.
MAX_CARRIED = 2_400_000
MAX_REFILLED_BYTES = 200_000


class ImportTooLarge(Exception):
    """Raised if the sites are too large for the form of the preview. The API and the command accept more."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Input of the import form: bytes and media type. `text` refills the form after an error; empty if too long."""

    data: bytes
    media_type: str
    is_file: bool

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace") if len(self.data) <= MAX_REFILLED_BYTES else ""


@dataclass(frozen=True, slots=True)
class Preview:
    """Changes that an import would make. `carried` is the form field with the signed sites."""

    number: int
    difference: Difference
    carried: str
    keeps: int

    @property
    def changes_nothing(self) -> bool:
        difference = self.difference
        return not (difference.added or difference.removed or difference.changed)


def entered_of(request: HttpRequest) -> Entered | None:
    """Return the uploaded file, or else the pasted text; None if the form has neither."""
    file = request.FILES.get("file")
    if isinstance(file, UploadedFile) and file.size:
        media_type = "application/json" if (file.name or "").lower().endswith(".json") else "text/csv"
        return Entered(file.read(), media_type, is_file=True)
    text = request.POST.get("sites", "")
    if not text.strip():
        return None
    media_type = "application/json" if text.lstrip().startswith("{") else "text/csv"
    return Entered(text.encode(), media_type, is_file=False)


def preview(site_list: SiteList, entered: Entered) -> Preview:
    """Return the changes that the input would make. Raises InvalidEntries or ImportTooLarge."""
    if len(entered.data) > MAX_FILE_BYTES:
        raise ImportTooLarge
    rows = read_rows(entered.data, entered.media_type, scan_policy())
    carried = _seal(site_list, rows)
    if len(carried) > MAX_CARRIED:
        raise ImportTooLarge
    changes = difference(site_list, rows)
    return Preview(len(rows), changes, carried, keeps=changes.unchanged + changes.removed)


def carried_rows(site_list: SiteList, carried: str) -> list[Row] | None:
    """Return the sites from the field `carried`; None if the signature is invalid, expired or of another list."""
    try:
        list_id, sites = signing.loads(carried, salt=SALT, max_age=MAX_AGE_S)
    except signing.BadSignature:
        return None
    if list_id != site_list.id:
        return None
    return [Row(line, url, host, tuple(tags), note) for line, (url, host, tags, note) in enumerate(sites, 1)]


def _seal(site_list: SiteList, rows: Sequence[Row]) -> str:
    carried = [(row.url, row.host, row.tags, row.note) for row in rows]
    return signing.dumps((site_list.id, carried), salt=SALT, compress=True)
