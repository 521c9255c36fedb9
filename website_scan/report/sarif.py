"""SARIF 2.1.0 as code scanning accepts it: the logs of scans, and the parts of an audit's log.

Source of the limits and required properties: GitHub's "SARIF support for code scanning". Code scanning shows files of a
repository, so the location of a page is its address as a relative path; the message links to the address itself.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from website_scan import __version__
from website_scan.findings import ScanType
from website_scan.fingerprints import fingerprint, page_path
from website_scan.priority import priority_of
from website_scan.report.judge import judged_without_browser
from website_scan.report.levels import LEVELS, Level, level_of
from website_scan.report.markup import escaped, prose
from website_scan.report.places import FoundPlace, found_places
from website_scan.report.references import ReferenceLink, page_url, reference, safe_link
from website_scan.report_json import ExportedCheck, ExportedFinding, ExportJson, checks_of
from website_scan.wording import without_places
from website_scan.written_urls import split_url

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
NAME = "Website Scan Service"
# GitHub refuses a log with more. Of the bytes, which count after gzip, a tenth is left for what is not a result.
MOST_RESULTS = 25_000  # in a run
MOST_BYTES = 10_000_000 * 9 // 10
MOST_NAME = 255
MOST_DESCRIPTION = 1024
# Characters that stand for themselves in a segment of a path (RFC 3986, section 3.3), and the sign of encoded ones.
SEGMENT = "!$&'()*+,;=:@~%"
# The same for the destination of a link, which ends with a closing parenthesis.
DESTINATION = "!$&'*+,;=:@~%/?#[]"
STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
# Line 1, because a page has no source lines, but code scanning shows no result without a region.
REGION: Mapping[str, object] = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}

# Reasons why results are suppressed, by check ID and fingerprint of the place; a reason may be empty.
Reasons = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Rule of a check. `level` is the level of its worst result in the run, None if it has none."""

    id: str
    scan_type: str
    name: str
    title: str
    fix: str
    references: Sequence[str]
    level: Level | None


class Room:
    """The room for results in one of the runs of a log. Counts the results that it takes."""

    def __init__(self, runs: int) -> None:
        self.taken = 0
        self._bytes = MOST_BYTES // runs
        self._compressor = zlib.compressobj()

    def taking(self, results: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield results as long as they fit."""
        for result in results:
            self._bytes -= len(self._compressor.compress(json.dumps(result, indent=2).encode()))
            if self.taken == MOST_RESULTS or self._bytes < 0:
                return
            self.taken += 1
            yield result

    def batches(self, batches: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[list[Mapping[str, Any]]]:
        """Yield batches of results as long as they fit."""
        for batch in batches:
            taken = list(self.taking(batch))
            yield taken
            if len(taken) < len(batch):
                return

    def notifications(self, found: int) -> list[dict[str, Any]]:
        """Return the notification that not all of `found` results were taken; empty if they were."""
        if found == self.taken:
            return []
        text = f"Only the first {self.taken:,} of {found:,} results are in this log: code scanning accepts no more."
        return [notification("warning", text)]


@dataclass(frozen=True, slots=True)
class _Found:
    """A failed or warned check of a document."""

    document: ExportJson
    category: str
    check: ExportedFinding


def log(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": list(runs)}


def run(
    reports: Sequence[tuple[ExportJson, Reasons]], category: str, check_pages: str = "", runs: int = 1
) -> dict[str, Any]:
    """Return a run for reports of one type: a rule for each check that ran, a result for each place of a finding.

    `reports` are JSON exports with the reasons for suppressed results. `category` distinguishes the run from others of
    the repository. `check_pages` is the base URL of the checks' pages; without it, the log does not say where the tool
    is documented. `runs` is the number of runs in the log, which share its room.
    """
    documents = [document for document, _ in reports]
    rules = _rules(documents)
    indexes = {each.id: index for index, each in enumerate(rules)}
    has_suppressions = any(reasons for _, reasons in reports)
    results = [
        result | {"ruleIndex": indexes[result["ruleId"]]} | ({"suppressions": suppressed} if has_suppressions else {})
        for result, suppressed in _results(reports)
    ]
    room = Room(runs)
    taken = list(room.taking(results))
    left_out = room.notifications(len(results))
    return {
        "tool": tool(rules, check_pages),
        "automationDetails": automation(category),
        "invocations": [
            _invocation(each, left_out if number == 0 else [], has_page=len(reports) > 1)
            for number, each in enumerate(documents)
        ],
        "results": taken,
        "properties": _properties(documents[0]) if len(reports) == 1 else {"pages": len(reports)},
    }


def tool(rules: Iterable[Rule], check_pages: str) -> dict[str, Any]:
    """Return the tool with its rules. Only an installation knows an address of its own: that of the checks' pages."""
    driver: dict[str, Any] = {"name": NAME, "version": __version__, "semanticVersion": __version__}
    if check_pages:
        driver["informationUri"] = check_pages
    return {"driver": driver | {"rules": [_descriptor(each, check_pages) for each in rules]}}


def automation(category: str) -> dict[str, str]:
    """Return the identity of a run. Code scanning closes alerts that a later run of the same category lacks."""
    return {"id": f"website-scan/{category}/"}


def plain_text(message: str) -> str:
    """Escape brackets, which would make links to addresses that a site chooses (SARIF 2.1.0, section 3.11.6)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", message)


def link(url: str) -> str:
    """Return a link to a page, as text if its address is not safe to open."""
    address = safe_link(url)
    return f"[{plain_text(url)}]({quote(address, safe=DESTINATION)})" if address else plain_text(url)


def notification(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": plain_text(text)}}


def message(title: str, said: str, place: str, url: str) -> dict[str, str]:
    """Return the message of a result, which links to the page."""
    at = f" At {plain_text(place)}." if place else ""
    return {"text": f"{plain_text(f'{title}: {said}')}{at} On {link(url)}."}


def location(url: str, source: str = "") -> dict[str, Any]:
    """Return a page as a location, with the source of the element."""
    region = {**REGION} | ({"snippet": {"text": source}} if source else {})
    return {"physicalLocation": {"artifactLocation": {"uri": relative_path(url)}, "region": region}}


def relative_path(url: str) -> str:
    """Return a page's address as a path of a file in a repository: host and path, the query in the file's name.

    GitHub refuses addresses with a scheme, and would take a host before a port for one, perhaps even if the colon were
    encoded: so it is an underscore. Empty segments and those that lead upwards are left out.
    """
    parts = split_url(url)
    host = parts.netloc.rpartition("@")[2].replace("[", "").replace("]", "").replace(":", "_")
    segments = [host, *page_path(url).split("/")]
    encoded = (STRAY_PERCENT.sub("%25", quote(each, safe=SEGMENT, errors="replace")) for each in segments)
    return "/".join(each for each in encoded if unquote(each).strip() not in ("", ".", ".."))


def suppressions(reasons: Iterable[str]) -> list[dict[str, str]]:
    """Return SARIF's suppressions (section 3.35) for mutes with these reasons. For strangers, reasons are empty."""
    return [
        {"kind": "external", "status": "accepted"} | ({"justification": reason} if reason else {}) for reason in reasons
    ]


def _rules(documents: Iterable[ExportJson]) -> list[Rule]:
    """Return a rule for each check that ran. The worst finding of a check says what is wrong, and how to fix it."""
    worst: dict[str, tuple[str, ExportedCheck]] = {}
    for document in documents:
        for _, check in checks_of(document):
            if check["id"] not in worst or _rank(check) < _rank(worst[check["id"]][1]):
                worst[check["id"]] = document["type"], check
    return [
        Rule(
            id=check["id"],
            scan_type=scan_type,
            name=check["name"],
            title=check["title"],
            fix="" if check["status"] == "pass" else check.get("fix", ""),
            references=check["references"],
            level=None if check["status"] == "pass" else level_of(check),
        )
        for scan_type, check in worst.values()
    ]


def _descriptor(rule: Rule, check_pages: str) -> dict[str, Any]:
    properties: dict[str, Any] = {"tags": [rule.scan_type], "references": list(rule.references)}
    configuration = {}
    if rule.level:
        configuration = {"defaultConfiguration": {"level": rule.level.sarif}}
        # With `security-severity`, code scanning shows every result of the rule as a security alert.
        is_security = rule.scan_type == ScanType.SECURITY
        properties |= (
            {"security-severity": rule.level.security_severity}
            if is_security
            else {"problem.severity": rule.level.problem_severity}
        )
    sources = [reference(each) for each in rule.references]
    page = page_url(check_pages, rule.id) or next((each.url for each in sources if each.url), "")
    return {
        "id": rule.id,
        "name": rule.name[:MOST_NAME],
        "shortDescription": {"text": rule.title[:MOST_DESCRIPTION]},
        "fullDescription": {"text": f"{rule.name[: MOST_DESCRIPTION - 1]}."},
        **configuration,
        "properties": properties,
        "help": _help(rule.fix or f"{rule.name}.", sources),
        **({"helpUri": page} if page else {}),
    }


def _help(fix: str, sources: Iterable[ReferenceLink]) -> dict[str, str]:
    """Return the help that code scanning shows beside a finding: the fix, and links to the references."""
    links = [f"[{escaped(each.text)}](<{each.url}>)" if each.url else escaped(each.text) for each in sources]
    read_on = f"\n\nSources: {'; '.join(links)}" if links else ""
    return {"text": fix, "markdown": f"{prose(fix)}{read_on}"}


def _results(
    reports: Iterable[tuple[ExportJson, Reasons]],
) -> Iterator[tuple[dict[str, Any], list[dict[str, str]]]]:
    """Yield the results with their suppressions, the top-priority findings first."""
    found = [
        (_Found(document, category, check), reasons.get(check["id"], {}))
        for document, reasons in reports
        for category, check in checks_of(document)
        if check["status"] != "pass"
    ]
    seen: Counter[tuple[str, str]] = Counter()
    for each, reasons in sorted(found, key=lambda pair: priority_of(pair[0].check)):
        for place in _places(each.check):
            result = _result(each, place, seen)
            yield result, suppressions(dict.fromkeys(reasons.get(place.fingerprint, ())))


def _places(check: ExportedFinding) -> Iterator[FoundPlace]:
    """Yield each place of a finding once, counted ones as often as they occur; the page is a place, too."""
    seen: set[str] = set()
    for each in found_places(check):
        if each.is_counted or each.fingerprint not in seen:
            seen.add(each.fingerprint)
            yield each


def _result(found: _Found, place: FoundPlace, seen: Counter[tuple[str, str]]) -> dict[str, Any]:
    """Return a result at one place. `seen` counts the results of each page with the same hash."""
    check, url = found.check, found.document["url"]
    at = location(url, str(place.row.get("snippet") or place.row.get("markup") or ""))
    if selector := place.row.get("selector"):
        at["logicalLocations"] = [{"fullyQualifiedName": str(selector), "kind": "element"}]
    line_hash = fingerprint(place.fingerprint, page_path(url))
    seen[relative_path(url), line_hash] += 1
    return {
        "ruleId": check["id"],
        "level": level_of(check).sarif,
        "kind": "fail",  # other kinds must not have a level (section 3.27.9); `status` marks a warning
        "message": message(check["title"], without_places(check), place.text, url),
        "locations": [at],
        "partialFingerprints": {
            # The only one that code scanning uses. Like its own, it ends with the number of the occurrence in the file.
            "primaryLocationLineHash": f"{line_hash}:{seen[relative_path(url), line_hash]}",
            "place/v1": place.fingerprint,
        },
        "properties": {
            "status": check["status"],
            "severity": check["severity"],
            "category": found.category,
            "outcome": check["outcome"],
            "needs_review": check["needs_review"],
        },
    }


def _invocation(document: ExportJson, notifications: Sequence[Mapping[str, Any]], has_page: bool) -> dict[str, Any]:
    """Return the scan of a page, with what it could not judge. If `has_page`, says which page."""
    told = [
        *notifications,
        *(
            notification("warning", f"{each['name']} could not run: {each['reason']}")
            for each in document["skipped_checks"]
        ),
    ]
    if sentence := judged_without_browser(document):
        names = ", ".join(each["name"] for each in document["omitted_checks"])
        told.append(notification("note", f"{sentence} Left out: {names}."))
    if "error" in document:
        told.append(notification("error", f"{document['error']['code']}: {document['error']['message']}"))
    return {
        "executionSuccessful": "error" not in document,
        "startTimeUtc": document["created_at"],
        "endTimeUtc": document["completed_at"],
        **({"toolExecutionNotifications": told} if told else {}),
        **({"properties": _properties(document)} if has_page else {}),
    }


def _properties(document: ExportJson) -> dict[str, Any]:
    return {
        "scan_id": document["id"],
        "report_id": document["report_id"],
        "url": document["url"],
        "score": document["score"],
        "grade": document["grade"],
        "catalogue_version": document["catalogue_version"],
        "browser": document.get("browser"),
        "checks_left_out": len(document.get("omitted_checks", ())),
        "site_evidence_at": document.get("site_evidence_at"),
    }


def _rank(check: ExportedCheck) -> int:
    """Return the rank of a check by its level: the most serious finding has the lowest."""
    if check["status"] == "pass":
        return len(LEVELS)
    return list(LEVELS).index((check["status"], check["severity"]))
