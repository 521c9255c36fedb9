"""Stored text of a JSON export: common values and texts that can be computed are left out, and columns occur once.

Compact texts matter, because a report is stored for a month or longer. Most of its checks pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from website_scan import wording
from website_scan.report_json import (
    ExportedCheck,
    ExportedFinding,
    ExportedPass,
    ExportJson,
    StoredColumn,
    StoredTable,
)
from website_scan.result import HowToFix

# Values that most checks have; they are not stored.
COMMON: Mapping[str, object] = {
    "severity": None,
    "points": 0.0,
    "later": 0.0,
    "holds": False,
    "needs_review": False,
    "values": {},
    "details": [],
    "places": [],
    "includes": [],
    "references": [],
}
TABLES = ("details", "places")
# Keys in the order of the JSON.
KEYS_OF_PASS, KEYS_OF_FINDING = (tuple(typed.__annotations__) for typed in (ExportedPass, ExportedFinding))
ColumnsByKind = dict[str, dict[str, StoredColumn]]


def stored_text(export: ExportJson) -> str:
    """Return the text with which the database stores a JSON export."""
    kinds: ColumnsByKind = {}
    categories = [
        {**category, "checks": [_shorten(check, kinds) for check in category["checks"]]}
        for category in export["categories"]
    ]
    return written({**export, "categories": categories, "kinds": kinds})


def written(content: Mapping[str, object]) -> str:
    """Return a dictionary as compact JSON."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def read_export(text: str) -> ExportJson:
    """Return the JSON export of a stored text."""
    export: dict[str, Any] = json.loads(text)
    kinds: ColumnsByKind = export.pop("kinds")
    for category in export["categories"]:
        category["checks"] = [_complete(check, kinds) for check in category["checks"]]
    return export  # type: ignore[return-value]  # as `stored_text` wrote it


def _shorten(check: ExportedCheck, kinds: ColumnsByKind) -> dict[str, object]:
    short = {name: value for name, value in check.items() if name not in COMMON or value != COMMON[name]}
    short.pop("fix", None)
    if check["status"] == "pass":
        del short["title"]
    for name in TABLES:
        if name in short:
            short[name] = [_shorten_table(table, kinds) for table in check[name]]  # type: ignore[literal-required]
    return short


def _shorten_table(table: StoredTable, kinds: ColumnsByKind) -> dict[str, object]:
    columns = kinds.setdefault(table["kind"], {})
    for column in table["columns"]:
        columns.setdefault(column["name"], column)
    return {**table, "columns": [column["name"] for column in table["columns"]]}


def _complete(check: dict[str, Any], kinds: ColumnsByKind) -> ExportedCheck:
    is_pass = check["status"] == "pass"
    full = {**COMMON, "title": check["name"], **check}
    for name in TABLES:
        full[name] = [_complete_table(table, kinds) for table in full[name]]
    if not is_pass:
        how = check["how_to_fix"]
        full["fix"] = wording.fix(
            HowToFix(how["text"], tuple((snippet["label"], snippet["code"]) for snippet in how["snippets"]))
        )
    keys = KEYS_OF_PASS if is_pass else KEYS_OF_FINDING
    return {name: full[name] for name in keys if name in full}  # type: ignore[return-value]


def _complete_table(table: dict[str, Any], kinds: ColumnsByKind) -> dict[str, Any]:
    columns = kinds[table["kind"]]
    return {**table, "columns": [columns[name] for name in table["columns"]]}
