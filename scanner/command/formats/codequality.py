"""GitLab's code quality report, its subset of Code Climate's: an entry for each place of a finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from scanner.command.judged import Check, Judged, Outcome, places
from scanner.fingerprints import page_path

SEVERITIES = {"critical": "blocker", "high": "critical", "medium": "major", "low": "minor"}
# As severe as a warning is, which fails no gate.
OF_A_WARNING = "info"


def codequality(outcome: Outcome) -> str:
    """A JSON array. What is accepted is left out; a scan that failed is an entry, for silence would mean all is well.

    GitLab tells what is new by comparing fingerprints with those of the branch that is merged into: they do not hold
    the host, so that a preview is compared with the site. Of pages on several hosts they do.
    """
    is_one_origin = len({urlsplit(each.url)[:2] for each in outcome.reports}) == 1
    named = page_path if is_one_origin else str
    entries = [entry for each in outcome.reports for entry in _entries(each, named(each.url))]
    return json.dumps(entries, indent=2) + "\n"


def _entries(judged: Judged, page: str) -> Iterator[Mapping[str, Any]]:
    if judged.error is not None:
        message = f"The {judged.type} scan failed: {judged.error['message']}"
        yield _entry(judged, page, judged.error["code"], message, "blocker", "")
    for _, check in judged.findings():
        for fingerprint, place in places(check, judged.url).items():
            yield _entry(judged, page, check["id"], _described(check, place), _severity(check), fingerprint)


def _entry(
    judged: Judged, page: str, name: str, description: str, severity: str, fingerprint: str
) -> Mapping[str, Any]:
    """GitLab takes entries with the same fingerprint for one, so each page's is another."""
    identity = "\n".join((judged.type, page, name, fingerprint))
    return {
        "type": "issue",
        "description": description,
        "check_name": f"{judged.type}/{name}",
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
        "severity": severity,
        "location": {"path": page, "lines": {"begin": 1}},  # a page has no lines that anybody edits
    }


def _severity(check: Check) -> str:
    return SEVERITIES[check["severity"]] if check["status"] == "fail" else OF_A_WARNING


def _described(check: Check, place: str) -> str:
    said = f"{check['title']}: {check['message']}" + (f" At {place}" if place else "")
    return " ".join(said.split())
