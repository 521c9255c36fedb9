"""Preview of an import of sites into a list.

The preview's form has the signed sites in a hidden field, so that the import makes exactly the changes of the preview.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.core import signing
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from msgspec import Struct

from scans.policy import scan_policy
from sites.lists import upload_workbooks
from sites.lists.import_limits import import_slot, refuse_long_upload
from sites.lists.importing import Difference, difference
from sites.lists.upload_faults import Faults
from sites.lists.upload_tables import Columns
from sites.lists.uploads import Row, Upload, parse_upload
from sites.models import SiteList

SALT = "sites.lists.pages.import_preview"
MAX_AGE_S = 3600
MAX_FILE_BYTES = 10_000_000
# The signed sites must be shorter than settings.DATA_UPLOAD_MAX_MEMORY_SIZE, with some space for other fields.
MAX_SIGNED_LENGTH = 2_400_000
# Pasted text is never lost, because a form of this length is within settings.DATA_UPLOAD_MAX_MEMORY_SIZE.
MAX_REFILLED_BYTES = 2_400_000
MAX_REFILLED_FILE_BYTES = 200_000
MAX_SHOWN_ROWS = 200


class ImportTooLarge(Exception):
    """Raised for imports that are too large for the preview's form.

    The API and the command accept larger ones.
    """


class ImportInput(Struct, frozen=True):
    """Input of the import form.

    `text` refills the form after an error. It is empty if the input is too long.
    """

    data: bytes
    media_type: str
    is_file: bool

    @property
    def text(self) -> str:
        if self.media_type == upload_workbooks.MEDIA_TYPE:
            return ""
        limit = MAX_REFILLED_FILE_BYTES if self.is_file else MAX_REFILLED_BYTES
        return self.data.decode("utf-8", "replace") if len(self.data) <= limit else ""


class PreviewRow(Struct, frozen=True):
    """Preview of the change that one line would make.

    `kind` is empty if the line changes nothing.
    """

    row: Row
    kind: str
    has_twin: bool


class Preview(Struct, frozen=True):
    """Preview of an import.

    It shows the sites that would be saved, and the lines that would be left out. `carried` is the hidden form field
    with the signed sites. `rows` are the first sites, those with a change first.
    """

    number: int
    difference: Difference
    carried: str
    columns: Columns | None
    faults: Faults
    rows: list[PreviewRow]

    @property
    def keeps(self) -> int:
        return self.difference.unchanged + self.difference.removed

    @property
    def changes_nothing(self) -> bool:
        difference = self.difference
        return not (difference.added or difference.removed or difference.changed)


def import_input_of(request: HttpRequest) -> ImportInput | None:
    """Return the form's uploaded file or pasted text, or None if it has neither."""
    file = request.FILES.get("file")
    if isinstance(file, UploadedFile) and file.size:
        content = file.read()
        media_type = "application/json" if (file.name or "").lower().endswith(".json") else "text/csv"
        if content.startswith(upload_workbooks.ZIP_START):
            media_type = upload_workbooks.MEDIA_TYPE
        return ImportInput(content, media_type, is_file=True)
    text = request.POST.get("sites", "")
    if not text.strip():
        return None
    media_type = "application/json" if text.lstrip().startswith("{") else "text/csv"
    return ImportInput(text.encode(), media_type, is_file=False)


def preview(site_list: SiteList, import_input: ImportInput) -> Preview:
    """Return a preview of the import.

    Raises InvalidEntries, ImportTooLarge, or a refusal of `import_limits`.
    """
    if len(import_input.data) > MAX_FILE_BYTES:
        raise ImportTooLarge
    refuse_long_upload(site_list.organization_id, import_input.data, import_input.media_type)
    with import_slot(site_list.organization_id, import_input.data, import_input.media_type):
        upload = parse_upload(import_input.data, import_input.media_type, scan_policy())
        return preview_of(site_list, upload)


def preview_of(site_list: SiteList, upload: Upload) -> Preview:
    """Return the preview of a parsed import, or raise ImportTooLarge."""
    rows = upload.rows
    carried = _sign_rows(site_list, rows)
    if len(carried) > MAX_SIGNED_LENGTH:
        raise ImportTooLarge
    changes = difference(site_list, rows)
    shown = [PreviewRow(row, changes.kinds.get(row.url, ""), row.url in changes.twins) for row in rows]
    # Python's sort is stable, so that rows of the same kind stay in the order of their lines.
    shown.sort(key=lambda each: not each.kind)
    return Preview(len(rows), changes, carried, upload.columns, upload.faults, shown[:MAX_SHOWN_ROWS])


def load_signed_rows(site_list: SiteList, carried: str, max_age_s: int | None = None) -> list[Row] | None:
    """Return the sites from the signed form field `carried`.

    Returns None if the signature is invalid, expired or for another list.
    """
    try:
        list_id, sites = signing.loads(carried, salt=SALT, max_age=max_age_s)
    except signing.BadSignature:
        return None
    if list_id != site_list.id:
        return None
    return [Row(line, url, host, tuple(tags), note) for line, url, host, tags, note in sites]


def _sign_rows(site_list: SiteList, rows: Sequence[Row]) -> str:
    carried = [(row.line, row.url, row.host, row.tags, row.note) for row in rows]
    return signing.dumps((site_list.id, carried), salt=SALT, compress=True)
