"""Exports of a report: SARIF 2.1.0 for code scanning, CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scanner.document import ExportDocument, ExportedCheck, ExportedFinding, read_export
from scanner.fingerprints import fingerprint, fingerprints, page_path
from scanner.net.policy import PROJECT
from scanner.report.judge import judged_without_browser
from scanner.report.markup import escaped, prose
from scanner.report.mute_matching import Covered
from scanner.report.places import places_of
from scanner.report.references import ReferenceLink, page_url, reference
from scanner.report.spreadsheets import cell

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# SARIF has three levels for findings. Code scanning sorts by `security-severity`, a CVSS-like number.
SARIF_LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "3.0"}

# The tool's home page.
INFORMATION_URI = PROJECT

CSV_COLUMNS = ("category", "id", "name", "status", "severity", "points", "message", "fix", "references")


# Returns the muted findings of a JSON export, by check ID.
Muted = Callable[[ExportDocument], Mapping[str, Covered]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """Format of an export, named by the ending of its files.

    `render` gets the stored JSON export, its muted findings, and the base URL of the checks' pages. `purpose` is for
    menus; `name` and `about` describe the endpoint in openapi.yaml. `has_mutes` is True if muted findings are in it,
    so that it changes although the report does not.
    """

    name: str
    media_type: str
    purpose: str
    about: str
    render: Callable[[str, Muted, str], str]
    has_mutes: bool = False


def sarif(
    document: ExportDocument, muted: Mapping[str, Covered] | None = None, check_pages: str = ""
) -> dict[str, Any]:
    """Return the SARIF 2.1.0 log of one report. `document` is the JSON export, `muted` its muted findings."""
    whole = {id: covered for id, covered in (muted or {}).items() if covered.is_whole}
    reasons = {id: [rule.reason for rule in covered.rules.values()] for id, covered in whole.items()}
    return sarif_log([sarif_run(document, reasons, check_pages)])


def sarif_log(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": list(runs)}


def sarif_run(document: ExportDocument, accepted: Mapping[str, Iterable[str]], check_pages: str = "") -> dict[str, Any]:
    """Return a SARIF run: one rule per check that ran, one result per failed or warned check.

    `accepted` has the reasons why findings are suppressed, by check ID; a reason may be empty. `check_pages` is the
    absolute base URL of the checks' pages; without it, a rule links to the first of its references.
    """
    checks = list(_checks(document))
    return {
        "tool": {
            "driver": {
                "name": "Website Scan Service",
                "version": document["catalogue_version"],
                "informationUri": INFORMATION_URI,
                "rules": [_rule(document["type"], check, check_pages) for _, check in checks],
            }
        },
        # Code scanning treats several runs of one tool as one analysis, unless each has an ID.
        "automationDetails": {"id": f"website-scan/{document['type']}/{document['url']}/"},
        "invocations": [_invocation(document)],
        "results": [
            _result(document, index, category, check) | _suppressed(accepted, check)
            for index, (category, check) in enumerate(checks)
            if check["status"] != "pass"
        ],
        "properties": {
            "scan_id": document["id"],
            "report_id": document["report_id"],
            "url": document["url"],
            "score": document["score"],
            "grade": document["grade"],
            "browser": document.get("browser"),
            "checks_left_out": len(document.get("omitted_checks", ())),
            "site_evidence_at": document.get("site_evidence_at"),
        },
    }


def csv_table(document: ExportDocument) -> str:
    """Return a CSV table with a header line and one line per check. Cells are safe from formula injection.

    Checks that could not run, and those left out without a browser, come last.
    """
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows([cell(row.get(column)) for column in CSV_COLUMNS] for row in csv_rows(document))
    return output.getvalue()


def csv_rows(document: ExportDocument) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a report by the names of CSV_COLUMNS, not yet safe for spreadsheets (`cell`)."""
    for category, check in _checks(document):
        yield {**check, "category": category, "references": "; ".join(check["references"])}
    for skipped in document["skipped_checks"]:
        yield {**skipped, "status": "could not run", "message": skipped["reason"]}
    for omitted in document.get("omitted_checks", ()):
        yield {**omitted, "status": "left out", "message": "This check needs a browser, and none was available."}


def _checks(document: ExportDocument) -> Iterator[tuple[str, ExportedCheck]]:
    for category in document["categories"]:
        for check in category["checks"]:
            yield category["name"], check


def _invocation(document: ExportDocument) -> dict[str, Any]:
    invocation = {
        "executionSuccessful": "error" not in document,
        "startTimeUtc": document["created_at"],
        "endTimeUtc": document["completed_at"],
    }
    notifications = [
        {"level": "warning", "message": {"text": sarif_text(f"{skipped['name']} could not run: {skipped['reason']}")}}
        for skipped in document["skipped_checks"]
    ]
    if sentence := judged_without_browser(document):
        names = ", ".join(each["name"] for each in document["omitted_checks"])
        notifications.append({"level": "note", "message": {"text": f"{sentence} Left out: {names}."}})
    if "error" in document:
        error = document["error"]
        notifications.append(
            {"level": "error", "message": {"text": sarif_text(f"{error['code']}: {error['message']}")}}
        )
    return invocation | ({"toolExecutionNotifications": notifications} if notifications else {})


def sarif_text(message: str) -> str:
    """Escape brackets, which would make links to addresses that a site chooses (SARIF 2.1.0, section 3.11.6)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", message)


def _rule(scan_type: str, check: ExportedCheck, check_pages: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"tags": [scan_type], "references": list(check["references"])}
    # With this property, code scanning shows every result of the rule as a security alert.
    if check["severity"] and scan_type == "security":
        properties["security-severity"] = SECURITY_SEVERITY[check["severity"]]
    sources = [reference(each) for each in check["references"]]
    return {
        "id": check["id"],
        "name": check["name"],
        "shortDescription": {"text": check["name"]},
        "fullDescription": {"text": f"{check['title']}."},
        "properties": properties,
        "help": rule_help(check["fix"] if "fix" in check else f"{check['name']}.", sources),
        "helpUri": page_url(check_pages, check["id"])
        or next((each.url for each in sources if each.url), INFORMATION_URI),
    }


def rule_help(fix: str, sources: Iterable[ReferenceLink] = ()) -> dict[str, str]:
    """Return the help that code scanning shows beside a finding: the fix, and links to the references."""
    links = [f"[{escaped(each.text)}](<{each.url}>)" if each.url else escaped(each.text) for each in sources]
    read_on = f"\n\nSources: {'; '.join(links)}" if links else ""
    return {"text": fix, "markdown": f"{prose(fix)}{read_on}"}


def _result(document: ExportDocument, rule_index: int, category: str, check: ExportedFinding) -> dict[str, Any]:
    return {
        "ruleId": check["id"],
        "ruleIndex": rule_index,
        "level": SARIF_LEVELS[check["severity"]],
        "kind": "fail",  # other kinds must not have a level (section 3.27.9); `status` marks a warning
        "message": {"text": sarif_text(check["message"])},
        **_locations(check, document["url"]),
        "partialFingerprints": {
            # The fingerprint that code scanning uses. It omits the host, so that a preview matches the site's alerts.
            "primaryLocationLineHash": f"{fingerprint(check['id'], page_path(document['url']))}:1",
            "checkOfPage/v1": f"{check['id']} {document['url']}",
            "places/v1": " ".join(places_of(check, document["url"])),
        },
        "properties": {"status": check["status"], "severity": check["severity"], "category": category},
    }


def _locations(check: ExportedFinding, url: str) -> dict[str, Any]:
    """Return the finding's first place, or the page, as `locations`, and its other places as `relatedLocations`."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for item in check["evidence"]:
        for named in fingerprints(check["id"], [item], url).items():
            found.setdefault(named, _place(url, named[1], item))
    first, *others = found.values() or [location(url)]
    related = [other | {"id": number} for number, other in enumerate(others, 1)]
    return {"locations": [first]} | ({"relatedLocations": related} if related else {})


def _place(url: str, place: str, item: Mapping[str, object]) -> dict[str, Any]:
    found = location(url, str(item.get("snippet") or item.get("markup") or ""))
    if place:
        found["message"] = {"text": sarif_text(place)}
    if item.get("selector"):
        found["logicalLocations"] = [{"fullyQualifiedName": str(item["selector"]), "kind": "element"}]
    return found


def location(url: str, source: str = "") -> dict[str, Any]:
    """Return a page as a location. Its region is line 1, because code scanning shows no result without a region."""
    region = {"startLine": 1} | ({"snippet": {"text": source}} if source else {})
    return {"physicalLocation": {"artifactLocation": {"uri": url}, "region": region}}


def _suppressed(accepted: Mapping[str, Iterable[str]], check: ExportedFinding) -> dict[str, Any]:
    """Return `suppressions` of a result. Either all results of a run have the property, or none (section 3.27.23)."""
    return {"suppressions": suppressions(dict.fromkeys(accepted.get(check["id"], ())))} if accepted else {}


def suppressions(reasons: Iterable[str]) -> list[dict[str, str]]:
    """Return SARIF's suppressions (section 3.35) for mutes with these reasons. For strangers, reasons are empty."""
    return [
        {"kind": "external", "status": "accepted"} | ({"justification": reason} if reason else {}) for reason in reasons
    ]


FORMATS: Mapping[str, ExportFormat] = {
    "json": ExportFormat(
        "JSON",
        "application/json",
        "everything, for programs",
        "The stored export.",
        lambda export, muted, check_pages: export,
    ),
    "sarif": ExportFormat(
        "SARIF 2.1.0",
        "application/sarif+json",
        "for code scanning",
        "Muted results have `suppressions` with the reason as justification.",
        lambda export, muted, check_pages: json.dumps(
            sarif(document := read_export(export), muted(document), check_pages)
        ),
        has_mutes=True,
    ),
    "csv": ExportFormat(
        "CSV",
        "text/csv; charset=utf-8",
        "for spreadsheets",
        "A line for each check that ran.",
        lambda export, muted, check_pages: csv_table(read_export(export)),
    ),
}
