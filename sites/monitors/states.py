"""Reduced reports for comparisons: small enough to be kept longer than reports, for each page and type. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set

from website_scan.report.places import is_cut, occurrences_of, rows_of
from website_scan.report_json import ExportedCheck, ExportJson, ReducedCheck, ReducedFinding, ReducedJson
from website_scan.stored_data import Facts
from website_scan.urls import host_and_port_of

# The check whose details name the certificate, with any verdict.
CERTIFICATE_CHECK = "tls-cert-expiry"
# Maximum length of a place's text: pages may have very long ones.
PLACE = 300


def page_key(url: str) -> str:
    """Return the SHA-256 digest of a URL in hexadecimal: a URL may be longer than an index entry."""
    return hashlib.sha256(url.encode()).hexdigest()


def reduced(export: ExportJson, facts: Facts) -> ReducedJson:
    """Reduce a JSON export to the fields that `website_scan.report.diff` reads, and add two fields for monitors.

    `answer` is the HTTP status of the page, None if unknown; `certificate` is the host and the expiry of its
    certificate, None if none was seen.
    """
    return {
        "url": export["url"],
        "catalogue_version": export["catalogue_version"],
        "browser": export.get("browser"),
        "categories": [
            {"name": each["name"], "checks": [_check(check) for check in each["checks"]]}
            for each in export["categories"]
        ],
        "skipped_checks": [{"id": each["id"]} for each in export["skipped_checks"]],
        "omitted_checks": [{"id": each["id"]} for each in export.get("omitted_checks", ())],
        "repeated_checks": [{"id": each["id"]} for each in export.get("repeated_checks", ())],
        "answer": facts.get("status"),
        "certificate": _certificate(export),
    }


def _check(check: ExportedCheck) -> ReducedCheck:
    if check["status"] == "pass":
        return {"id": check["id"], "status": "pass"}
    return {
        "id": check["id"],
        "name": check["name"],
        "title": check["title"],
        "outcome": check["outcome"],
        "status": check["status"],
        "severity": check["severity"],
        "message": check["message"],
        "places": {each: [text[:PLACE] for text in texts] for each, texts in occurrences_of(check).items()},
        "is_cut": is_cut(check),
        "points": check["points"],
        "later": check["later"],
        "holds": check["holds"],
    }


def _certificate(export: ExportJson) -> list[str] | None:
    for category in export["categories"]:
        for check in category["checks"]:
            if check["id"] == CERTIFICATE_CHECK:
                return next(([host_and_port_of(export["url"]), str(row["not_after"])] for row in rows_of(check)), None)
    return None


def checks_of(document: ReducedJson) -> dict[str, ReducedCheck]:
    """Return the document's checks by ID, in order."""
    return {check["id"]: check for category in document["categories"] for check in category["checks"]}


def silent_checks(document: ReducedJson) -> set[str]:
    """Return the IDs of checks without a verdict, because they could not run or were left out."""
    return {each["id"] for each in (*document["skipped_checks"], *document["omitted_checks"])}


def has_browser(document: ReducedJson) -> bool:
    return document["browser"] is not None


def is_error(document: ReducedJson) -> bool:
    """Return True if the HTTP status is an error: then the report is about an error page."""
    answer = document["answer"]
    return answer is not None and answer >= 400


def merged(known: ReducedJson, report: ReducedJson, *, keeps: Set[str]) -> ReducedJson:
    """Merge a report into the known document: checks in `keeps` stay as known, including their absence.

    Of the checks without a verdict in the report, those that passed before stay; findings stay if they are in `keeps`.
    """
    was, silent = checks_of(known), silent_checks(report)
    stays = {each for each in keeps if each in was}
    stays |= {id for id, check in was.items() if id in silent and check["status"] == "pass"}
    categories: dict[str, list[ReducedCheck]] = {each["name"]: [] for each in report["categories"]}
    for name, check in _in_order(report, known, stays):
        # Unchanged checks keep their old form, so that a row is written only if something has changed.
        if check["id"] in stays or _is_same(was.get(check["id"]), check):
            check = was[check["id"]]
        elif check["id"] in keeps:
            continue
        categories.setdefault(name, []).append(check)
    held = {check["id"] for checks in categories.values() for check in checks}
    certificate = known["certificate"] if CERTIFICATE_CHECK in silent else report["certificate"]
    return {
        **report,
        "categories": [{"name": name, "checks": checks} for name, checks in categories.items()],
        "skipped_checks": [each for each in report["skipped_checks"] if each["id"] not in held],
        "omitted_checks": [each for each in report["omitted_checks"] if each["id"] not in held],
        "repeated_checks": [each for each in report.get("repeated_checks", ()) if each["id"] not in held],
        "certificate": certificate,
    }


def _in_order(report: ReducedJson, known: ReducedJson, stays: Set[str]) -> Iterator[tuple[str, ReducedCheck]]:
    """Yield the report's checks with their category names, then the checks in `stays` that only `known` has."""
    seen = set()
    for category in report["categories"]:
        for check in category["checks"]:
            seen.add(check["id"])
            yield category["name"], check
    for category in known["categories"]:
        for check in category["checks"]:
            if check["id"] not in seen and check["id"] in stays:
                yield category["name"], check


def _is_same(was: ReducedCheck | None, check: ReducedCheck) -> bool:
    """Return True if a finding is unchanged, apart from its message, which may contain measured figures."""
    if was is None or was["status"] == "pass" or check["status"] == "pass":
        return was is not None and was["status"] == check["status"]
    return (
        was["status"] == check["status"]
        and was["severity"] == check["severity"]
        and was["outcome"] == check["outcome"]
        and was["is_cut"] == check["is_cut"]
        and _counts(was) == _counts(check)
    )


def _counts(finding: ReducedFinding) -> dict[str, int]:
    return {each: len(texts) for each, texts in finding["places"].items()}
