"""Conversion of stored findings to findings as data: docs/adr/0024-findings-are-data.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import migrations

from infrastructure.postgresql.stored_json import ConvertJson


def convert_fix(fix: dict[str, Any]) -> bool:
    stored = fix.pop("stored")
    fix["snippets"] = []
    return bool(fix["text"] and not stored["text"])


def convert_state(document: dict[str, Any]) -> bool:
    return _convert(_of_state(document))


def restore_state(document: dict[str, Any]) -> bool:
    return _restore(_of_state(document))


def convert_news(news: dict[str, Any]) -> bool:
    return _convert(_of_news(news))


def restore_news(news: dict[str, Any]) -> bool:
    return _restore(_of_news(news))


def convert_findings(findings: list[dict[str, Any]]) -> bool:
    return _convert(iter(findings))


def restore_findings(findings: list[dict[str, Any]]) -> bool:
    return _restore(iter(findings))


def keep(_document: object) -> bool:
    return False


def _of_state(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for category in document["categories"]:
        yield from (check for check in category["checks"] if check["status"] != "pass")


def _of_news(news: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for direction in ("new", "fixed", "worse", "better"):
        yield from news.get(direction, ())


def _convert(findings: Iterator[dict[str, Any]]) -> bool:
    """Add an outcome to the findings that have none; it is unknown which one they had."""
    without = [finding for finding in findings if "outcome" not in finding]
    for finding in without:
        finding["outcome"] = ""
    return bool(without)


def _restore(findings: Iterator[dict[str, Any]]) -> bool:
    return any([finding.pop("outcome", None) is not None for finding in findings])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("sites", "0003_outcomes_of_list_entries")]

    operations = [
        ConvertJson(
            *("sites_auditfinding", "how_to_fix", "jsonb", convert_fix, keep),
            source="jsonb_build_object('text', fix, 'stored', how_to_fix)",
        ),
        ConvertJson("sites_monitorstate", "document", "jsonb", convert_state, restore_state),
        ConvertJson("sites_monitorrun", "news", "jsonb", convert_news, restore_news),
        ConvertJson("sites_listresult", "findings", "jsonb", convert_findings, restore_findings),
    ]
