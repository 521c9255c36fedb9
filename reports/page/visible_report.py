"""Report page of a scan, limited to the parts that its reader may see."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString

from accounts.roles import page_of
from accounts.shared_pages import readers_sentence, sees_everything
from reports.formats import report_formats
from reports.models import HAS_SCREENSHOT, Report
from reports.mutes.services import active_mutes
from reports.page.cached.parts import cached_parts, comparison_html, history_html
from reports.page.conformance import conformance_url
from reports.page.history import history
from reports.page.preview import preview_of
from reports.page.reader_muting import muting_of
from reports.page.tabs import report_tabs
from reports.visibility import VisibleScan
from website_scan.report.developer_text import DeveloperText, severe_findings
from website_scan.report.filters import Filter
from website_scan.report.illustrations import Illustrations, create_illustrations
from website_scan.report.linked_reports import OtherReport
from website_scan.report.report_page import ReportPage, report_page
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson
from website_scan.stored_data import PicturePlaces


class VisibleReport:
    """Report of a scan, limited to the parts that its reader may see.

    `report` is the row without its large columns, which are loaded only if a part of the page is not in the cache.
    """

    def __init__(self, request: HttpRequest, visible: VisibleScan, report: Report) -> None:
        self.request = request
        self.report = report
        self.visible = visible
        self.scan = visible.scan
        self.mutes = active_mutes(visible.scan.organization_id, visible.now).of_page(visible.scan.url)
        self.page_filter = Filter.parse_query(request.GET, visible.scan.type)
        self.tabs = report_tabs(visible)
        # Mutes are part of the cache key, because they change the page of a report that never changes.
        self.key = (report.id, frozenset(self.mutes))

    def context(self) -> dict[str, Any]:
        """Return the template context of the page, without the history and the cached parts."""
        membership = self.visible.membership
        return {
            "report": self.report,
            "preview": preview_of(self.scan),
            "muted_by": membership.organization.name if membership else "the organization that owns it",
            "muted_url": page_of(membership, "mutes") if membership and sees_everything(membership) else "",
            "formats": report_formats(),
            "is_shared": self.is_shared,
            "tabs": self.tabs,
            "is_sample": False,
        }

    def past(self) -> dict[str, Any]:
        """Return the template context of the history.

        It is empty for strangers, because other scans are private.
        """
        if not self.visible.membership:
            return {"history": None, "past": "", "since": ""}
        past = history(self.scan, lambda: self.export_json, self.visible.now, self.mutes)
        return {
            "history": past,
            "past": history_html(past, self.scan, key=self.key),
            "since": comparison_html(past, self.scan, key=self.key),
        }

    def parts(self, context: dict[str, Any]) -> dict[str, SafeString]:
        """Return the HTML of the page's parts by name, from the cache if possible."""
        reader_key = (context["is_member"], context["may_scan"], context["muted_by"], context["muted_url"])
        return cached_parts(
            lambda: {"page": self.page, "report": self.row},
            self.request,
            context,
            self.page_filter,
            key=(*self.key, reader_key, context["since"], *self.other_ids),
        )

    @cached_property
    def row(self) -> Report:
        """Report row with all columns of the page.

        Raises Http404 if the report is no longer available.
        """
        rows = self.visible.reports().defer("body", "screenshot", "page_picture", "film")
        row = rows.annotate(has_screenshot=HAS_SCREENSHOT).first()
        if row is None:
            raise Http404
        return row

    @cached_property
    def export_json(self) -> ExportJson:
        return self.row.export_json

    @cached_property
    def page(self) -> ReportPage:
        return report_page(
            self.export_json,
            self.row.facts,
            self.row.waterfall,
            muting_of(self.mutes, self.row, self.visible.membership),
            chosen=self.page_filter,
            check_pages=reverse("docs-checks"),
            exhibits=self.row.exhibits,
            illustrations=_illustrations(self.row.pictures, self.scan.id),
            others=self.others,
            conformance_url=conformance_url(self.scan),
        )

    def developer_text(self) -> str:
        """Return the report as plain text for a web developer."""
        muting = muting_of(self.mutes, self.row, self.visible.membership)
        return DeveloperText(
            address=self.scan.url,
            day=self.scan.created_at.date(),
            grades={tab.label: tab.grade or "" for tab in self.tabs if tab.scan_id},
            findings=severe_findings(self.export_json, muting.findings(self.export_json), self.scan.get_type_display()),
            link=self.scan.report_url,
            readers=readers_sentence(self.visible.membership, is_shared=self.is_shared),
        ).render()

    @property
    def is_shared(self) -> bool:
        """Return True if anybody with the link may read the report."""
        audit = self.visible.audit
        return bool(self.report.shared_at or (audit and audit.shared_at))

    @cached_property
    def other_ids(self) -> list[str]:
        """IDs of the scans that the page's other tabs link to."""
        return sorted(tab.scan_id for tab in self.tabs if tab.scan_id and not tab.is_current)

    @property
    def others(self) -> list[OtherReport]:
        """Reports of the other types in the same visit.

        Without other types, no query is executed.
        """
        if not self.other_ids:
            return []
        rows = self.visible.reports_of_other_types().filter(scan_id__in=self.other_ids)
        return [
            OtherReport(read_export(text), f"{reverse('report-page', args=[scan_id])}#check-")
            for scan_id, text in rows.values_list("scan_id", "export")
        ]


def _illustrations(stored: PicturePlaces | None, scan_id: str) -> Illustrations:
    return create_illustrations(
        stored,
        screenshot=reverse("report-screenshot", args=[scan_id]),
        page=reverse("report-page-picture", args=[scan_id]),
        frame=lambda number: reverse("report-film-frame", args=[scan_id, number]),
    )
