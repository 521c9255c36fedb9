"""SARIF 2.1.0 logs of scans and audits.

GitHub's code scanning accepts them.

Source of the limits and required properties: GitHub's "SARIF support for code scanning". Code scanning expects files of
a repository, so the location of a page is its address as a relative path; the message links to the address itself.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from website_scan import __version__
from website_scan.findings import ScanType
from website_scan.fingerprints import fingerprint, page_path
from website_scan.priority import priority_of
from website_scan.report.browserless import notice_without_browser
from website_scan.report.levels import LEVELS, Level, finding_level
from website_scan.report.markup import escaped, prose
from website_scan.report.places import StoredPlace, stored_places
from website_scan.report.references import ReferenceLink, page_url, reference
from website_scan.report.sarif_messages import location, message, notification, relative_path
from website_scan.report_json import ExportedCheck, ExportedFinding, ExportedPlugIn, ExportJson, checks_of
from website_scan.wording import message_without_places

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
NAME = "Website Scan Service"
# A tenth of GitHub's limit of bytes is reserved for the other parts of the log.
MAX_RESULTS_PER_RUN = 25_000
MAX_LOG_BYTES = 10_000_000 * 9 // 10
MAX_NAME_CHARACTERS = 255
MAX_DESCRIPTION_CHARACTERS = 1024

# Reasons for suppressed results, by check ID and the place's fingerprint.
Reasons = Mapping[str, Mapping[str, Sequence[str]]]


class Rule(Struct, frozen=True):
    """SARIF rule of a check, with the level of its worst result."""

    id: str
    scan_type: str
    name: str
    title: str
    fix: str
    references: Sequence[str]
    level: Level | None


class ResultLimit:
    """Limit for the results of a run in a SARIF log."""

    def __init__(self, runs: int) -> None:
        self.taken = 0
        self._bytes = MAX_LOG_BYTES // runs
        self._compressor = zlib.compressobj()

    def accept(self, results: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield results until the run's limit is reached."""
        for result in results:
            self._bytes -= len(self._compressor.compress(json.dumps(result, indent=2).encode()))
            if self.taken == MAX_RESULTS_PER_RUN or self._bytes < 0:
                return
            self.taken += 1
            yield result

    def batches(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[list[Mapping[str, Any]]]:
        """Yield batches of results until the limit is reached.

        The last batch may be cut.
        """
        for batch in batches:
            accepted = list(self.accept(batch))
            yield accepted
            if len(accepted) < len(batch):
                return

    def notifications(self, total: int) -> list[dict[str, Any]]:
        """Return a notification if the log is incomplete.

        If it contains all of the `total` results, the list is empty.
        """
        if total == self.taken:
            return []
        text = f"Only the first {self.taken:,} of {total:,} results are in this log: code scanning accepts no more."
        return [notification("warning", text)]


class _Finding(Struct, frozen=True):
    """Finding of a report with its context.

    The context is the report's JSON export and the name of the finding's category.
    """

    export: ExportJson
    category: str
    check: ExportedFinding


def log(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": list(runs)}


def run(
    reports: Sequence[tuple[ExportJson, Reasons]], category: str, check_pages: str = "", runs: int = 1
) -> dict[str, Any]:
    """Return a SARIF run for reports of one scan type.

    It has a rule for each check, and a result for each place of a finding.

    `reports` are JSON exports with the reasons for suppressed results. `category` distinguishes the run from other runs
    of the repository. `check_pages` is the base URL of the checks' pages, empty without a service. `runs` is the number
    of runs in the log, which share its limits.
    """
    exports = [export for export, _ in reports]
    rules = _rules(exports)
    indexes = {rule.id: index for index, rule in enumerate(rules)}
    has_suppressions = any(reasons for _, reasons in reports)
    results = [
        result | {"ruleIndex": indexes[result["ruleId"]]} | ({"suppressions": suppressed} if has_suppressions else {})
        for result, suppressed in _results(reports)
    ]
    limit = ResultLimit(runs)
    accepted = list(limit.accept(results))
    limit_notifications = limit.notifications(len(results))
    return {
        "tool": tool(rules, check_pages, _plug_ins(exports)),
        "automationDetails": automation(category),
        "invocations": [
            _invocation(export, limit_notifications if number == 0 else [], has_page=len(reports) > 1)
            for number, export in enumerate(exports)
        ],
        "results": accepted,
        "properties": _properties(exports[0]) if len(reports) == 1 else {"pages": len(reports)},
    }


def _plug_ins(exports: Iterable[ExportJson]) -> list[ExportedPlugIn]:
    """Return the plug-ins that have added categories, without repetitions."""
    used = [category["plug_in"] for export in exports for category in export["categories"] if "plug_in" in category]
    return [plug_in for number, plug_in in enumerate(used) if plug_in not in used[:number]]


def tool(rules: Iterable[Rule], check_pages: str, plug_ins: Iterable[ExportedPlugIn] = ()) -> dict[str, Any]:
    """Return the `tool` object of a SARIF run, with its rules and plug-ins.

    `informationUri` is the URL of the checks' documentation.
    """
    driver: dict[str, Any] = {"name": NAME, "version": __version__, "semanticVersion": __version__}
    if check_pages:
        driver["informationUri"] = check_pages
    whole: dict[str, Any] = {"driver": driver | {"rules": [_rule_descriptor(rule, check_pages) for rule in rules]}}
    # The driver has the rules of plug-ins, too, so that results need no reference to an extension.
    extensions = [{"name": plug_in["name"], "version": plug_in["version"]} for plug_in in plug_ins]
    return whole | ({"extensions": extensions} if extensions else {})


def automation(category: str) -> dict[str, str]:
    """Return the ID of a SARIF run.

    Code scanning closes an alert if the next run of the same category no longer contains it.
    """
    return {"id": f"website-scan/{category}/"}


def suppressions(reasons: Iterable[str]) -> list[dict[str, str]]:
    """Return SARIF suppressions for mutes with these reasons."""
    return [
        {"kind": "external", "status": "accepted"} | ({"justification": reason} if reason else {}) for reason in reasons
    ]


def _rules(exports: Iterable[ExportJson]) -> list[Rule]:
    """Return a SARIF rule for each check that ran.

    The title and the fix are those of its worst finding.
    """
    worst: dict[str, tuple[str, ExportedCheck]] = {}
    for export in exports:
        for _, check in checks_of(export):
            if check["id"] not in worst or _rank(check) < _rank(worst[check["id"]][1]):
                worst[check["id"]] = export["type"], check
    return [
        Rule(
            id=check["id"],
            scan_type=scan_type,
            name=check["name"],
            title=check["title"],
            fix="" if check["status"] == "pass" else check.get("fix", ""),
            references=check["references"],
            level=None if check["status"] == "pass" else finding_level(check),
        )
        for scan_type, check in worst.values()
    ]


def _rule_descriptor(rule: Rule, check_pages: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"tags": [rule.scan_type], "references": list(rule.references)}
    configuration = {}
    if rule.level:
        configuration = {"defaultConfiguration": {"level": rule.level.sarif}}
        # Set `security-severity` for security only: code scanning displays results with it as security alerts.
        is_security = rule.scan_type == ScanType.SECURITY
        properties |= (
            {"security-severity": rule.level.security_severity}
            if is_security
            else {"problem.severity": rule.level.problem_severity}
        )
    sources = [reference(text) for text in rule.references]
    page = page_url(check_pages, rule.id) or next((source.url for source in sources if source.url), "")
    return {
        "id": rule.id,
        "name": rule.name[:MAX_NAME_CHARACTERS],
        "shortDescription": {"text": rule.title[:MAX_DESCRIPTION_CHARACTERS]},
        "fullDescription": {"text": f"{rule.name[: MAX_DESCRIPTION_CHARACTERS - 1]}."},
        **configuration,
        "properties": properties,
        "help": _help(rule.fix or f"{rule.name}.", sources),
        **({"helpUri": page} if page else {}),
    }


def _help(fix: str, sources: Iterable[ReferenceLink]) -> dict[str, str]:
    """Return a finding's help text for code scanning.

    It has the fix and links to the references.
    """
    links = [f"[{escaped(source.text)}](<{source.url}>)" if source.url else escaped(source.text) for source in sources]
    sources_line = f"\n\nSources: {'; '.join(links)}" if links else ""
    return {"text": fix, "markdown": f"{prose(fix)}{sources_line}"}


def _results(
    reports: Iterable[tuple[ExportJson, Reasons]],
) -> Iterator[tuple[dict[str, Any], list[dict[str, str]]]]:
    """Yield (SARIF result, suppressions) for all findings in order of priority."""
    findings = [
        (_Finding(export, category, check), reasons.get(check["id"], {}))
        for export, reasons in reports
        for category, check in checks_of(export)
        if check["status"] != "pass"
    ]
    occurrences: Counter[tuple[str, str]] = Counter()
    for finding, reasons in sorted(findings, key=lambda pair: priority_of(pair[0].check)):
        for place in _places(finding.check):
            result = _result(finding, place, occurrences)
            yield result, suppressions(dict.fromkeys(reasons.get(place.fingerprint, ())))


def _places(check: ExportedFinding) -> Iterator[StoredPlace]:
    """Yield a finding's places, and repeat counted places."""
    fingerprints: set[str] = set()
    for place in stored_places(check):
        if place.is_counted or place.fingerprint not in fingerprints:
            fingerprints.add(place.fingerprint)
            yield place


def _result(finding: _Finding, place: StoredPlace, occurrences: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Return a SARIF result for one place."""
    check, url = finding.check, finding.export["url"]
    state = finding.export["state"]["name"] if "state" in finding.export else ""
    at = location(url, str(place.row.get("snippet") or place.row.get("markup") or ""))
    if selector := place.row.get("selector"):
        at["logicalLocations"] = [{"fullyQualifiedName": str(selector), "kind": "element"}]
    # States of a journey may share an address.
    line_hash = fingerprint(place.fingerprint, "\n".join(filter(None, (page_path(url), state))))
    occurrences[relative_path(url), line_hash] += 1
    return {
        "ruleId": check["id"],
        "level": finding_level(check).sarif,
        # Other kinds than "fail" must not have a level (section 3.27.9).
        "kind": "fail",
        "message": message(check["title"], message_without_places(check), place.text, url, state),
        "locations": [at],
        "partialFingerprints": {
            # Code scanning uses only this fingerprint, which must end with the occurrence's number.
            "primaryLocationLineHash": f"{line_hash}:{occurrences[relative_path(url), line_hash]}",
            "place/v1": place.fingerprint,
        },
        "properties": {
            "status": check["status"],
            "severity": check["severity"],
            "category": finding.category,
            "outcome": check["outcome"],
            "needs_review": check["needs_review"],
        },
    }


def _invocation(export: ExportJson, notifications: Sequence[Mapping[str, Any]], has_page: bool) -> dict[str, Any]:
    """Return the SARIF invocation for a scan.

    Its notifications are about checks without a verdict.

    `has_page` adds the properties of the page, for a run with several pages.
    """
    messages = [
        *notifications,
        *(
            notification("warning", f"{check['name']} could not run: {check['reason']}")
            for check in export["skipped_checks"]
        ),
    ]
    if sentence := notice_without_browser(export):
        names = ", ".join(check["name"] for check in export["omitted_checks"])
        messages.append(notification("note", f"{sentence} Left out: {names}."))
    if export.get("needs_log_in"):
        sentence = f"{export['url']} asked for a log-in, so {export.get('final_url')} was judged in place of the page."
        messages.append(notification("warning", sentence))
    if "error" in export:
        messages.append(notification("error", f"{export['error']['code']}: {export['error']['message']}"))
    return {
        "executionSuccessful": "error" not in export,
        "startTimeUtc": export["created_at"],
        "endTimeUtc": export["completed_at"],
        **({"toolExecutionNotifications": messages} if messages else {}),
        **({"properties": _properties(export)} if has_page else {}),
    }


def _properties(export: ExportJson) -> dict[str, Any]:
    return {
        "scan_id": export["id"],
        "report_id": export["report_id"],
        "url": export["url"],
        "final_url": export.get("final_url"),
        "score": export["score"],
        "grade": export["grade"],
        "catalogue_version": export["catalogue_version"],
        "browser": export.get("browser"),
        "checks_left_out": len(export.get("omitted_checks", ())),
        "site_evidence_at": export.get("site_evidence_at"),
        **({"state": export["state"]} if "state" in export else {}),
    }


def _rank(check: ExportedCheck) -> int:
    """Return the rank of a check by its level, 0 for the most serious findings."""
    if check["status"] == "pass":
        return len(LEVELS)
    return list(LEVELS).index((check["status"], check["severity"]))
