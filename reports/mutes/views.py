"""Dashboard pages for listing and ending mutes, and for muting a report's finding."""

from __future__ import annotations

import functools
from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from accounts.submissions import form_page
from infrastructure.api.errors import NotFound
from infrastructure.web import keyset
from reports.models import Mute, Report
from reports.mutes import services
from reports.mutes.forms import MuteForm
from reports.mutes.services import end_mute, list_mutes_in_force, mute_places, mute_rule
from website_scan.ids import is_id
from website_scan.report.mute_matching import host_and_path
from website_scan.report_json import ExportedFinding, ExportJson

Role = Membership.Role

PAGE_SIZE = 50
# The list highlights mutes that end within this time.
SOON = timedelta(days=7)


@require_safe
@requires(Role.VIEWER)
def mutes(request: MemberRequest) -> HttpResponse:
    """List the organization's active mutes, ordered by their end."""
    now = timezone.now()
    rows = list_mutes_in_force(request.membership.organization_id, now)
    page = keyset.by_time(
        [rows], request.GET, column="expires_at", order=keyset.OLDEST_FIRST, size=PAGE_SIZE, filters={}
    )
    context = {
        "section": "mutes",
        "rules": [(rule, rule.expires_at <= now + SOON) for rule in map(mute_rule, page.rows)],
        "page": page,
    }
    return render(request, "reports/mutes/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
def mute_new(request: MemberRequest) -> HttpResponse:
    """Mute a finding everywhere or at some places.

    The query parameters `scan` and `check` select it.
    """
    export, check = _find_export_and_finding(request)
    url = export["url"]
    host, path = host_and_path(url)
    report = reverse("report-page", args=[export["id"]])

    def submit(form: MuteForm) -> HttpResponse:
        mute_request = form.mute_request(check["id"], host)
        mute_places(caller=member_caller(request.membership), request=mute_request, places=form.chosen_places)
        until = form.cleaned_data["until"]
        messages.success(request, f"Muted until the end of {until:%-d %B %Y}. The report itself does not change.")
        return redirect(f"{report}#muted")

    def show(form: MuteForm, _status: int) -> HttpResponse:
        context = {
            "section": "mutes",
            "form": form,
            "check": check,
            "title": check["title"],
            "page_url": url,
            "report": report,
            "most": services.MAX_ACTIVE_MUTES,
            "is_full": services.has_maximum_mutes(request.membership.organization_id, timezone.now()),
        }
        return render(request, "reports/mutes/new.html", context)

    make = functools.partial(MuteForm, finding=check, path=path, host=host, now=timezone.now())
    return form_page(request, make, show, submit)


@require_POST
@requires(Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
def mute_end(request: MemberRequest, mute_id: str) -> HttpResponse:
    """End a mute. Redirect to the report in the form field `scan`, or to the list of mutes."""
    try:
        end_mute(caller=member_caller(request.membership), mute_id=mute_id)
    except NotFound:
        mutes = access.rows(Mute, request.membership.organization_id)
        if not (is_id("mute", mute_id) and mutes.filter(id=mute_id).exists()):
            raise Http404 from None
        messages.info(request, "This finding was no longer muted.")
    else:
        messages.success(request, "Unmuted. The finding is shown again.")
    scan_id = request.POST.get("scan", "")
    if is_id("scan", scan_id):
        return redirect("report-page", scan_id)
    return redirect(page_of(request.membership, "mutes"))


def _find_export_and_finding(request: HttpRequest) -> tuple[ExportJson, ExportedFinding]:
    """Return the JSON export and the finding named by the query parameters `scan` and `check`.

    Raises Http404.
    """
    scan_id, check_id = request.GET.get("scan", ""), request.GET.get("check", "")
    report = None
    if is_id("scan", scan_id):
        membership: Membership = request.membership  # type: ignore[attr-defined]  # `requires` has set it
        unexpired = access.rows(Report, membership.organization_id).filter(
            scan_id=scan_id, expires_at__gt=timezone.now()
        )
        report = unexpired.only("export").first()
    if report is None:
        raise Http404
    export = report.export_json
    for category in export["categories"]:
        for check in category["checks"]:
            if check["id"] == check_id and check["status"] != "pass":
                return export, check
    raise Http404
