"""Reader for uploads in JSON. Pure functions.

An upload is an object with the list `entries`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from infrastructure.api.errors import InvalidParams
from infrastructure.api.names import Names
from sites.lists.upload_tables import FIELDS, MAX_ROWS, Cells, Line
from website_scan.errors import Refusal
from website_scan.net.targets import InvalidUrl

JSON_VALUES_PER_ROW = 16
MAX_JSON_VALUES = JSON_VALUES_PER_ROW * MAX_ROWS


def json_items(text: str) -> Iterator[Line]:
    """Yield the items of `entries` with their numbers, counted from 1.

    Raises InvalidParams for JSON of another structure.
    """
    # The approximate number of values is limited before parsing, because objects need much more memory than the text.
    if sum(map(text.count, "{[,")) > MAX_JSON_VALUES:
        raise InvalidParams(f"At most {MAX_ROWS:,} sites can be sent at once.")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidParams("The body is not valid JSON.") from None
    items = body.get("entries") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise InvalidParams("The body must be a JSON object with the field entries, a list of objects with a url.")
    Names((), ("entries",), frozenset()).refuse_other_fields(body)
    if len(items) > MAX_ROWS:
        raise InvalidParams(f"entries has {len(items):,} items; at most {MAX_ROWS:,} sites can be sent at once.")
    for number, item in enumerate(items, 1):
        yield number, item, _item_cells(item)


def _item_cells(item: Any) -> Cells | Refusal:
    if not isinstance(item, dict):
        return InvalidParams("Each of entries must be an object with a url.")
    for name in item:
        if name not in FIELDS:
            return InvalidParams(f"Unknown field {name!a:.60}. Allowed: {', '.join(FIELDS)}.")
    url, tags, note = item.get("url"), item.get("tags", []), item.get("note", "")
    if not isinstance(url, str):
        return InvalidUrl("url must be a string that starts with https:// or http://.")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        return InvalidParams("tags must be a list of strings.")
    if not isinstance(note, str):
        return InvalidParams("note must be a string.")
    return url, tags, note
