"""Collection of list results from visits and audits.

A visit adds findings and facts. The end of the audit adds scores and grades. The signal receivers run in the
transaction that ends the visit. Lock order: scans, then the audit, then the result.
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
from sites.lists.room import has_room_for_batch
from sites.models import Audit, ListResult
from sites.models.site_list import Fact, ResultFinding
from website_scan import wording
from website_scan.findings import Severity
from website_scan.messages import cut
from website_scan.result import CheckResult, ScanResult
from website_scan.stored_data import StoredHop
from website_scan.urls import host_of

# Each count rewrites the counts of the run and its tags, so a running run is not counted more often than this.
MIN_COUNT_INTERVAL_S = 2.0
MAX_MESSAGE_LENGTH = 300
MAX_TITLE_LENGTH = 200
MAX_ERROR_LENGTH = 1_000
# Permanent redirects, RFC 9110, sections 15.4.2 and 15.4.9.
PERMANENT_REDIRECTS = (301, 308)
# Statuses of checks, the worst first.
STATUSES = ("fail", "warn", "pass")
SEVERITIES = tuple(str(severity) for severity in Severity)
# Facts that are true if a check passes, by check ID.
FACTS_OF_CHECKS: Mapping[str, str] = {
    "http-to-https-redirect": "https_redirect",
    "security-txt": "security_txt",
    "dnssec": "dnssec",
    "caa": "caa",
    "ipv6": "ipv6",
    "name-server-ipv6": "name_server_ipv6",
    "name-servers": "name_server_networks",
    "dane": "dane",
    "route-origin": "rpki",
    "mx": "mx",
    "spf": "spf",
    "dkim": "dkim",
    "dmarc": "dmarc",
    "mta-sts": "mta_sts",
    "tls-rpt": "tls_rpt",
    "mail-server-starttls": "mail_starttls",
    "mail-server-dane": "mail_dane",
}
HSTS = "strict-transport-security"
CERTIFICATE = "tls-cert-expiry"


def collect_visit(*, ended: Ended, **_: object) -> None:
    """Add a visit's findings and facts to its list result.

    Visits that belong to no list are ignored. Receives the signal `scan_ended`. Counted results do not change, because
    a visit may still be running after its list run was cancelled.
    """
    first = ended[0][0]
    if not first.is_of_list or first.audit_page_id is None:
        return
    results = ListResult.objects.filter(status__in=(ListResult.Status.STARTED, ListResult.Status.ENDED))
    # The caller has locked the audit, so that visits of several pages do not update the result concurrently.
    result = results.select_for_update(no_key=True, of=("self",)).filter(audit__pages=first.audit_page_id).first()
    if result is None:
        return
    for scan, scan_result in ended:
        if scan_result is not None and scan_result.error is None:
            _add_findings(result, scan, scan_result)
    result.severities = dict(Counter(finding["severity"] for finding in result.findings))
    result.save(update_fields=["seen", "findings", "severities", "facts", "moved_to"])


def _add_findings(result: ListResult, scan: Scan, scan_result: ScanResult) -> None:
    findings = {(finding["type"], finding["check"]): finding for finding in result.findings}
    for check in scan_result.checks:
        result.seen[check.id] = min(check.status, result.seen.get(check.id, "pass"), key=STATUSES.index)
        if check.status == "pass":
            continue
        finding, worst = _result_finding(scan, check), findings.get((scan.type, check.id))
        if worst is None or _badness_rank(finding) < _badness_rank(worst):
            findings[scan.type, check.id] = finding
    result.findings = sorted(findings.values(), key=_badness_rank)
    is_entry_url = scan.url == result.url
    facts = facts_of(scan_result)
    # Facts of the entry's own URL take precedence. Other pages of the site only add missing facts.
    result.facts = {**result.facts, **facts} if is_entry_url else {**facts, **result.facts}
    if is_entry_url:
        result.moved_to = result.moved_to or moved_to(scan_result.exhibits.get("redirects", []))


def _result_finding(scan: Scan, check: CheckResult) -> ResultFinding:
    return {
        "type": str(scan.type),
        "check": check.id,
        "status": check.status,
        "severity": str(check.severity),
        "outcome": check.outcome,
        "title": _truncated_without_nul(check.title, MAX_TITLE_LENGTH),
        "message": _truncated_without_nul(wording.message(check), MAX_MESSAGE_LENGTH),
    }


def _badness_rank(finding: ResultFinding) -> tuple[int, int]:
    return STATUSES.index(finding["status"]), SEVERITIES.index(finding["severity"])


def facts_of(scan_result: ScanResult) -> Fact:
    """Return the facts about a site from the results of one scan."""
    facts: Fact = {}
    if final_url := scan_result.facts.get("final_url"):
        facts["final_url"] = _truncated_without_nul(final_url, MAX_MESSAGE_LENGTH)
        facts["https"] = final_url.startswith("https://")
    if (status := scan_result.facts.get("status")) is not None:
        facts["status"] = status
    if server := scan_result.facts.get("server"):
        facts["server"] = _truncated_without_nul(server, MAX_TITLE_LENGTH)
    for name, value in scan_result.site.items():
        facts[name] = _truncated_without_nul(value, MAX_MESSAGE_LENGTH) if isinstance(value, str) else value  # type: ignore[literal-required]  # SiteFacts are part of Fact
    if (headers := scan_result.exhibits.get("headers")) is not None and "https" in facts:
        facts["hsts"] = facts["https"] and any(name.lower() == HSTS for name, _ in headers)
    for check in scan_result.checks:
        if fact := FACTS_OF_CHECKS.get(check.id):
            facts[fact] = check.status == "pass"  # type: ignore[literal-required]
        for leaf in check.details.kept[:1] if check.id == CERTIFICATE else ():
            row = leaf.row()
            facts["certificate_issuer"] = _truncated_without_nul(str(row.get("issuer", "")), MAX_TITLE_LENGTH)
            facts["certificate_expires_at"] = str(row.get("not_after", ""))
    return facts


def moved_to(hops: list[StoredHop]) -> str:
    """Return the other host that a URL permanently redirects to, or an empty string.

    `hops` are the redirects with their HTTP statuses; the last hop is the final page. Hosts that differ only by
    a leading `www.` count as the same host.
    """
    if not hops:
        return ""
    first, last = (host_of(hop["url"]) for hop in (hops[0], hops[-1]))
    is_other_host = first.removeprefix("www.") != last.removeprefix("www.")
    return last[:300] if is_other_host and all(hop["status"] in PERMANENT_REDIRECTS for hop in hops[:-1]) else ""


def end_result(*, audit: Audit, **_: object) -> None:
    """End the list result whose audit has ended, and enqueue the next tasks.

    Receives the signal `audit_ended`.
    """
    if audit.run_of != Audit.RunOf.LIST:
        return
    started = ListResult.objects.filter(audit=audit, status=ListResult.Status.STARTED)
    result = started.select_for_update(no_key=True).first()
    if result is None:
        return
    for name, score in audit.scores.items():
        setattr(result, f"{name}_score", score["score"])
        setattr(result, f"{name}_grade", score["grade"] or "")
    result.status = ListResult.Status.ENDED
    result.ended_at = timezone.now()
    result.pages = audit.pages_done
    result.is_partial = audit.status in (Audit.Status.PARTIAL, Audit.Status.CANCELLED)
    if audit.status == Audit.Status.CANCELLED and not audit.error_code:
        result.error_code, result.error_message = "SCAN_CANCELLED", "The audit of this site was cancelled."
    else:
        result.error_code, result.error_message = audit.error_code, cut(audit.error_message, MAX_ERROR_LENGTH)
    result.save(update_fields=list(_end_columns(audit)))
    transaction.on_commit(
        functools.partial(enqueue_next_tasks, result.site_list_id, result.run_id, audit.organization_id)
    )


def _end_columns(audit: Audit) -> Iterator[str]:
    yield from ("status", "ended_at", "pages", "is_partial", "error_code", "error_message")
    for name in audit.types:
        yield from (f"{name}_score", f"{name}_grade")


def enqueue_next_tasks(list_id: str, run_id: str | None, organization_id: int) -> None:
    """Enqueue the tasks that count ended results and start due results.

    The task `run_lists` handles lost messages.
    """
    results = ListResult.objects.filter(site_list=list_id, run=run_id)
    unfinished = results.filter(status__in=(ListResult.Status.WAITING, ListResult.Status.STARTED))
    # The last result of a run is counted immediately, because it ends the run.
    if run_id is None or is_first_call_in(MIN_COUNT_INTERVAL_S, f"lists:counted:{run_id}") or not unfinished.exists():
        enqueue_count(list_id, run_id)
    if has_room_for_batch(organization_id) and due_results(organization_id, timezone.now()).exists():
        queue.enqueue("sites.tasks.start_entries", str(organization_id))


def due_results(organization_id: int, now: datetime) -> QuerySet[ListResult]:
    """Return the waiting results of an organization's lists that are due to start."""
    waiting = ListResult.objects.filter(status=ListResult.Status.WAITING, starts_at__lte=now)
    return waiting.filter(site_list__organization_id=organization_id, site_list__deleted_at=None)


def enqueue_count(list_id: str, run_id: str | None) -> None:
    """Enqueue the task that counts a run's ended results.

    If `run_id` is None, the task counts the list's results outside runs.
    """
    queue.enqueue("sites.tasks.count_results", run_id or list_id)


def _truncated_without_nul(text: str, characters: int) -> str:
    """Truncate a text and remove NUL characters, which PostgreSQL's jsonb rejects."""
    return cut(text.replace("\0", ""), characters)
