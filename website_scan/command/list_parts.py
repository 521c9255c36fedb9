"""Upload of a list's sites: of a small file in one request, of a large one in parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TypedDict
from urllib.parse import quote

from website_scan.address_texts import is_like_address
from website_scan.command.progress import ProgressLine
from website_scan.command.remote import ServiceClient, Upload

# Larger files are sent in parts of this number of lines, each of which the service imports within some seconds.
LINES_PER_PART = 10_000
# The service replaces all sites of a list in one request only if the file and the list have at most these sizes.
MAX_LINES_AT_ONCE = MAX_SITES_REPLACED_AT_ONCE = 100_000
MAX_BYTES_AT_ONCE = 16 * 1024 * 1024
MEDIA_TYPES_WITH_LINES = ("text/csv", "text/plain")
LINE_END = re.compile(rb"\r\n|\r|\n")
DELIMITER = re.compile(r"[\t,;|]")
# Excel writes a first line such as `sep=;`.
DELIMITER_LINE = re.compile(rb"sep=.", re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Changes(TypedDict):
    """Numbers of sites that an import has added, removed, changed and left unchanged."""

    added: int
    removed: int
    changed: int
    unchanged: int


class _Removed(TypedDict):
    removed: int
    next_cursor: str | None


def push_sites(
    server: ServiceClient, path: str, upload: Upload, progress: ProgressLine, former_sites: int = 0
) -> Changes:
    """Replace the sites of a list, of which there are `former_sites`, by those of a file.

    `path` is that of the list's entries. A large file, or one for a large list, is sent in parts. If that is
    interrupted, the same file can be sent again: parts that the service has already imported change nothing. Raises
    ServerRefused.
    """
    lines = len(LINE_END.findall(upload.data))
    is_large = (
        lines > MAX_LINES_AT_ONCE or len(upload.data) > MAX_BYTES_AT_ONCE or former_sites > MAX_SITES_REPLACED_AT_ONCE
    )
    if upload.media_type in MEDIA_TYPES_WITH_LINES and is_large:
        try:
            return _push_parts(server, path, upload, progress)
        finally:
            progress.clear()
    changes: Changes = server.request("PUT", path, upload=upload)
    return changes


def _push_parts(server: ServiceClient, path: str, upload: Upload, progress: ProgressLine) -> Changes:
    name = f"push-{hashlib.sha256(upload.data).hexdigest()[:24]}"
    total: Changes = {"added": 0, "removed": 0, "changed": 0, "unchanged": 0}
    parts = list(split(upload.data))
    for number, part in enumerate(parts):
        progress.update(100 * number // len(parts), f"part {number + 1:,} of {len(parts):,}")
        part_upload = Upload(part, upload.media_type, upload.timeout_s)
        changes: Changes = server.request("POST", f"{path}?import={name}", upload=part_upload)
        total["added"] += changes["added"]
        total["changed"] += changes["changed"]
        total["unchanged"] += changes["unchanged"]
    cursor: str | None = ""
    while cursor is not None:
        progress.update(100, "sites that the file does not have")
        removed: _Removed = server.request("DELETE", f"{path}?import={name}&cursor={quote(cursor)}")
        total["removed"] += removed["removed"]
        cursor = removed["next_cursor"]
    return total


def split(content: bytes) -> Iterator[bytes]:
    """Yield parts of a file with up to `LINES_PER_PART` lines, each with the file's header line, if it has one."""
    lines = [line for line in LINE_END.split(content.removeprefix(BYTE_ORDER_MARK)) if line.strip()]
    number_of_header_lines = 1 if lines and DELIMITER_LINE.match(lines[0]) else 0
    if lines[number_of_header_lines:] and _is_header(lines[number_of_header_lines]):
        number_of_header_lines += 1
    header = lines[:number_of_header_lines]
    for begin in range(number_of_header_lines, len(lines), LINES_PER_PART):
        yield b"\n".join((*header, *lines[begin : begin + LINES_PER_PART]))


def _is_header(line: bytes) -> bool:
    """Return True if no cell is an address. The service decides in the same way."""
    cells = DELIMITER.split(line.decode(errors="replace"))
    return not any(is_like_address(cell.strip(' "')) for cell in cells)
