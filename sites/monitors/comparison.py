"""Comparison of a run's audit with the confirmed state of its pages, page by page.

Reads a few pages at a time, so that an audit of thousands of pages takes little memory. Pending rows are compressed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import IO, TypedDict, cast

from django.conf import settings
from django.db import connection

from reports.models import Report
from reports.mutes.services import active_mutes
from scans.models import Scan, report_path
from scans.visits.claims import REFUNDED
from sites.models import Audit, AuditPage, Monitor, MonitorState
from sites.models.stored_json import Doubts
from sites.monitors import alerts
from sites.monitors.changes import ChangeGroups, Compared, ComparedPage, IsMuted, compare, count_runs_down, is_down
from sites.monitors.ended_mutes import add_ended_mutes
from sites.monitors.states import has_browser, page_key, reduce_export
from website_scan.catalogue import measured_checks
from website_scan.findings import ScanType
from website_scan.messages import cut
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson, ReducedJson
from website_scan.stored_data import Facts

# Each page has up to four reports of some 100 KB.
PAGES_AT_ONCE = 20
ROWS_AT_ONCE = 50
# A page is reported as unreachable after this number of runs in a row, because one failure may be temporary.
RUNS_DOWN = 2

CONFIRM = """
    UPDATE sites_monitorstate SET scan_id = seen.scan_id, confirmed_at = %s
    FROM unnest(%s::bigint[], %s::text[]) AS seen (id, scan_id) WHERE sites_monitorstate.id = seen.id
"""


@dataclass(slots=True)
class TypeSummary:
    """Summary of a scan type in this run: number of judged pages, the rules that judged them (`bases`), and gaps."""

    is_measured: bool
    pages: int = 0
    bases: set[str] = field(default_factory=set)
    has_gaps: bool = False
    has_new_pages: bool = False

    @property
    def basis(self) -> str:
        return " ".join(sorted(self.bases))


class _PendingRow(TypedDict):
    url: str
    type: str
    scan_id: str
    document: ReducedJson
    doubts: Doubts


@dataclass(slots=True)
class Comparison:
    """Result of a run's comparison. `error` is the code and message of the first page whose failure the site caused.

    `judged` counts pages with at least one compared type. `certificates` has the expiry of the certificate by host.
    """

    changes: ChangeGroups
    reports_unreachable: bool  # whether unreachable pages are reported
    _pending: IO[bytes]  # file of the compressed pending rows
    types: dict[str, TypeSummary] = field(default_factory=dict)
    judged: int = 0
    error: tuple[str, str] | None = None
    certificates: dict[str, str] = field(default_factory=dict)
    _confirming_scans: dict[int, str] = field(default_factory=dict)

    def add_pending_row(self, url: str, type: str, scan_id: str, report: ReducedJson | None, doubts: Doubts) -> None:
        """Add a pending row with the new confirmed report and the doubts of a page and type."""
        row: _PendingRow = {
            "url": url,
            "type": type,
            "scan_id": scan_id,
            "document": report or cast("ReducedJson", {}),
            "doubts": doubts,
        }
        packed = zlib.compress(json.dumps(row).encode(), 1)
        self._pending.write(len(packed).to_bytes(4, "big") + packed)

    def confirm(self, state_id: int, scan_id: str) -> None:
        """Record that this scan confirms the state without a change."""
        self._confirming_scans[state_id] = scan_id

    def write(self, monitor: Monitor, now: datetime) -> None:
        """Write the pending rows to the database, inside the transaction that ends the run."""
        changed = self._read()
        while rows := list(islice(changed, ROWS_AT_ONCE)):
            MonitorState.objects.bulk_create(
                (MonitorState(monitor=monitor, page=page_key(row["url"]), confirmed_at=now, **row) for row in rows),
                update_conflicts=True,
                unique_fields=["monitor", "page", "type"],
                update_fields=["scan_id", "confirmed_at", "document", "doubts"],
            )
        if self._confirming_scans:
            with connection.cursor() as cursor:
                cursor.execute(CONFIRM, [now, list(self._confirming_scans), list(self._confirming_scans.values())])

    def _read(self) -> Iterator[_PendingRow]:
        self._pending.seek(0)
        while length := int.from_bytes(self._pending.read(4), "big"):
            yield json.loads(zlib.decompress(self._pending.read(length)))


def compare_audit(monitor: Monitor, audit: Audit | None, pending: IO[bytes], now: datetime) -> Comparison:
    """Compare a finished audit with the confirmed state of a monitor.

    Writes nothing to the database: pending rows go to the file `pending`.
    """
    changes = ChangeGroups(_is_muted(monitor.organization_id, now))
    comparison = Comparison(changes, alerts.settings_of(monitor)["unreachable"], pending)
    if audit is None or audit.status in (Audit.Status.CANCELLED, Audit.Status.FAILED):
        return comparison
    for batch in _pages(audit):
        _compare_pages(comparison, monitor, batch, audit.kept_days, now)
    return comparison


def _is_muted(organization_id: int, now: datetime) -> IsMuted:
    mutes = active_mutes(organization_id, now)
    return lambda check, outcome, url, fingerprint: mutes.of(check, outcome, url, fingerprint) is not None


def _pages(audit: Audit) -> Iterator[list[AuditPage]]:
    judged = (AuditPage.Status.DONE, AuditPage.Status.FAILED)  # a left-out page is not part of the site
    pages = AuditPage.objects.filter(audit=audit, status__in=judged).exclude(results={}).order_by("position")
    position = -1
    while batch := list(pages.filter(position__gt=position)[:PAGES_AT_ONCE]):
        yield batch
        position = batch[-1].position


def _compare_pages(
    comparison: Comparison, monitor: Monitor, pages: list[AuditPage], kept_days: int, now: datetime
) -> None:
    keys = {page.url: page_key(page.url) for page in pages}
    states: dict[str, dict[str, MonitorState]] = {}
    for state in MonitorState.objects.filter(monitor=monitor, page__in=keys.values()):
        states.setdefault(state.page, {})[state.type] = state
    scan_ids = [result["scan_id"] for page in pages for result in page.results.values()]
    rows = Report.objects.filter(scan__in=scan_ids).values_list("scan_id", "export", "facts")
    reports = {scan_id: (export, facts) for scan_id, export, facts in rows}
    failed = [scan_id for scan_id in scan_ids if scan_id not in reports]
    failures = Scan.objects.filter(id__in=failed).values_list("id", "error_code", "error_message") if failed else ()
    errors = {id: (code, message) for id, code, message in failures}
    for page in pages:
        _Page(comparison, page, states.get(keys[page.url], {}), kept_days, now).compare(reports, errors)


class _Page:
    """Page of the audit with its confirmed state."""

    def __init__(
        self, comparison: Comparison, page: AuditPage, states: dict[str, MonitorState], kept_days: int, now: datetime
    ) -> None:
        self._comparison = comparison
        self._kept_days = kept_days
        self._url = page.url
        self._scans = {name: result["scan_id"] for name, result in page.results.items()}
        self._states = states
        self._now = now

    def compare(self, reports: dict[str, tuple[str, Facts]], errors: dict[str, tuple[str, str]]) -> None:
        """Compare the page type by type; `reports` and `errors` are by scan ID."""
        error: tuple[str, str] | None = None
        is_judged = False
        for name, scan_id in self._scans.items():
            of_type = self._comparison.types.setdefault(name, TypeSummary(bool(measured_checks(ScanType(name)))))
            if scan_id not in reports:
                of_type.has_gaps = True
                error = error or errors.get(scan_id)
                continue
            export, facts = read_export(reports[scan_id][0]), reports[scan_id][1]
            report = reduce_export(export, facts)
            confirmed = self._states[name].confirmed if name in self._states else None
            if is_down(confirmed, report):
                of_type.has_gaps = True
                error = error or ("TARGET_STATUS", f"The page answers with status {report['answer']}.")
                continue
            is_judged = True
            self._compare(name, export, report, of_type)
        if is_judged:
            self._record_answer()
        elif error is not None and error[0] not in REFUNDED:
            self._record_outage(error)

    def _compare(self, name: str, export: ExportJson, report: ReducedJson, of_type: TypeSummary) -> None:
        state = self._states.get(name)
        confirmed, doubts = (state.confirmed, state.doubts) if state else (None, Doubts())
        is_partial = export["status"] == "partial"
        compared = compare(confirmed, doubts, report, is_partial=is_partial, measured=measured_checks(ScanType(name)))
        compared = add_ended_mutes(compared, doubts, report, self._url, self._comparison.changes.is_muted)
        of_type.pages += 1
        of_type.bases.add(f"{report['catalogue_version']}{'+' if has_browser(report) else ''}")
        of_type.has_gaps |= is_partial
        of_type.has_new_pages |= confirmed is None
        if state is None or compared.confirmed != confirmed or compared.doubts != doubts:
            is_waiting = "checks" in compared.doubts or "other" in compared.doubts
            scan_id = state.scan_id if state and confirmed is not None and is_waiting else self._scans[name]
            self._comparison.add_pending_row(self._url, name, scan_id, compared.confirmed, compared.doubts)
        else:
            self._comparison.confirm(state.id, self._scans[name])
        if (certificate := compared.confirmed["certificate"]) is not None:
            host, expiry = certificate
            expiries = self._comparison.certificates
            expiries[host] = min(expiry, expiries.get(host, expiry))
        self._add_changes(name, export, compared)

    def _add_changes(self, name: str, export: ExportJson, compared: Compared) -> None:
        if not compared.changes:
            return
        state = self._states[name]
        has_previous_report = state.confirmed_at > self._now - timedelta(days=self._kept_days)
        page = ComparedPage(
            self._url, name, _report_url(self._scans[name]), _report_url(state.scan_id) if has_previous_report else ""
        )
        checks = (check for category in export["categories"] for check in category["checks"])
        self._comparison.changes.add(
            page,
            compared,
            {check["id"]: check["fix"] for check in checks if check["status"] != "pass" and "fix" in check},
        )

    def _record_answer(self) -> None:
        self._comparison.judged += 1
        doubts = [state.doubts for state in self._states.values()]
        if count_runs_down(doubts) >= RUNS_DOWN:
            changes = self._comparison.changes
            changes.reachable.append({"url": cut(self._url, 1_000)})
            changes.ends_notified_outage |= any(type_doubts.get("is_down_told", False) for type_doubts in doubts)

    def _record_outage(self, error: tuple[str, str]) -> None:
        self._comparison.error = self._comparison.error or error
        runs = 1 + count_runs_down(state.doubts for state in self._states.values())
        if runs == RUNS_DOWN:
            self._comparison.changes.unreachable.append({"url": cut(self._url, 1_000), "message": cut(error[1], 300)})
        for name, scan_id in self._scans.items():
            state = self._states.get(name)
            confirmed, doubts = (state.confirmed, state.doubts) if state else (None, Doubts())
            doubts = {**doubts, "down": min(runs, RUNS_DOWN + 1)}
            if runs == RUNS_DOWN:
                doubts["is_down_told"] = self._comparison.reports_unreachable
            confirmed_by = state.scan_id if state and confirmed is not None else scan_id
            self._comparison.add_pending_row(self._url, name, confirmed_by, confirmed, doubts)


def _report_url(scan_id: str) -> str:
    return f"{settings.BASE_URL}{report_path(scan_id)}"
