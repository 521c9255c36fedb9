"""Reduced reports, which monitors store for comparisons after the full reports have expired.

Pure functions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Set

from website_scan.report.places import is_cut, occurrences_by_fingerprint, rows_of
from website_scan.report_json import ExportedCheck, ExportJson, ReducedCheck, ReducedFinding, ReducedJson
from website_scan.stored_data import Facts
from website_scan.urls import host_and_port_of

# ID of the check whose details include the certificate, with any verdict.
CERTIFICATE_CHECK = "tls-cert-expiry"
# Texts of places are truncated, because pages may have very long ones.
MAX_PLACE_LENGTH = 300


def page_key(url: str, state: str = "") -> str:
    """Return the hexadecimal SHA-256 digest of a page's URL, because URLs may be too long for an index entry.

    A state of a journey is identified by its name, which is unique in a run. Its URL may contain an ID that differs in
    each run, and several states may have the same URL.
    """
    return hashlib.sha256((f"state {state}" if state else url).encode()).hexdigest()


def reduce_export(export: ExportJson, facts: Facts) -> ReducedJson:
    """Reduce a JSON export to the fields that `website_scan.report.diff` reads.

    Two fields are added for monitors. `answer` is the HTTP status of the page, None if unknown. `certificate` is the
    host of the page and the expiry of its certificate, None if the report has no certificate.
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
        "places": {
            key: [text[:MAX_PLACE_LENGTH] for text in texts] for key, texts in occurrences_by_fingerprint(check).items()
        },
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
    """Return the checks of a reduced report by check ID, in the order of the report."""
    return {check["id"]: check for category in report["categories"] for check in category["checks"]}


def checks_without_verdict(report: ReducedJson) -> set[str]:
    """Return the IDs of checks without a verdict in the report, because they were skipped or omitted."""
    return {check["id"] for check in (*report["skipped_checks"], *report["omitted_checks"])}


def has_browser(report: ReducedJson) -> bool:
    return report["browser"] is not None


def is_error(report: ReducedJson) -> bool:
    """Return True if the report describes an error page, whose HTTP status is 400 or higher."""
    answer = report["answer"]
    return answer is not None and answer >= 400


def merge_report(confirmed: ReducedJson, report: ReducedJson, *, unconfirmed: Set[str]) -> ReducedJson:
    """Merge a report into the confirmed report and return the new confirmed report.

    Checks in `unconfirmed` retain their confirmed verdict, or stay absent. Checks that passed before and have no
    verdict in the report still pass.
    """
    confirmed_checks, without_verdict = checks_of(confirmed), checks_without_verdict(report)
    unchanged = {id for id in unconfirmed if id in confirmed_checks}
    unchanged |= {id for id, check in confirmed_checks.items() if id in without_verdict and check["status"] == "pass"}
    categories: dict[str, list[ReducedCheck]] = {category["name"]: [] for category in report["categories"]}
    for name, check in _merged_checks(report, confirmed, unchanged):
        # Unchanged checks are copied from the confirmed report, so that an unchanged row need not be written.
        if check["id"] in unchanged or _is_unchanged(confirmed_checks.get(check["id"]), check):
            check = confirmed_checks[check["id"]]
        elif check["id"] in unconfirmed:
            continue
        categories.setdefault(name, []).append(check)
    ids = {check["id"] for checks in categories.values() for check in checks}
    certificate = confirmed["certificate"] if CERTIFICATE_CHECK in without_verdict else report["certificate"]
    return {
        **report,
        "categories": [{"name": name, "checks": checks} for name, checks in categories.items()],
        "skipped_checks": [check for check in report["skipped_checks"] if check["id"] not in ids],
        "omitted_checks": [check for check in report["omitted_checks"] if check["id"] not in ids],
        "repeated_checks": [check for check in report.get("repeated_checks", ()) if check["id"] not in ids],
        "certificate": certificate,
    }


def _merged_checks(
    report: ReducedJson, confirmed: ReducedJson, unchanged: Set[str]
) -> Iterator[tuple[str, ReducedCheck]]:
    """Yield the report's checks with their category names, then the unchanged checks that the report lacks."""
    ids = set()
    for category in report["categories"]:
        for check in category["checks"]:
            ids.add(check["id"])
            yield category["name"], check
    for category in confirmed["categories"]:
        for check in category["checks"]:
            if check["id"] not in ids and check["id"] in unchanged:
                yield category["name"], check


def _is_unchanged(confirmed: ReducedCheck | None, check: ReducedCheck) -> bool:
    """Return True if a check's verdict and places are unchanged.

    Messages are ignored, because their numbers vary.
    """
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
