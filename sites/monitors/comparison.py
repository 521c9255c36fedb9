"""Comparison of a run's audit with the confirmed state of its pages, page by page.

Reads a few pages at a time, so that an audit of thousands takes little memory; pending rows wait compressed.
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
from sites.models.documents import Doubts
from sites.monitors import alerts
from sites.monitors.changes import ChangeGroups, Compared, ComparedPage, IsMuted, compare, is_down, runs_down
from sites.monitors.ended_mutes import with_ended_mutes
from sites.monitors.states import has_browser, page_key, reduced
from website_scan.catalogue import measured_checks
from website_scan.findings import ScanType
from website_scan.messages import cut
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson, ReducedJson
from website_scan.stored_data import Facts

# Each page has up to four reports of some 100 KB.
PAGES_AT_ONCE = 20
ROWS_AT_ONCE = 50
# Number of runs in a row without the page after which it is reported as unreachable: once may be temporary.
RUNS_DOWN = 2

CONFIRM = """
    UPDATE sites_monitorstate SET scan_id = seen.scan_id, confirmed_at = %s
    FROM unnest(%s::bigint[], %s::text[]) AS seen (id, scan_id) WHERE sites_monitorstate.id = seen.id
"""


@dataclass(slots=True)
class TypeSummary:
    """Summary of a type in this run: number of judged pages, their rules (`bases`), and gaps."""

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
    """Result of a run's comparison. `error`: code and message of the first page that failed through its own fault.

    `judged` counts the pages with at least one compared type; `certificates` has the expiry of each host's certificate.
    """

    changes: ChangeGroups
    tells_unreachable: bool  # whether a page that is unreachable is worth a message
    _pending: IO[bytes]  # the pending rows, one after the other, compressed
    types: dict[str, TypeSummary] = field(default_factory=dict)
    judged: int = 0
    error: tuple[str, str] | None = None
    certificates: dict[str, str] = field(default_factory=dict)
    _seen: dict[int, str] = field(default_factory=dict)

    def keep(self, url: str, type: str, scan_id: str, document: ReducedJson | None, doubts: Doubts) -> None:
        """Add a pending row with the new confirmed state and doubts of a page and type."""
        row: _PendingRow = {
            "url": url,
            "type": type,
            "scan_id": scan_id,
            "document": document or cast("ReducedJson", {}),
            "doubts": doubts,
        }
        packed = zlib.compress(json.dumps(row).encode(), 1)
        self._pending.write(len(packed).to_bytes(4, "big") + packed)

    def confirm(self, state_id: int, scan_id: str) -> None:
        """Record that this scan confirms the state unchanged."""
        self._seen[state_id] = scan_id

    def write(self, monitor: Monitor, now: datetime) -> None:
        """Write the pending rows to the table, inside the transaction that ends the run."""
        changed = self._read()
        while rows := list(islice(changed, ROWS_AT_ONCE)):
            MonitorState.objects.bulk_create(
                (MonitorState(monitor=monitor, page=page_key(row["url"]), confirmed_at=now, **row) for row in rows),
                update_conflicts=True,
                unique_fields=["monitor", "page", "type"],
                update_fields=["scan_id", "confirmed_at", "document", "doubts"],
            )
        if self._seen:
            with connection.cursor() as cursor:
                cursor.execute(CONFIRM, [now, list(self._seen), list(self._seen.values())])

    def _read(self) -> Iterator[_PendingRow]:
        self._pending.seek(0)
        while length := int.from_bytes(self._pending.read(4), "big"):
            yield json.loads(zlib.decompress(self._pending.read(length)))


def compare_audit(monitor: Monitor, audit: Audit | None, pending: IO[bytes], now: datetime) -> Comparison:
    """Compare a finished audit with the monitor's confirmed state.

    Writes nothing to the database: pending rows wait in the file `pending`.
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
    judged = (AuditPage.Status.DONE, AuditPage.Status.FAILED)  # a visited page that is left out is none of the site
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
    found = Report.objects.filter(scan__in=scan_ids).values_list("scan_id", "export", "facts")
    reports = {scan_id: (export, facts) for scan_id, export, facts in found}
    failed = [each for each in scan_ids if each not in reports]
    rows = Scan.objects.filter(id__in=failed).values_list("id", "error_code", "error_message") if failed else ()
    errors = {id: (code, message) for id, code, message in rows}
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
            report = reduced(export, facts)
            known = self._states[name].known if name in self._states else None
            if is_down(known, report):
                of_type.has_gaps = True
                error = error or ("TARGET_STATUS", f"The page answers with status {report['answer']}.")
                continue
            is_judged = True
            self._compare(name, export, report, of_type)
        if is_judged:
            self._back()
        elif error is not None and error[0] not in REFUNDED:
            self._away(error)

    def _compare(self, name: str, export: ExportJson, report: ReducedJson, of_type: TypeSummary) -> None:
        state = self._states.get(name)
        known, doubts = (state.known, state.doubts) if state else (None, Doubts())
        is_partial = export["status"] == "partial"
        compared = compare(known, doubts, report, is_partial=is_partial, measured=measured_checks(ScanType(name)))
        compared = with_ended_mutes(compared, doubts, report, self._url, self._comparison.changes.is_muted)
        of_type.pages += 1
        of_type.bases.add(f"{report['catalogue_version']}{'+' if has_browser(report) else ''}")
        of_type.has_gaps |= is_partial
        of_type.has_new_pages |= known is None
        if state is None or compared.document != known or compared.doubts != doubts:
            is_waiting = "checks" in compared.doubts or "other" in compared.doubts
            scan_id = state.scan_id if state and known is not None and is_waiting else self._scans[name]
            self._comparison.keep(self._url, name, scan_id, compared.document, compared.doubts)
        else:
            self._comparison.confirm(state.id, self._scans[name])
        if (certificate := compared.document["certificate"]) is not None:
            host, end = certificate
            ends = self._comparison.certificates
            ends[host] = min(end, ends.get(host, end))
        self._tell(name, export, compared)

    def _tell(self, name: str, export: ExportJson, compared: Compared) -> None:
        if not compared.changes:
            return
        state = self._states[name]
        is_kept = state.confirmed_at > self._now - timedelta(days=self._kept_days)
        page = ComparedPage(
            self._url, name, _report_url(self._scans[name]), _report_url(state.scan_id) if is_kept else ""
        )
        checks = (check for category in export["categories"] for check in category["checks"])
        self._comparison.changes.add(
            page, compared, {each["id"]: each["fix"] for each in checks if each["status"] != "pass" and "fix" in each}
        )

    def _back(self) -> None:
        self._comparison.judged += 1
        doubts = [each.doubts for each in self._states.values()]
        if runs_down(doubts) >= RUNS_DOWN:
            changes = self._comparison.changes
            changes.reachable.append({"url": cut(self._url, 1_000)})
            changes.ends_told_outage |= any(each.get("is_down_told", False) for each in doubts)

    def _away(self, error: tuple[str, str]) -> None:
        self._comparison.error = self._comparison.error or error
        runs = 1 + runs_down(each.doubts for each in self._states.values())
        if runs == RUNS_DOWN:
            self._comparison.changes.unreachable.append({"url": cut(self._url, 1_000), "message": cut(error[1], 300)})
        for name, scan_id in self._scans.items():
            state = self._states.get(name)
            known, doubts = (state.known, state.doubts) if state else (None, Doubts())
            doubts = {**doubts, "down": min(runs, RUNS_DOWN + 1)}
            if runs == RUNS_DOWN:
                doubts["is_down_told"] = self._comparison.tells_unreachable
            confirmed_by = state.scan_id if state and known is not None else scan_id
            self._comparison.keep(self._url, name, confirmed_by, known, doubts)


def _report_url(scan_id: str) -> str:
    return f"{settings.BASE_URL}{report_path(scan_id)}"
