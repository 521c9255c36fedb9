"""Comparison of a run's audit with the confirmed state of its pages.

Pages are read in small batches and pending rows are compressed, so that audits of thousands of pages need little
memory.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import IO, TypedDict, cast

from django.conf import settings
from django.db import connection
from msgspec import Struct, field
from msgspec.structs import replace

from reports.models import Report
from reports.mutes.services import active_mutes
from scans.models import Scan, report_path
from scans.visits.ending import REFUNDED
from sites.models import Audit, AuditPage, Monitor, MonitorState
from sites.models.stored_json import ReachablePage, UnconfirmedChanges
from sites.monitors import alerts
from sites.monitors.changes import (
    ChangeGroups,
    Compared,
    ComparedPage,
    IsMuted,
    compare,
    count_consecutive_outages,
    is_down,
)
from sites.monitors.ended_mutes import add_ended_mutes
from sites.monitors.repeated_changes import repeated_changes
from sites.monitors.states import has_browser, page_key, reduce_export
from website_scan.catalogue import measured_checks
from website_scan.findings import ScanType
from website_scan.messages import cut
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson, ReducedJson
from website_scan.stored_data import Facts

# The batch is small, because each page has up to four reports of some 100 KB.
PAGES_PER_BATCH = 20
ROWS_AT_ONCE = 50
# A page is reported as unreachable only after this number of consecutive failures, because one may be temporary.
MIN_RUNS_DOWN = 2

CONFIRM = """
    UPDATE sites_monitorstate SET scan_id = seen.scan_id, confirmed_at = %s
    FROM unnest(%s::bigint[], %s::text[]) AS seen (id, scan_id) WHERE sites_monitorstate.id = seen.id
"""


class TypeSummary(Struct):
    """Summary of a scan type in a run.

    `bases` are the catalogue versions of the judged pages.
    """

    is_measured: bool
    pages: int = 0
    bases: set[str] = field(default_factory=set)
    has_gaps: bool = False
    has_new_pages: bool = False

    @property
    def basis(self) -> str:
        return " ".join(sorted(self.bases))


class _PendingRow(TypedDict):
    page: str
    url: str
    type: str
    scan_id: str
    document: ReducedJson
    doubts: UnconfirmedChanges


class Comparison(Struct):
    """Result of comparing a run's audit with the confirmed state of the monitor.

    `error` is the code and message of the first failed page. `judged` counts pages with at least one compared type.
    `certificates` has the expiry of the certificate by host.
    """

    changes: ChangeGroups
    reports_unreachable: bool  # True if the alert settings include unreachable pages.
    _pending: IO[bytes]  # Temporary file for the compressed pending rows.
    measured: frozenset[str] = frozenset()  # IDs of own requirements' checks that measure speed.
    types: dict[str, TypeSummary] = field(default_factory=dict)
    judged: int = 0
    error: tuple[str, str] | None = None
    certificates: dict[str, str] = field(default_factory=dict)
    _confirming_scans: dict[int, str] = field(default_factory=dict)

    def add_pending_row(
        self, page: AuditPage, type: str, scan_id: str, report: ReducedJson | None, doubts: UnconfirmedChanges
    ) -> None:
        """Append a row that `write` saves later."""
        row: _PendingRow = {
            "page": page_key(page.url, page.state),
            "url": page.url,
            "type": type,
            "scan_id": scan_id,
            "document": report or cast("ReducedJson", {}),
            "doubts": doubts,
        }
        packed = zlib.compress(json.dumps(row).encode(), 1)
        self._pending.write(len(packed).to_bytes(4, "big") + packed)

    def confirm(self, state_id: int, scan_id: str) -> None:
        """Record that a scan has confirmed a page's state without a change."""
        self._confirming_scans[state_id] = scan_id

    def write(self, monitor: Monitor, now: datetime) -> None:
        """Write the pending rows to the database, in the transaction that finishes the run."""
        changed = self._read()
        while rows := list(islice(changed, ROWS_AT_ONCE)):
            MonitorState.objects.bulk_create(
                (MonitorState(monitor=monitor, confirmed_at=now, **row) for row in rows),
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
    changes = ChangeGroups(_mute_predicate(monitor.organization_id, now))
    comparison = Comparison(changes, alerts.alert_settings_of(monitor)["unreachable"], pending)
    if audit is None or audit.status in (Audit.Status.CANCELLED, Audit.Status.FAILED):
        return comparison
    if (requirements := audit.own_requirements) is not None:
        comparison.measured = requirements.measured_checks
    for batch in _pages(audit):
        _compare_pages(comparison, monitor, batch, audit.kept_days, now)
    return comparison


def _mute_predicate(organization_id: int, now: datetime) -> IsMuted:
    mutes = active_mutes(organization_id, now)
    return lambda check, outcome, url, fingerprint: mutes.of(check, outcome, url, fingerprint) is not None


def _pages(audit: Audit) -> Iterator[list[AuditPage]]:
    # Pages with the status `left_out` are missing, because they are not part of the site.
    judged = (AuditPage.Status.DONE, AuditPage.Status.FAILED)
    pages = AuditPage.objects.filter(audit=audit, status__in=judged).exclude(results={}).order_by("position")
    position = -1
    while batch := list(pages.filter(position__gt=position)[:PAGES_PER_BATCH]):
        yield batch
        position = batch[-1].position


def _compare_pages(
    comparison: Comparison, monitor: Monitor, pages: list[AuditPage], kept_days: int, now: datetime
) -> None:
    keys = {page.id: page_key(page.url, page.state) for page in pages}
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
        _Page(comparison, page, states.get(keys[page.id], {}), kept_days, now).compare(reports, errors)


class _Page:
    """Comparison of one audit page with its confirmed state."""

    def __init__(
        self, comparison: Comparison, page: AuditPage, states: dict[str, MonitorState], kept_days: int, now: datetime
    ) -> None:
        self._comparison = comparison
        self._kept_days = kept_days
        self._page = page
        self._scans = {name: result["scan_id"] for name, result in page.results.items()}
        self._states = states
        self._now = now
        self._changed: dict[ScanType, tuple[Compared, dict[str, str]]] = {}

    def compare(self, reports: dict[str, tuple[str, Facts]], errors: dict[str, tuple[str, str]]) -> None:
        """Compare the page for each scan type.

        Keys of `reports` and `errors` are scan IDs.
        """
        error: tuple[str, str] | None = None
        is_judged = False
        for name, scan_id in self._scans.items():
            type_summary = self._comparison.types.setdefault(name, TypeSummary(bool(measured_checks(ScanType(name)))))
            if scan_id not in reports:
                type_summary.has_gaps = True
                error = error or errors.get(scan_id)
                continue
            export, facts = read_export(reports[scan_id][0]), reports[scan_id][1]
            report = reduce_export(export, facts)
            confirmed = self._states[name].confirmed if name in self._states else None
            if is_down(confirmed, report):
                type_summary.has_gaps = True
                error = error or ("TARGET_STATUS", f"The page answers with status {report['answer']}.")
                continue
            is_judged = True
            self._compare(name, export, report, type_summary)
        self._add_changes()
        if is_judged:
            self._record_reachable_page()
        elif error is not None and error[0] not in REFUNDED:
            self._record_unreachable_page(error)

    def _compare(self, name: str, export: ExportJson, report: ReducedJson, type_summary: TypeSummary) -> None:
        state = self._states.get(name)
        confirmed, doubts = (state.confirmed, state.doubts) if state else (None, UnconfirmedChanges())
        is_partial = export["status"] == "partial"
        measured = measured_checks(ScanType(name)) | self._comparison.measured
        compared = compare(confirmed, doubts, report, is_partial=is_partial, measured=measured)
        compared = add_ended_mutes(compared, doubts, report, self._page.url, self._comparison.changes.is_muted)
        type_summary.pages += 1
        type_summary.bases.add(f"{report['catalogue_version']}{'+' if has_browser(report) else ''}")
        type_summary.has_gaps |= is_partial
        type_summary.has_new_pages |= confirmed is None
        if state is None or compared.confirmed != confirmed or compared.doubts != doubts:
            is_waiting = "checks" in compared.doubts or "other" in compared.doubts
            scan_id = state.scan_id if state and confirmed is not None and is_waiting else self._scans[name]
            self._comparison.add_pending_row(self._page, name, scan_id, compared.confirmed, compared.doubts)
        else:
            self._comparison.confirm(state.id, self._scans[name])
        if (certificate := compared.confirmed["certificate"]) is not None:
            host, expiry = certificate
            expiries = self._comparison.certificates
            expiries[host] = min(expiry, expiries.get(host, expiry))
        if compared.changes:
            checks = (check for category in export["categories"] for check in category["checks"])
            fixes = {check["id"]: check["fix"] for check in checks if check["status"] != "pass" and "fix" in check}
            self._changed[ScanType(name)] = (compared, fixes)

    def _add_changes(self) -> None:
        """Add the changes of all scan types.

        A fact that two types report is added only once.
        """
        changes = self._comparison.changes
        repeated = repeated_changes(
            {
                scan_type: list(changes.unmuted(self._page.url, compared))
                for scan_type, (compared, _) in self._changed.items()
            },
            {scan_type: (compared.former, compared.confirmed) for scan_type, (compared, _) in self._changed.items()},
        )
        for scan_type, (compared, fixes) in self._changed.items():
            omitted = {(direction, change.id) for direction, change in repeated[scan_type]}
            for direction, change in repeated[scan_type]:
                changes.add_repeated(direction, change)
            remaining = tuple(each for each in compared.changes if (each[0], each[1].id) not in omitted)
            state = self._states[scan_type]
            has_previous_report = state.confirmed_at > self._now - timedelta(days=self._kept_days)
            page = ComparedPage(
                self._page.url,
                str(scan_type),
                _report_url(self._scans[scan_type]),
                _report_url(state.scan_id) if has_previous_report else "",
                self._page.state,
            )
            changes.add(page, replace(compared, changes=remaining), fixes)

    def _record_reachable_page(self) -> None:
        self._comparison.judged += 1
        doubts = [state.doubts for state in self._states.values()]
        if count_consecutive_outages(doubts) >= MIN_RUNS_DOWN:
            changes = self._comparison.changes
            changes.reachable.append(self._reachable_page())
            changes.ends_notified_outage |= any(doubts_of_type.get("is_down_told", False) for doubts_of_type in doubts)

    def _reachable_page(self) -> ReachablePage:
        page: ReachablePage = {"url": cut(self._page.url, 1_000)}
        if self._page.state:
            page["state"] = self._page.state
        return page

    def _record_unreachable_page(self, error: tuple[str, str]) -> None:
        self._comparison.error = self._comparison.error or error
        runs = 1 + count_consecutive_outages(state.doubts for state in self._states.values())
        if runs == MIN_RUNS_DOWN:
            self._comparison.changes.unreachable.append({**self._reachable_page(), "message": cut(error[1], 300)})
        for name, scan_id in self._scans.items():
            state = self._states.get(name)
            confirmed, doubts = (state.confirmed, state.doubts) if state else (None, UnconfirmedChanges())
            doubts = {**doubts, "down": min(runs, MIN_RUNS_DOWN + 1)}
            if runs == MIN_RUNS_DOWN:
                doubts["is_down_told"] = self._comparison.reports_unreachable
            confirmed_by = state.scan_id if state and confirmed is not None else scan_id
            self._comparison.add_pending_row(self._page, name, confirmed_by, confirmed, doubts)


def _report_url(scan_id: str) -> str:
    return f"{settings.BASE_URL}{report_path(scan_id)}"
