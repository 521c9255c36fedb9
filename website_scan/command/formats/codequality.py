"""Write GitLab's code quality report.

It has one entry for each place of a finding. The format is a subset of Code Climate's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from website_scan.command.gate import LOG_IN_MESSAGE, CommandReport, CommandResult
from website_scan.fingerprints import page_path
from website_scan.report.levels import finding_level
from website_scan.report.places import occurrences_by_fingerprint
from website_scan.report.sarif_messages import relative_path
from website_scan.report_json import ExportedFinding
from website_scan.wording import message_without_places
from website_scan.written_urls import split_url


def codequality(result: CommandResult) -> str:
    """Return GitLab's code quality report without accepted findings.

    It is a JSON array. Each failed scan is an entry, too. GitLab finds new entries by comparing their fingerprints with
    the target branch. The fingerprints do not contain the host, so that a preview can be compared with the site, unless
    the pages are on several origins.
    """
    have_same_origin = len({split_url(report.url)[:2] for report in result.reports}) == 1
    address = page_path if have_same_origin else str
    entries = [
        entry for report in result.reports for entry in _entries(report, report.page.with_address(address(report.url)))
    ]
    return json.dumps(entries, indent=2) + "\n"


def _entries(report: CommandReport, page: str) -> Iterator[Mapping[str, object]]:
    if report.error is not None:
        message = f"The {report.type} scan failed: {report.error['message']}"
        yield _entry(report, page, report.error["code"], message, "blocker", "")
    if report.needs_log_in:
        yield _entry(report, page, "log-in", f"{report.addresses}: {LOG_IN_MESSAGE}", "critical", "")
    for _, check in report.findings():
        severity = finding_level(check).code_quality
        for fingerprint, places in occurrences_by_fingerprint(check).items():
            for number, place in enumerate(places):
                identity = f"{fingerprint} {number}" if number else fingerprint
                yield _entry(report, page, check["id"], _description(check, place), severity, identity)


def _entry(
    report: CommandReport, page: str, name: str, description: str, severity: str, fingerprint: str
) -> Mapping[str, object]:
    """Return an entry whose fingerprint contains the page.

    GitLab merges entries with the same fingerprint.
    """
    identity = "\n".join((report.type, page, name, fingerprint))
    return {
        "type": "issue",
        "description": f"{report.page.state_name}: {description}" if report.page.state else description,
        "check_name": f"{report.type}/{name}",
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
        "severity": severity,
        # GitLab requires a file and a line, which a web page does not have.
        "location": {"path": relative_path(report.url), "lines": {"begin": 1}},
    }


def _description(check: ExportedFinding, place: str) -> str:
    text = f"{check['title']}: {message_without_places(check)}" + (f" At {place}" if place else "")
    return " ".join(text.split())
