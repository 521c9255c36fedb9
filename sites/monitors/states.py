"""Reduced reports, which monitors store for comparisons longer than the reports themselves. Pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set

from website_scan.report.places import is_cut, occurrences_of, rows_of
from website_scan.report_json import ExportedCheck, ExportJson, ReducedCheck, ReducedFinding, ReducedJson
from website_scan.stored_data import Facts
from website_scan.urls import host_and_port_of

# The check whose details name the certificate, with any verdict.
CERTIFICATE_CHECK = "tls-cert-expiry"
# Maximum length of a place's text, because pages may have very long ones.
PLACE_LENGTH = 300


def page_key(url: str) -> str:
    """Return the SHA-256 digest of a URL in hexadecimal, because a URL may be longer than an index entry."""
    return hashlib.sha256(url.encode()).hexdigest()


def reduce_export(export: ExportJson, facts: Facts) -> ReducedJson:
    """Reduce a JSON export to the fields that `website_scan.report.diff` reads, and add two fields for monitors.

    `answer` is the HTTP status of the page, None if unknown. `certificate` is the host of the page and the expiry of
    its certificate, None if the report names no certificate.
    """
    return {
        "url": export["url"],
        "catalogue_version": export["catalogue_version"],
        "browser": export.get("browser"),
        "categories": [
            {"name": category["name"], "checks": [_check(check) for check in category["checks"]]}
            for category in export["categories"]
        ],
        "skipped_checks": [{"id": check["id"]} for check in export["skipped_checks"]],
        "omitted_checks": [{"id": check["id"]} for check in export.get("omitted_checks", ())],
        "repeated_checks": [{"id": check["id"]} for check in export.get("repeated_checks", ())],
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
        "places": {key: [text[:PLACE_LENGTH] for text in texts] for key, texts in occurrences_of(check).items()},
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


def checks_of(report: ReducedJson) -> dict[str, ReducedCheck]:
    """Return the checks of a reduced report by ID, in their order."""
    return {check["id"]: check for category in report["categories"] for check in category["checks"]}


def checks_without_verdict(report: ReducedJson) -> set[str]:
    """Return the IDs of the report's checks that were skipped or omitted, and so have no verdict."""
    return {check["id"] for check in (*report["skipped_checks"], *report["omitted_checks"])}


def has_browser(report: ReducedJson) -> bool:
    return report["browser"] is not None


def is_error(report: ReducedJson) -> bool:
    """Return True if the HTTP status of the page is 400 or higher: then the report judges an error page."""
    answer = report["answer"]
    return answer is not None and answer >= 400


def merge_report(confirmed: ReducedJson, report: ReducedJson, *, unconfirmed: Set[str]) -> ReducedJson:
    """Merge a report into the confirmed report: checks in `unconfirmed` keep their confirmed verdict, or stay absent.

    Checks that passed before and have no verdict in the report still pass.
    """
    confirmed_checks, silent = checks_of(confirmed), checks_without_verdict(report)
    unchanged = {id for id in unconfirmed if id in confirmed_checks}
    unchanged |= {id for id, check in confirmed_checks.items() if id in silent and check["status"] == "pass"}
    categories: dict[str, list[ReducedCheck]] = {category["name"]: [] for category in report["categories"]}
    for name, check in _in_order(report, confirmed, unchanged):
        # Unchanged checks keep their old form, so that a row is written only if something has changed.
        if check["id"] in unchanged or _is_same(confirmed_checks.get(check["id"]), check):
            check = confirmed_checks[check["id"]]
        elif check["id"] in unconfirmed:
            continue
        categories.setdefault(name, []).append(check)
    ids = {check["id"] for checks in categories.values() for check in checks}
    certificate = confirmed["certificate"] if CERTIFICATE_CHECK in silent else report["certificate"]
    return {
        **report,
        "categories": [{"name": name, "checks": checks} for name, checks in categories.items()],
        "skipped_checks": [check for check in report["skipped_checks"] if check["id"] not in ids],
        "omitted_checks": [check for check in report["omitted_checks"] if check["id"] not in ids],
        "repeated_checks": [check for check in report.get("repeated_checks", ()) if check["id"] not in ids],
        "certificate": certificate,
    }


def _in_order(report: ReducedJson, confirmed: ReducedJson, unchanged: Set[str]) -> Iterator[tuple[str, ReducedCheck]]:
    """Yield the report's checks with their category names, then the checks in `unchanged` that only `confirmed` has."""
    ids = set()
    for category in report["categories"]:
        for check in category["checks"]:
            ids.add(check["id"])
            yield category["name"], check
    for category in confirmed["categories"]:
        for check in category["checks"]:
            if check["id"] not in ids and check["id"] in unchanged:
                yield category["name"], check


def _is_same(confirmed: ReducedCheck | None, check: ReducedCheck) -> bool:
    """Return True if a check's verdict and places are unchanged. Its message may contain measured figures."""
    if confirmed is None or confirmed["status"] == "pass" or check["status"] == "pass":
        return confirmed is not None and confirmed["status"] == check["status"]
    return (
        confirmed["status"] == check["status"]
        and confirmed["severity"] == check["severity"]
        and confirmed["outcome"] == check["outcome"]
        and confirmed["is_cut"] == check["is_cut"]
        and _places_by_fingerprint(confirmed) == _places_by_fingerprint(check)
    )


def _places_by_fingerprint(finding: ReducedFinding) -> dict[str, int]:
    return {fingerprint: len(texts) for fingerprint, texts in finding["places"].items()}
