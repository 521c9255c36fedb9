"""Read reports from JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NoReturn

from msgspec.structs import replace

from website_scan.command.gate import CommandReport
from website_scan.library.errors import InvalidDocument
from website_scan.library.typed_json import InvalidJson, validated
from website_scan.report.storage import DEFAULTS
from website_scan.report_json import ExportJson, StoredTable, checks_of
from website_scan.written_urls import split_url

NOT_A_REPORT = "The document is no report in JSON with all details, as the format full writes it"
# Values of keys that older documents lack.
REPORT_DEFAULTS: Mapping[str, object] = {
    "final_url": None,
    "needs_log_in": False,
    "browser": None,
    "omitted_checks": [],
    "repeated_checks": [],
    "caps": [],
    "held": "",
    "site_evidence_at": None,
}
# The severity of a finding has no default.
CHECK_DEFAULTS: Mapping[str, object] = {"why": "", **{name: DEFAULTS[name] for name in DEFAULTS if name != "severity"}}


def read_reports(text: str | bytes) -> list[CommandReport]:
    """Return the reports of a document: one report, an object with a list of reports, or one report per line.

    Raises InvalidDocument.
    """
    try:
        return [_report(content) for content in _reports_in(text)]
    except RecursionError:
        raise InvalidDocument(f"{NOT_A_REPORT}: it is nested too deeply.") from None
    except (InvalidJson, UnicodeError) as problem:
        raise InvalidDocument(f"{NOT_A_REPORT}: {problem}") from None


def _reports_in(text: str | bytes) -> list[object]:
    text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        contents = [_parse(text)]
    except ValueError:
        try:
            contents = [_parse(line) for line in text.split("\n") if line.strip()]
        except ValueError as error:
            raise InvalidJson(f"{error}.") from None
    if len(contents) == 1 and isinstance(whole := contents[0], dict) and isinstance(whole.get("reports"), list):
        contents = whole["reports"]
    if not contents:
        raise InvalidJson("it has no report.")
    return contents


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _report(content: object) -> CommandReport:
    """Return a report. Raises InvalidJson."""
    if not isinstance(content, dict):
        raise InvalidJson("it is no JSON object.")
    export: ExportJson = validated(ExportJson, _with_defaults(content))
    for moment in ("created_at", "completed_at"):
        _refuse_invalid_time(export[moment])
    _refuse_invalid_url(export["url"])
    if (export["status"] == "failed") != (export["score"] is None) or (export["score"] is None) != ("error" in export):
        raise InvalidJson("status, score and error contradict each other.")
    if (export["score"] is None) != (export["grade"] is None):
        raise InvalidJson("score and grade contradict each other.")
    for table in _tables(export):
        _refuse_irregular_table(table)
    report = CommandReport(export)
    accepted = content.get("accepted")
    if accepted is None:
        return report
    score = content.get("accepted_score")
    return replace(
        report,
        accepted=validated(dict[str, str], accepted, "accepted"),
        accepted_score=validated(int | None, score, "accepted_score"),
    )


def _with_defaults(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report with the keys that newer reports have. Unexpected values are left for the validation."""
    whole = {**REPORT_DEFAULTS, **content}
    categories = whole.get("categories")
    if isinstance(categories, list):
        whole["categories"] = [
            {**category, "checks": [_check_with_defaults(check) for check in category["checks"]]}
            if isinstance(category, dict) and isinstance(category.get("checks"), list)
            else category
            for category in categories
        ]
    return whole


def _check_with_defaults(check: object) -> object:
    if not isinstance(check, dict):
        return check
    defaults = {**CHECK_DEFAULTS, "severity": None} if check.get("status") == "pass" else CHECK_DEFAULTS
    # Without a cap, a fix gains as much later as now.
    return {**defaults, "later": check.get("points", 0.0), "title": check.get("name"), **check}


def _tables(export: ExportJson) -> Iterator[StoredTable]:
    for _, check in checks_of(export):
        yield from check["details"]
        if check["status"] != "pass":
            yield from check["places"]


def _refuse_irregular_table(table: StoredTable) -> None:
    names = [column["name"] for column in table["columns"]]
    fingerprints: object = table.get("fingerprints")
    naming: object = table.get("names", [])
    if (
        any(len(row) != len(names) for row in table["rows"])
        or (isinstance(fingerprints, list) and len(fingerprints) != len(table["rows"]))
        or (isinstance(naming, list) and not set(naming) <= set(names))
    ):
        raise InvalidJson(f"the rows of a table ({table['kind']}) do not fit its columns.")


def _refuse_invalid_time(text: str) -> None:
    try:
        has_zone = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        has_zone = False
    if not has_zone:
        raise InvalidJson("a time is invalid.")


def _refuse_invalid_url(url: str) -> None:
    try:
        parts = split_url(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidJson("url is no address of a page.")
