"""Stored form of a report's document: what follows from the rest is left out, and columns are written once.

A report is kept for a month or longer, and most of its checks pass.
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

# Values that most checks have, and that are not stored.
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
OF_PASS, OF_FINDING = (tuple(each.__annotations__) for each in (ExportedPass, ExportedFinding))
Kinds = dict[str, dict[str, StoredColumn]]


def stored_text(document: ExportJson) -> str:
    """Return the text that stands for a document in the database."""
    kinds: Kinds = {}
    categories = [
        {**category, "checks": [_short(check, kinds) for check in category["checks"]]}
        for category in document["categories"]
    ]
    return written({**document, "categories": categories, "kinds": kinds})


def written(document: Mapping[str, object]) -> str:
    """Return a document as compact JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_export(text: str) -> ExportJson:
    """Return the document of a stored text."""
    document: dict[str, Any] = json.loads(text)
    kinds: Kinds = document.pop("kinds")
    for category in document["categories"]:
        category["checks"] = [_whole(check, kinds) for check in category["checks"]]
    return document  # type: ignore[return-value]  # as `stored_text` wrote it


def _short(check: ExportedCheck, kinds: Kinds) -> dict[str, object]:
    kept = {name: value for name, value in check.items() if name not in COMMON or value != COMMON[name]}
    kept.pop("fix", None)
    if check["status"] == "pass":
        del kept["title"]
    for name in TABLES:
        if name in kept:
            kept[name] = [_short_table(table, kinds) for table in check[name]]  # type: ignore[literal-required]
    return kept


def _short_table(table: StoredTable, kinds: Kinds) -> dict[str, object]:
    known = kinds.setdefault(table["kind"], {})
    for column in table["columns"]:
        known.setdefault(column["name"], column)
    return {**table, "columns": [column["name"] for column in table["columns"]]}


def _whole(check: dict[str, Any], kinds: Kinds) -> ExportedCheck:
    is_pass = check["status"] == "pass"
    full = {**COMMON, "title": check["name"], **check}
    for name in TABLES:
        full[name] = [_whole_table(table, kinds) for table in full[name]]
    if not is_pass:
        how = check["how_to_fix"]
        full["fix"] = wording.fix(
            HowToFix(how["text"], tuple((each["label"], each["code"]) for each in how["snippets"]))
        )
    return {name: full[name] for name in (OF_PASS if is_pass else OF_FINDING) if name in full}  # type: ignore[return-value]


def _whole_table(table: dict[str, Any], kinds: Kinds) -> dict[str, Any]:
    columns = kinds[table["kind"]]
    return {**table, "columns": [columns[name] for name in table["columns"]]}
