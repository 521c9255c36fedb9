"""GitLab's code quality report, a subset of Code Climate's format: one entry for each place of a finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from website_scan.command.judged import Judged, Outcome
from website_scan.fingerprints import page_path
from website_scan.report.levels import level_of
from website_scan.report.places import occurrences_of
from website_scan.report.sarif import relative_path
from website_scan.report_json import ExportedFinding
from website_scan.wording import without_places
from website_scan.written_urls import split_url


def codequality(outcome: Outcome) -> str:
    """Return the report, a JSON array, without accepted findings. A failed scan is an entry, as no entry means success.

    GitLab finds new entries by comparing their fingerprints with the target branch. The fingerprints do not contain the
    host, so that a preview can be compared with the site, unless the pages are on several origins.
    """
    is_one_origin = len({split_url(report.url)[:2] for report in outcome.reports}) == 1
    page_name = page_path if is_one_origin else str
    entries = [entry for report in outcome.reports for entry in _entries(report, page_name(report.url))]
    return json.dumps(entries, indent=2) + "\n"


def _entries(judged: Judged, page: str) -> Iterator[Mapping[str, object]]:
    if judged.error is not None:
        message = f"The {judged.type} scan failed: {judged.error['message']}"
        yield _entry(judged, page, judged.error["code"], message, "blocker", "")
    for _, check in judged.findings():
        severity = level_of(check).code_quality
        for fingerprint, places in occurrences_of(check).items():
            for number, place in enumerate(places):
                identity = f"{fingerprint} {number}" if number else fingerprint
                yield _entry(judged, page, check["id"], _description(check, place), severity, identity)


def _entry(
    judged: Judged, page: str, name: str, description: str, severity: str, fingerprint: str
) -> Mapping[str, object]:
    """Return an entry. Its fingerprint contains the page, because GitLab merges entries with the same fingerprint."""
    identity = "\n".join((judged.type, page, name, fingerprint))
    return {
        "type": "issue",
        "description": description,
        "check_name": f"{judged.type}/{name}",
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
        "severity": severity,
        # GitLab requires the relative path of a file, and a line; a web page has neither.
        "location": {"path": relative_path(judged.url), "lines": {"begin": 1}},
    }


def _description(check: ExportedFinding, place: str) -> str:
    text = f"{check['title']}: {without_places(check)}" + (f" At {place}" if place else "")
    return " ".join(text.split())
