"""Import of a list's entries: parser of uploads, their difference to the list, and its writing in bulk.

An import is all or nothing. Its cost is bounded whatever is sent: by bytes, lines, characters of a line and tags.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import MD5
from django.utils import timezone

from accounts import activity
from accounts.authentication import Caller
from infrastructure.api.errors import InvalidParams
from scanner.errors import Refusal
from scanner.net.errors import Blocked
from scanner.net.policy import Policy
from scanner.net.targets import InvalidUrl, parse_target
from sites.lists.services import (
    forget_credentials,
    locked_list,
    origin_of,
    refuse_too_many_entries,
    remove_entries,
    save_number,
    tags_of,
)
from sites.lists.tags import SEPARATOR, refuse_too_many_tags, tidy_note, tidy_tags
from sites.models import ListEntry, SiteList
from sites.models.site_list import new_entry_id

MAX_ROWS = 100_000
MAX_LINE = 8_192  # characters
MAX_TOLD = 100  # bad lines
NO_ADDRESS = "There is no address. To empty a list, send JSON with no entries."
SAMPLES = 10  # of each kind of difference
WRITTEN_AT_ONCE = 10_000
FIELDS = ("url", "tags", "note")
# Names of columns in the first line of a table, ignoring case.
COLUMN_NAMES = {
    "url": frozenset(
        {"url", "address", "web address", "website", "site", "homepage", "link", "domain", "host", "hostname"}
    ),
    "tags": frozenset({"tags", "tag", "labels", "label"}),
    "note": frozenset({"note", "notes", "comment", "comments"}),
}
DELIMITERS = "\t,;"
LINES_FOR_DELIMITER = 100
LINE_END = re.compile(r"\r\n|\r|\n")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
FIRST_DELIMITER = re.compile(rf'(?:"[^"]*"|[^"{DELIMITERS}])*+([{DELIMITERS}])')
# First bytes of files that are no text in UTF-8, with what they are.
OTHER_FILES = {
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
    b"\x00\x00\xfe\xff": "text in UTF-32",
    b"PK\x03\x04": "a workbook or an archive",
    b"\xd0\xcf\x11\xe0": "a workbook",
    b"\x1f\x8b": "compressed",
    b"%PDF": "a PDF file",
}
UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)

INSERT = """
    INSERT INTO sites_listentry (
        id, site_list_id, url, host, tags, note, created_at, state, error_code, error_message, moved_to, failing,
        history, security_grade, performance_grade, accessibility_grade, seo_grade
    )
    SELECT id, %s, url, host, string_to_array(tags, %s), note, %s, %s, '', '', '', '{}', '{}', '', '', '', ''
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[]) AS row (id, url, host, tags, note)
"""
UPDATE = """
    UPDATE sites_listentry AS entry SET tags = string_to_array(row.tags, %s), note = row.note
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS row (id, tags, note)
    WHERE entry.id = row.id AND entry.site_list_id = %s
"""


class InvalidEntries(Refusal):
    """Refusal of an upload with sites that can't be entries.

    `entries` has the line, from 1, the code and the reason of the first of them; `count` is the number of all.
    """

    code = "INVALID_ENTRIES"
    status = 400


@dataclass(frozen=True, slots=True)
class Row:
    """Site of an upload. `url` is canonical; `host` has its port if that is not the default; `line` counts from 1."""

    line: int
    url: str
    host: str
    tags: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Numbers of entries that an import adds, removes, changes and leaves, with samples of addresses by kind."""

    added: int
    removed: int
    changed: int
    unchanged: int
    samples: dict[str, list[str]]

    @property
    def numbers(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("added", "removed", "changed", "unchanged")}


@dataclass(slots=True)
class _Faults:
    """Bad lines: the first `MAX_TOLD` of them, and the number of all."""

    told: list[dict[str, object]] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, refusal: Refusal) -> None:
        self.count += 1
        if len(self.told) < MAX_TOLD:
            self.told.append({"line": line, "code": refusal.code, "error": str(refusal)})

    def refuse(self) -> None:
        """Raise InvalidEntries if there are any."""
        if not self.count:
            return
        first = self.told[0]
        number = f"{self.count:,} lines are" if self.count > 1 else "One line is"
        refusal = InvalidEntries(f"{number} not valid, so nothing was changed. Line {first['line']}: {first['error']}")
        refusal.details = {"entries": self.told, "count": self.count}
        raise refusal


def _refuse_line(line: int, message: str) -> None:
    faults = _Faults()
    faults.add(line, InvalidParams(message))
    faults.refuse()


# Cells of a line: address, tags and note; or why it cannot be read.
Cells = tuple[str, Sequence[str], str]
Line = tuple[int, Cells | Refusal]


def read_rows(data: bytes, media_type: str, policy: Policy) -> list[Row]:
    """Parse an upload: JSON, CSV with or without names of columns, or plain text with an address on each line.

    An address without a scheme gets https://. Rows with the same canonical address are one, with the tags of all and
    the first note. Raises InvalidEntries, or InvalidParams for JSON of another form.
    """
    text = _decoded(data, media_type)
    kind = media_type.partition(";")[0].strip().lower()
    rows: dict[str, Row] = {}
    faults = _Faults()
    for line, cells in _READERS[kind](text):
        try:
            if isinstance(cells, Refusal):
                raise cells
            _add(rows, _row(line, cells, policy))
        except (InvalidUrl, Blocked, InvalidParams) as refusal:
            faults.add(line, refusal)
    faults.refuse()
    if not rows and kind != "application/json":
        _refuse_line(1, NO_ADDRESS)
    return list(rows.values())


def _row(line: int, cells: Cells, policy: Policy) -> Row:
    address, tags, note = cells
    address = address.strip()
    if not address:
        raise InvalidUrl("The address is missing.")
    target = parse_target(address if SCHEME.match(address) else f"https://{address}", policy)
    return Row(line, target.url, target.origin.partition("://")[2][:300], _tags(tuple(tags)), tidy_note(note))


# Most sites have one of a few combinations.
_tags: Callable[[tuple[str, ...]], tuple[str, ...]] = functools.lru_cache(1_000)(tidy_tags)


def _add(rows: dict[str, Row], row: Row) -> None:
    known = rows.get(row.url)
    if known is not None:
        row = replace(known, tags=tidy_tags((*known.tags, *row.tags)), note=known.note or row.note)
    rows[row.url] = row


def _decoded(data: bytes, media_type: str) -> str:
    """Return the text of an upload. Raises InvalidEntries if it is no text in UTF-8."""
    for beginning, meaning in OTHER_FILES.items():
        if data.startswith(beginning):
            _refuse_line(1, f"The file is {meaning}. Save it as CSV in UTF-8.")
    charset = CHARSET.search(media_type)
    if charset and charset[1].lower() not in UTF_8:
        raise InvalidParams(f"The charset is {charset[1]!a:.40}; send the text in UTF-8.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(LINE_END.findall(data[: error.start].decode("utf-8-sig", "replace"))) + 1
        _refuse_line(line, "The line has a character that is not in UTF-8. Save the file as CSV in UTF-8.")
        raise


def _lines(text: str) -> list[str]:
    text = text.rstrip()
    number = text.count("\n") + text.count("\r") - text.count("\r\n") + 1
    # One more for the names of the columns.
    if number > MAX_ROWS + 1:
        _refuse_line(MAX_ROWS + 2, f"There are {number:,} lines; at most {MAX_ROWS:,} sites can be sent at once.")
    if not text:
        _refuse_line(1, NO_ADDRESS)
    return LINE_END.split(text)


def _text_lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(_lines(text), 1):
        if len(line) > MAX_LINE:
            yield number, _too_long(line)
        elif line.strip():
            yield number, (line, (), "")


def _too_long(line: str) -> Refusal:
    return InvalidParams(f"The line has {len(line):,} characters, which is more than {MAX_LINE:,}.")


def _table_lines(text: str) -> Iterator[Line]:
    lines = _lines(text)
    first = next(index for index, line in enumerate(lines) if line.strip())
    named = _named_columns(lines[first])
    unnamed = _delimiter(lines[first : first + LINES_FOR_DELIMITER]), {each: FIELDS.index(each) for each in FIELDS}
    delimiter, columns = named or unnamed
    width = None if named else len(FIELDS)
    for number, line in enumerate(lines, 1):
        if (named and number == first + 1) or not line.strip():
            continue
        cells = _cells(line, delimiter)
        if isinstance(cells, Refusal):
            yield number, cells
        elif not any(cells):
            continue
        elif width and any(cells[width:]):
            yield number, InvalidParams(f"The line has {len(cells)} columns; there are {', '.join(FIELDS)}.")
        else:
            found = {name: cells[index] if index < len(cells) else "" for name, index in columns.items()}
            tags = found.get("tags", "")
            yield number, (found["url"], tags.split(SEPARATOR) if tags else (), found.get("note", ""))


def _named_columns(line: str) -> tuple[str, dict[str, int]] | None:
    """Return delimiter and positions of the columns that a first line names, None if it names no column of URLs."""
    for delimiter in DELIMITERS:
        cells = _cells(line, delimiter)
        if isinstance(cells, Refusal):
            continue
        names = [each.strip().casefold() for each in cells]
        columns = {
            name: next(index for index, each in enumerate(names) if each in known)
            for name, known in COLUMN_NAMES.items()
            if not known.isdisjoint(names)
        }
        if "url" in columns:
            return delimiter, columns
    return None


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that follows the first cell of most lines."""
    found = [match[1] for line in lines if (match := FIRST_DELIMITER.match(line[:MAX_LINE]))]
    return max(DELIMITERS, key=found.count)


def _cells(line: str, delimiter: str) -> list[str] | Refusal:
    """Return the cells of a line, without blanks around them; a cell never goes on in the next line."""
    if len(line) > MAX_LINE:
        return _too_long(line)
    if '"' not in line:
        return [each.strip() for each in line.split(delimiter)]
    try:
        return [each.strip() for each in next(csv.reader([line], delimiter=delimiter, strict=True))]
    except csv.Error:
        return InvalidParams("The quotation marks of the line are not in pairs, or text follows one.")


def _json_items(text: str) -> Iterator[Line]:
    """Yield the items of `entries`, counted like lines. Raises InvalidParams if it is no such object."""
    # Before the parser makes objects of them: an item is one, with a list of tags.
    if text.count("{") + text.count("[") > 4 * MAX_ROWS:
        raise InvalidParams(f"At most {MAX_ROWS:,} sites can be sent at once.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParams("The body is not valid JSON.") from None
    items = body.get("entries") if isinstance(body, dict) and body.keys() == {"entries"} else None
    if not isinstance(items, list):
        raise InvalidParams("The body must be a JSON object with the field entries, a list of objects with a url.")
    if len(items) > MAX_ROWS:
        raise InvalidParams(f"entries has {len(items):,} items; at most {MAX_ROWS:,} sites can be sent at once.")
    for number, item in enumerate(items, 1):
        yield number, _item_cells(item)


def _item_cells(item: Any) -> Cells | Refusal:
    if not isinstance(item, dict):
        return InvalidParams("Each of entries must be an object with a url.")
    for name in item:
        if name not in FIELDS:
            return InvalidParams(f"{name!a:.60} is no field of an entry; there are {', '.join(FIELDS)}.")
    url, tags, note = item.get("url"), item.get("tags", []), item.get("note", "")
    if not isinstance(url, str):
        return InvalidUrl("url must be a string that starts with https:// or http://.")
    if not isinstance(tags, list) or not all(isinstance(each, str) for each in tags):
        return InvalidParams("tags must be a list of strings.")
    if not isinstance(note, str):
        return InvalidParams("note must be a string.")
    return url, tags, note


_READERS: dict[str, Callable[[str], Iterator[Line]]] = {
    "application/json": _json_items,
    "text/csv": _table_lines,
    "text/plain": _text_lines,
}
MEDIA_TYPES = tuple(_READERS)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an import does: rows to add, entries to remove and to change by their IDs."""

    added: list[Row]
    removed: dict[str, str]
    changed: dict[str, Row]
    unchanged: int

    @property
    def difference(self) -> Difference:
        samples = {
            "added": [each.url for each in self.added[:SAMPLES]],
            "removed": list(self.removed.values())[:SAMPLES],
            "changed": [each.url for each in list(self.changed.values())[:SAMPLES]],
        }
        return Difference(len(self.added), len(self.removed), len(self.changed), self.unchanged, samples)


def difference(site_list: SiteList, rows: Sequence[Row]) -> Difference:
    """Return what `replace_entries` would do with the list, without doing it."""
    return _replacement(site_list, rows).difference


def _replacement(site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    entries = site_list.entries.values_list("url", "id", "tags", "note")
    known = {url: (id, tags, note) for url, id, tags, note in entries}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    unchanged = 0
    for row in rows:
        id, tags, note = known.pop(row.url, ("", [], ""))
        if not id:
            added.append(row)
        elif set(tags) == set(row.tags) and note == row.note:
            unchanged += 1
        else:
            changed[id] = row
    return _Plan(added, {id: url for url, (id, _, _) in known.items()}, changed, unchanged)


def _addition(site_list: SiteList, rows: Sequence[Row]) -> _Plan:
    """Return a plan that removes nothing: known entries get more tags, and the note if the row has one."""
    digests = [hashlib.md5(row.url.encode(), usedforsecurity=False).hexdigest() for row in rows]
    entries = site_list.entries.annotate(digest=MD5("url")).filter(digest__in=digests)
    known = {url: (id, tags, note) for url, id, tags, note in entries.values_list("url", "id", "tags", "note")}
    added: list[Row] = []
    changed: dict[str, Row] = {}
    for row in rows:
        if row.url not in known:
            added.append(row)
            continue
        id, tags, note = known[row.url]
        try:
            merged = replace(row, tags=tidy_tags((*tags, *row.tags)), note=row.note or note)
        except InvalidParams as refusal:
            _refuse_line(row.line, str(refusal))
            raise
        if len(merged.tags) > len(tags) or merged.note != note:
            changed[id] = merged
    return _Plan(added, {}, changed, len(rows) - len(added) - len(changed))


def replace_entries(*, caller: Caller, list_id: str, rows: Sequence[Row]) -> dict[str, int]:
    """Replace all entries; return the numbers of those `added`, `removed`, `changed` and `unchanged`.

    An entry whose address stays keeps its ID and its results. Raises ListNotFound, ListLimit or InvalidEntries.
    """
    return _import(caller, list_id, rows, _replacement)


def add_entries(*, caller: Caller, list_id: str, rows: Sequence[Row]) -> dict[str, int]:
    """Add entries; those that are there already get more tags, and the note if there is one. As `replace_entries`."""
    return _import(caller, list_id, rows, _addition)


def _import(
    caller: Caller, list_id: str, rows: Sequence[Row], planned: Callable[[SiteList, Sequence[Row]], _Plan]
) -> dict[str, int]:
    with transaction.atomic():
        site_list = locked_list(caller.organization_id, list_id)
        plan = planned(site_list, rows)
        refuse_too_many_entries(site_list, len(plan.added) - len(plan.removed))
        _bind_to_one_origin(site_list, rows, stays=site_list.entries_count > len(plan.removed))
        remove_entries(site_list, list(plan.removed))
        for changed in _batches(sorted(plan.changed.items())):
            _write_changes(site_list, changed)
        for added in _batches(plan.added):
            _write(site_list, added)
        if plan.added or plan.changed:
            refuse_too_many_tags(tags_of(site_list))
        save_number(site_list, site_list.entries_count + len(plan.added) - len(plan.removed))
        numbers = plan.difference.numbers
        if plan.added or plan.removed or plan.changed:
            details = {name: number for name, number in numbers.items() if name != "unchanged"}
            activity.record_call(caller, "list.imported", site_list.name, list=site_list.id, **details)
    return numbers


def _bind_to_one_origin(site_list: SiteList, rows: Sequence[Row], *, stays: bool) -> None:
    """Keep the sites of a list with credentials on one origin: they are never sent to another.

    Raises InvalidEntries. If no earlier entry `stays`, a new origin drops the credentials.
    """
    if site_list.credential_names is None or not rows:
        return
    before = site_list.entries.values_list("url", flat=True).first()
    origin = origin_of(before) if before is not None and stays else origin_of(rows[0].url)
    faults = _Faults()
    for row in rows:
        if origin_of(row.url) != origin:
            faults.add(row.line, InvalidUrl(f"The list has credentials, so all its sites must begin with {origin}/."))
    faults.refuse()
    if before is not None and origin_of(before) != origin:
        forget_credentials(site_list)


def _write(site_list: SiteList, rows: Sequence[Row]) -> None:
    columns = (
        [new_entry_id() for _ in rows],
        [row.url for row in rows],
        [row.host for row in rows],
        [SEPARATOR.join(row.tags) for row in rows],
        [row.note for row in rows],
    )
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [site_list.id, SEPARATOR, timezone.now(), ListEntry.State.NEW, *columns])


def _write_changes(site_list: SiteList, changed: Sequence[tuple[str, Row]]) -> None:
    ids = [id for id, _ in changed]
    # In one order, like every change of several entries: so two never wait for each other.
    list(site_list.entries.select_for_update(no_key=True).filter(id__in=ids).order_by("id").values_list("id"))
    tags, notes = [SEPARATOR.join(row.tags) for _, row in changed], [row.note for _, row in changed]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE, [SEPARATOR, ids, tags, notes, site_list.id])


def _batches(items: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (items[begin : begin + WRITTEN_AT_ONCE] for begin in range(0, len(items), WRITTEN_AT_ONCE))
