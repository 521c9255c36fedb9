"""Writes a data export's zip files.

Every file ends with a cursor, where the next file continues.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import IO, Any, TypeAlias

from accounts.export.kinds import Kind
from website_scan.timestamps import timestamp

# Where the next part continues, as JSON: `kind` is the index of the row type, `files` is the number of files already
# written for it, and `place` is the position of the last row.
Cursor: TypeAlias = dict[str, Any]

README = """\
All data that Website Scan Service stores about the organization {organization}.
Made on {moment}.

Every file but this one is JSON, UTF-8. A list that goes on in another file or zip file has a number there:
scans.json, scans-2.json, ... All zip files can be unpacked into the same folder.
What the files hold: {docs}
"""


def write_part(
    file: IO[bytes],
    organization_id: int,
    kinds: tuple[Kind, ...],
    cursor: Cursor,
    is_full: Callable[[], bool],
    readme: str,
) -> Cursor | None:
    """Write a zip file with the rows after `cursor` until `is_full()`.

    Returns the next cursor, or None when done.
    """
    first, files, position = cursor.get("kind", 0), cursor.get("files", 0), cursor.get("place")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        if not cursor:
            archive.writestr("README.txt", readme)
        for number in range(first, len(kinds)):
            kind = kinds[number]
            if kind.has_own_files:
                position, ended = _write_files(archive, kind, organization_id, position, is_full)
            else:
                name = f"{kind.name}-{files + 1}.json" if files else f"{kind.name}.json"
                position, ended = _write_list(archive, name, kind, organization_id, position, is_full)
            if not ended:
                return {"kind": number, "files": files + 1, "place": position}
            files, position = 0, None
            if is_full() and number + 1 < len(kinds):
                return {"kind": number + 1, "files": 0, "place": None}
    return None


def _write_list(
    archive: zipfile.ZipFile, name: str, kind: Kind, organization_id: int, position: Any, is_full: Callable[[], bool]
) -> tuple[Any, bool]:
    separator = b"\n"
    with archive.open(name, "w", force_zip64=True) as member:
        member.write(b"[")
        for batch in _batches(kind, organization_id, position):
            for position, row in batch:  # noqa: B007  the last row's position is returned
                member.write(separator + encoded(kind.serialize(row)))
                separator = b",\n"
            if is_full():
                member.write(b"\n]\n")
                return _position_json(position), False
        member.write(b"\n]\n")
    return None, True


def _write_files(
    archive: zipfile.ZipFile, kind: Kind, organization_id: int, position: Any, is_full: Callable[[], bool]
) -> tuple[Any, bool]:
    for batch in _batches(kind, organization_id, position):
        for position, row in batch:
            exported = kind.serialize(row)
            with archive.open(f"{kind.name}/{row.pk}.json", "w", force_zip64=True) as member:
                for piece in (encoded(exported),) if isinstance(exported, dict) else exported:
                    member.write(piece)
            if is_full():
                return _position_json(position), False
    return None, True


def _batches(kind: Kind, organization_id: int, position: Any) -> Iterator[list[tuple[list[Any], Any]]]:
    while batch := kind.next_batch(organization_id, position):
        yield batch
        position = batch[-1][0]


def encoded(document: object) -> bytes:
    """Return a value as JSON in UTF-8, with timestamps in the API's format."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=_json_value).encode()


def _json_value(value: object) -> object:
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def _position_json(position: list[Any]) -> list[Any]:
    """Return a row's position as JSON values.

    Timestamps keep their microseconds, so that rows compare correctly.
    """
    return [value.isoformat() if isinstance(value, datetime) else value for value in position]
