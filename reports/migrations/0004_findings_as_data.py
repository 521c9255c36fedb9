"""Conversion of stored reports to findings as data: docs/adr/0024-findings-are-data.md."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from infrastructure.postgresql.stored_json import ConvertJson

# The end of the notice of a report on a page whose content nobody saw.
NOT_JUDGED = "What depends on its content was not judged."
BY_HAND = "Check by hand"
ADDED = ("values", "details", "outcome", "summary", "places", "includes", "needs_review", "how_to_fix")
# Values that are no longer stored where a check has them.
COMMON = {"severity": None, "points": 0.0, "later": 0.0, "holds": False, "references": []}


def convert_export(document: dict[str, Any]) -> bool:
    """Convert the JSON export of a report; return False if it is converted already."""
    checks = [check for category in document["categories"] for check in category["checks"]]
    if "kinds" in document:
        return False
    columns: dict[str, dict[str, str]] = {}
    document["kinds"] = {"evidence": columns}
    for check in checks:
        check["details"] = _tables(check.pop("evidence"), columns)
        if check["status"] != "pass":
            message, why = check["message"], check["why"]
            check["outcome"] = ""
            check["summary"] = message.removesuffix(why).rstrip() if why else message
            check["places"] = []
            check["values"] = {}
            check["includes"] = []
            check["needs_review"] = check["title"].startswith(BY_HAND)
            check["how_to_fix"] = {"text": check.pop("fix", ""), "snippets": []}
    for skipped in document["skipped_checks"]:
        skipped.setdefault("code", "")
    return True


def restore_export(document: dict[str, Any]) -> bool:
    """Convert the JSON export of a report back, also one that was stored as data."""
    checks = [check for category in document["categories"] for check in category["checks"]]
    if "kinds" not in document:
        return False
    del document["kinds"]
    for check in checks:
        check.update({**COMMON, "title": check["name"], **check})
        tables = [*check.get("details", ()), *check.get("places", ())]
        check["evidence"] = [row for table in tables for row in _items(table)]
        if fix := check.get("how_to_fix", {}).get("text"):
            check["fix"] = fix
        for name in ADDED:
            check.pop(name, None)
    for skipped in document["skipped_checks"]:
        skipped.pop("code", None)
    return True


def convert_facts(facts: dict[str, Any]) -> bool:
    if "unseen" in facts or NOT_JUDGED not in facts.get("notice", ""):
        return False
    facts["unseen"] = "not-judged"
    return True


def restore_facts(facts: dict[str, Any]) -> bool:
    return facts.pop("unseen", None) is not None


def _tables(items: list[dict[str, Any]], columns: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    """Return items of evidence as tables: those with the same keys share one, and elements, which stay in order.

    Adds the columns to `columns`.

    Pictures of elements are stored by their number among all items.
    """
    for name in (name for item in items for name in item):
        columns.setdefault(name, {"name": name, "label": name.replace("_", " ").capitalize(), "format": "text"})
    if any("selector" in item for item in items):
        return [_table(items)]
    groups: dict[frozenset[str], list[dict[str, Any]]] = {}
    for item in items:
        groups.setdefault(frozenset(item), []).append(item)
    return [_table(group) for group in groups.values()]


def _table(items: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for item in items for name in item))
    return {
        "kind": "evidence",
        "columns": names,
        "rows": [[item.get(name) for name in names] for item in items],
        "total": len(items),
    }


def _items(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in zip(table["columns"], row, strict=True) if value is not None}
        for row in table["rows"]
    ]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reports", "0003_mute_of_outcome_once")]

    operations = [
        ConvertJson("reports_report", "export", "text", convert_export, restore_export),
        ConvertJson("reports_report", "facts", "jsonb", convert_facts, restore_facts),
    ]
