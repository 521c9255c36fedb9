"""What of a report a comparison needs: small enough to be kept longer than reports, for each page and type. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Set
from typing import Any
from urllib.parse import urlsplit

from scanner.fingerprints import EVIDENCE_ITEMS, fingerprints

Document = Mapping[str, Any]
# The check whose evidence names the certificate, whatever its verdict.
CERTIFICATE_CHECK = "tls-cert-expiry"
# Characters of a place in words: pages may write more than anybody reads.
PLACE = 300


def page_key(url: str) -> str:
    """SHA-256 in hexadecimal: a URL may be longer than an index takes."""
    return hashlib.sha256(url.encode()).hexdigest()


def reduced(export: Document, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What `scanner.report.diff` reads of a JSON export, to find the same changes; and what a monitor asks beside it.

    `answer` is the HTTP status that the page answered with, None where it is not known; `certificate` the host and the
    end of its certificate, None where none was seen.
    """
    return {
        "url": export["url"],
        "catalogue_version": export["catalogue_version"],
        "browser": export.get("browser"),
        "categories": [
            {"name": each["name"], "checks": [_check(check, export["url"]) for check in each["checks"]]}
            for each in export["categories"]
        ],
        "skipped_checks": [{"id": each["id"]} for each in export["skipped_checks"]],
        "omitted_checks": [{"id": each["id"]} for each in export.get("omitted_checks", ())],
        "answer": facts.get("status"),
        "certificate": _certificate(export),
    }


def _check(check: Document, url: str) -> dict[str, Any]:
    if check["status"] == "pass":
        return {"id": check["id"], "status": "pass"}
    kept = {name: check[name] for name in ("id", "name", "title", "status", "severity", "message") if name in check}
    return kept | {
        "places": {each: text[:PLACE] for each, text in fingerprints(check["id"], check["evidence"], url).items()},
        "is_cut": len(check["evidence"]) >= EVIDENCE_ITEMS,
    }


def _certificate(export: Document) -> list[str] | None:
    for category in export["categories"]:
        for check in category["checks"]:
            if check["id"] == CERTIFICATE_CHECK and check["evidence"]:
                return [urlsplit(export["url"]).netloc, str(check["evidence"][0]["not_after"])]
    return None


def checks_of(document: Document) -> dict[str, dict[str, Any]]:
    """Its checks by their IDs, in its order."""
    return {check["id"]: check for category in document["categories"] for check in category["checks"]}


def silent_checks(document: Document) -> set[str]:
    """Those that it says nothing of, as they could not run or were left out."""
    return {each["id"] for name in ("skipped_checks", "omitted_checks") for each in document[name]}


def has_browser(document: Document) -> bool:
    return document["browser"] is not None


def is_error(document: Document) -> bool:
    """Whether the page answered with an error: then it is not the page that was judged."""
    answer = document.get("answer")
    return answer is not None and answer >= 400


def merged(known: Document, report: Document, *, keeps: Set[str]) -> dict[str, Any]:
    """The report, but for the checks in `keeps`, of which stays what was known: also that there was nothing.

    Of what the report is silent on, stays what passed; a finding does when it is in `keeps`.
    """
    was, silent = checks_of(known), silent_checks(report)
    stays = {each for each in keeps if each in was}
    stays |= {id for id, check in was.items() if id in silent and check["status"] == "pass"}
    categories: dict[str, list[dict[str, Any]]] = {each["name"]: [] for each in report["categories"]}
    for name, check in _in_order(report, known, stays):
        # What is as it was is left as it was, so that a row is written only where something has changed.
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
        "certificate": certificate,
    }


def _in_order(report: Document, known: Document, stays: Set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The checks of the report with their categories' names, then those that stay and only the other one has."""
    seen = set()
    for category in report["categories"]:
        for check in category["checks"]:
            seen.add(check["id"])
            yield category["name"], check
    for category in known["categories"]:
        for check in category["checks"]:
            if check["id"] not in seen and check["id"] in stays:
                yield category["name"], check


def _is_same(was: Document | None, check: Document) -> bool:
    """Whether a finding is as before, but for the figures in its message."""
    if was is None:
        return False
    return all(was.get(name) == check.get(name) for name in ("status", "severity", "title", "is_cut")) and (
        was.get("places", {}).keys() == check.get("places", {}).keys()
    )
