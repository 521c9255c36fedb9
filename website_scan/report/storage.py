"""Compact storage of JSON exports as text.

It omits default values, computed texts and repeated columns.

The size matters, because a report is stored for a month or longer.
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

# Default values of a check, which are not stored.
DEFAULTS: Mapping[str, object] = {
    "severity": None,
    "points": 0.0,
    "later": 0.0,
    "holds": False,
    "needs_review": False,
    "consequence": "",
    "values": {},
    "details": [],
    "places": [],
    "includes": [],
    "references": [],
}
TABLES = ("details", "places")
# Keys of a check in the order of the JSON export.
PASS_KEYS, FINDING_KEYS = (tuple(typed.__annotations__) for typed in (ExportedPass, ExportedFinding))
ColumnsByKind = dict[str, dict[str, StoredColumn]]


def stored_text(export: ExportJson) -> str:
    """Convert a JSON export to the text that the database stores."""
    kinds: ColumnsByKind = {}
    categories = [
        {**category, "checks": [_shorten_check(check, kinds) for check in category["checks"]]}
        for category in export["categories"]
    ]
    return compact_json({**export, "categories": categories, "kinds": kinds})


def compact_json(content: Mapping[str, object]) -> str:
    """Convert a dictionary to JSON without spaces."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def read_export(text: str) -> ExportJson:
    """Restore the JSON export from the text that the database stores."""
    export: dict[str, Any] = json.loads(text)
    kinds: ColumnsByKind = export.pop("kinds")
    for category in export["categories"]:
        category["checks"] = [_restore_check(check, kinds) for check in category["checks"]]
    return export  # type: ignore[return-value]  # as `stored_text` wrote it


def _shorten_check(check: ExportedCheck, kinds: ColumnsByKind) -> dict[str, object]:
    short = {name: value for name, value in check.items() if name not in DEFAULTS or value != DEFAULTS[name]}
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


def _restore_check(check: dict[str, Any], kinds: ColumnsByKind) -> ExportedCheck:
    has_passed_check = check["status"] == "pass"
    full = {**DEFAULTS, "title": check["name"], **check}
    for name in TABLES:
        full[name] = [_restore_table(table, kinds) for table in full[name]]
    if not has_passed_check:
        how = check["how_to_fix"]
        full["fix"] = wording.fix(
            HowToFix(how["text"], tuple((snippet["label"], snippet["code"]) for snippet in how["snippets"]))
        )
    keys = PASS_KEYS if has_passed_check else FINDING_KEYS
    return {name: full[name] for name in keys if name in full}  # type: ignore[return-value]


def _restore_table(table: dict[str, Any], kinds: ColumnsByKind) -> dict[str, Any]:
    columns = kinds[table["kind"]]
    return {**table, "columns": [columns[name] for name in table["columns"]]}
