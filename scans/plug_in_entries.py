"""Entries of plug-ins' checks in the catalogue that the service displays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scans.check_entries import CheckEntry, OutcomeEntry
from website_scan.plugins.description import DescribedCheck
from website_scan.plugins.registry import UsedPlugIn
from website_scan.report_json import StoredFix
from website_scan.scoring import SEVERITY_WEIGHT
from website_scan.wording import catalogue_fix

EVIDENCE = {
    "page": "The page as the server sent it",
    "document": "The markup of the page as it was sent",
    "requests": "The requests of the browser that loaded the page",
    "rendered": "The markup of the page after its scripts have run",
    "network": "Answers to requests of the plug-in",
}


def entries_of_plug_ins(plug_ins: Sequence[UsedPlugIn], own: Mapping[str, CheckEntry]) -> dict[str, CheckEntry]:
    """Return entries for the checks of plug-ins, by ID. `own` are the entries of the scanner's checks."""
    weights = {entry.type: entry.weight_of_all for entry in own.values() if not entry.journeys_only}
    for scan_type in weights:
        weights[scan_type] += sum(
            used.weight
            for used in plug_ins
            for _ in {check.category_id for check in used.description.checks if check.type is scan_type}
        )
    return {
        check.id: _entry(check, used, weights[check.type]) for used in plug_ins for check in used.description.checks
    }


def _entry(check: DescribedCheck, used: UsedPlugIn, weight_of_all: int) -> CheckEntry:
    declared, weighted = check.declaration, check.weighted(used.weight)
    members = [other for other in used.description.checks if other.category_id == check.category_id]
    share = SEVERITY_WEIGHT[declared.severity] / sum(SEVERITY_WEIGHT[other.declaration.severity] for other in members)
    how_to_fix: StoredFix = {
        "text": declared.own_fix.text,
        "snippets": [{"label": label, "code": code} for label, code in declared.own_fix.snippets_for(None).items()],
    }
    return CheckEntry(
        id=check.id,
        name=declared.name,
        found=declared.found,
        outcomes=tuple(_outcome(check, name) for name in declared.outcomes),
        why=declared.why,
        judged=declared.judged,
        type=check.type,
        category=check.category.name,
        category_weight=used.weight,
        category_weight_without_browser=None,
        weight_of_all=weight_of_all,
        journeys_only=False,
        share_percent=round(100 * share, 1),
        severity=declared.severity,
        evidence=tuple(EVIDENCE[name] for name in EVIDENCE if name in check.evidence),
        caps=(),
        html_only=bool(weighted.html),
        error_pages=bool(weighted.error_pages),
        measured=False,
        needs_browser=check.needs_browser,
        fix=catalogue_fix(declared.own_fix),
        how_to_fix=how_to_fix,
        references=declared.references,
        plug_in=f"{used.name} {used.installed.version}",
    )


def _outcome(check: DescribedCheck, name: str) -> OutcomeEntry:
    outcome = check.declaration.outcome(name)
    return OutcomeEntry(name, outcome.title, tuple(map(str, outcome.severities)), outcome.consequence, "")
