"""Evidence for a list's results: each visit adds what it found, and the end of the audit adds scores and grades.

Receivers of signals, inside the transaction that ends the visit: it locks scans, then the audit, then the result.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from infrastructure import queue
from infrastructure.queue import is_first_call_in
from scans.models import Scan
from scans.signals import Ended
from sites.models import Audit, ListResult
from sites.models.site_list import Fact, ResultFinding
from website_scan import wording
from website_scan.findings import Severity
from website_scan.messages import cut
from website_scan.result import CheckResult, ScanResult
from website_scan.stored_data import StoredHop
from website_scan.urls import host_of

# Seconds between two counts of a run while it goes on: each writes the counts of the whole run and its tags.
COUNTED_EVERY_S = 2.0
MESSAGE_CHARACTERS = 300
TITLE_CHARACTERS = 200
ERROR_CHARACTERS = 1_000
PERMANENT = (301, 308)  # RFC 9110, sections 15.4.2 and 15.4.9
# The worst comes first.
STATUSES = ("fail", "warn", "pass")
SEVERITIES = tuple(str(each) for each in Severity)
# Facts that are true if a check passes.
PASSED: Mapping[str, str] = {
    "http-to-https-redirect": "https_redirect",
    "security-txt": "security_txt",
    "dnssec": "dnssec",
    "caa": "caa",
    "spf": "spf",
    "dmarc": "dmarc",
}
HSTS = "strict-transport-security"
CERTIFICATE = "tls-cert-expiry"


def collect_visit(*, ended: Ended, **_: object) -> None:
    """Add the findings and facts of a visit to its result, if it is part of a list. Receives `scan_ended`.

    A result that is counted changes no more: a visit may outlive the run that was cancelled.
    """
    first = ended[0][0]
    if not first.is_of_list or first.audit_page_id is None:
        return
    results = ListResult.objects.filter(status__in=(ListResult.Status.STARTED, ListResult.Status.ENDED))
    # The audit is locked, so that the ends of its pages come one after the other.
    result = results.select_for_update(no_key=True, of=("self",)).filter(audit__pages=first.audit_page_id).first()
    if result is None:
        return
    for scan, found in ended:
        if found is not None and found.error is None:
            _add(result, scan, found)
    result.severities = dict(Counter(each["severity"] for each in result.findings))
    result.save(update_fields=["seen", "findings", "severities", "facts", "moved_to"])


def _add(result: ListResult, scan: Scan, found: ScanResult) -> None:
    findings = {(each["type"], each["check"]): each for each in result.findings}
    for check in found.checks:
        result.seen[check.id] = min(check.status, result.seen.get(check.id, "pass"), key=STATUSES.index)
        if check.status == "pass":
            continue
        made, known = _finding(scan, check), findings.get((scan.type, check.id))
        if known is None or _badness(made) < _badness(known):
            findings[scan.type, check.id] = made
    result.findings = sorted(findings.values(), key=_badness)
    is_entry = scan.url == result.url
    facts = facts_of(found)
    # The facts of a site are those of its entry's own address; other pages only tell what that one has not told.
    result.facts = {**result.facts, **facts} if is_entry else {**facts, **result.facts}
    if is_entry:
        result.moved_to = result.moved_to or moved_to(found.exhibits.get("redirects", []))


def _finding(scan: Scan, check: CheckResult) -> ResultFinding:
    return {
        "type": str(scan.type),
        "check": check.id,
        "status": check.status,
        "severity": str(check.severity),
        "outcome": check.outcome,
        "title": _storable(check.title, TITLE_CHARACTERS),
        "message": _storable(wording.message(check), MESSAGE_CHARACTERS),
    }


def _badness(finding: ResultFinding) -> tuple[int, int]:
    return STATUSES.index(finding["status"]), SEVERITIES.index(finding["severity"])


def facts_of(found: ScanResult) -> Fact:
    """Return the facts about a site that a scan of one type has told."""
    facts: Fact = {}
    if final_url := found.facts.get("final_url"):
        facts["final_url"] = _storable(final_url, MESSAGE_CHARACTERS)
        facts["https"] = final_url.startswith("https://")
    if (status := found.facts.get("status")) is not None:
        facts["status"] = status
    if server := found.facts.get("server"):
        facts["server"] = _storable(server, TITLE_CHARACTERS)
    for name, value in found.site.items():
        facts[name] = _storable(value, MESSAGE_CHARACTERS) if isinstance(value, str) else value  # type: ignore[literal-required]  # SiteFacts are part of Fact
    if (headers := found.exhibits.get("headers")) is not None and "https" in facts:
        facts["hsts"] = facts["https"] and any(name.lower() == HSTS for name, _ in headers)
    for check in found.checks:
        if fact := PASSED.get(check.id):
            facts[fact] = check.status == "pass"  # type: ignore[literal-required]
        for leaf in check.details.kept[:1] if check.id == CERTIFICATE else ():
            row = leaf.row()
            facts["certificate_issuer"] = _storable(str(row.get("issuer", "")), TITLE_CHARACTERS)
            facts["certificate_expires_at"] = str(row.get("not_after", ""))
    return facts


def moved_to(hops: list[StoredHop]) -> str:
    """Return the other host that an address permanently redirects to; empty if it does not.

    `hops` are the addresses on the way with their statuses, the page's own last. `www.` makes no other host.
    """
    if not hops:
        return ""
    first, last = (host_of(each["url"]) for each in (hops[0], hops[-1]))
    is_other = first.removeprefix("www.") != last.removeprefix("www.")
    return last[:300] if is_other and all(each["status"] in PERMANENT for each in hops[:-1]) else ""


def end_result(*, audit: Audit, **_: object) -> None:
    """End the result whose audit has just ended, and wake what comes next. Receives `audit_ended`."""
    if audit.run_of != Audit.RunOf.LIST:
        return
    started = ListResult.objects.filter(audit=audit, status=ListResult.Status.STARTED)
    result = started.select_for_update(no_key=True).first()
    if result is None:
        return
    for name, shown in audit.scores.items():
        setattr(result, f"{name}_score", shown["score"])
        setattr(result, f"{name}_grade", shown["grade"] or "")
    result.status = ListResult.Status.ENDED
    result.ended_at = timezone.now()
    result.pages = audit.pages_done
    result.is_partial = audit.status in (Audit.Status.PARTIAL, Audit.Status.CANCELLED)
    if audit.status == Audit.Status.CANCELLED and not audit.error_code:
        result.error_code, result.error_message = "SCAN_CANCELLED", "The audit of this site was cancelled."
    else:
        result.error_code, result.error_message = audit.error_code, cut(audit.error_message, ERROR_CHARACTERS)
    result.save(update_fields=list(_columns_of_end(audit)))
    transaction.on_commit(functools.partial(wake_next, result.site_list_id, result.run_id, audit.organization_id))


def _columns_of_end(audit: Audit) -> Iterator[str]:
    yield from ("status", "ended_at", "pages", "is_partial", "error_code", "error_message")
    for name in audit.types:
        yield from (f"{name}_score", f"{name}_grade")


def wake_next(list_id: str, run_id: str | None, organization_id: int) -> None:
    """Enqueue the count of results that have ended, and the start of due ones. `run_lists` replaces lost messages."""
    results = ListResult.objects.filter(site_list=list_id, run=run_id)
    under_way = results.filter(status__in=(ListResult.Status.WAITING, ListResult.Status.STARTED))
    # The last one is counted at once.
    if run_id is None or is_first_call_in(COUNTED_EVERY_S, f"lists:counted:{run_id}") or not under_way.exists():
        count_soon(list_id, run_id)
    if due_results(organization_id, timezone.now()).exists():
        queue.enqueue("sites.tasks.start_entries", str(organization_id))


def due_results(organization_id: int, now: datetime) -> QuerySet[ListResult]:
    """Return the results of an organization's lists that wait, and whose time has come."""
    waiting = ListResult.objects.filter(status=ListResult.Status.WAITING, starts_at__lte=now)
    return waiting.filter(site_list__organization_id=organization_id)


def count_soon(list_id: str, run_id: str | None) -> None:
    """Enqueue the count of a run's results, or of those of the list that are part of no run."""
    queue.enqueue("sites.tasks.count_results", run_id or list_id)


def _storable(text: str, characters: int) -> str:
    """Cut a text, and remove NUL characters, which PostgreSQL's jsonb refuses."""
    return cut(text.replace("\0", ""), characters)
