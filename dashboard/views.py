"""Dashboard views for scans and sites."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.db.models.functions import Left
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access, usage
from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, current_membership, known, page_of, requires
from accounts.submissions import form_page, refuse_over_rate_or_in_maintenance
from accounts.visible_sites import visible_sites_of
from dashboard import attention, scan_lists, site_table
from dashboard.next_steps import next_steps
from dashboard.sites import main_page, page_results, pages_of_site
from infrastructure.api.errors import NotFound
from infrastructure.web import charts
from infrastructure.web.keyset import search_text
from scans import services
from scans.models import INDEXED_URL_LENGTH, Scan, path_of
from scans.own_requirements import requirements_of_scan
from scans.policy import scan_policy
from scans.requests import ScanRequest
from sites.audits.services import cancel_audit, find_audit
from sites.audits.visibility import may_see_audit
from sites.badges.services import badge_of_page
from sites.journeys.services import run_journey
from sites.models import Audit
from sites.monitors.pages.latest_changes import latest_changes
from sites.pages.estimates import estimate
from sites.pages.forms import ScanForm
from sites.pages.starting import start, start_again
from sites.resources import AUDIT
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.net.targets import parse_target
from website_scan.urls import Url

TREND_SCANS = 30
LABELS = [label for _, label in Scan.Type.choices]


@require_safe
def scan_start(request: HttpRequest) -> HttpResponse:
    """Redirect from the start page's field to the form for a new scan, through sign-up or login if necessary."""
    if not request.user.is_authenticated:
        entrance = "account_signup" if settings.SIGN_UP_OPEN else "account_login"
        return redirect_to_login(request.get_full_path(), reverse(entrance))
    membership = current_membership(request)
    if membership is None:
        return redirect("organization-new")
    query = urlencode({"url": request.GET.get("url", "")})
    return redirect(f"{page_of(membership, 'scan-new')}?{query}")


@require_safe
@requires(Membership.Role.VIEWER, serves_limited=True)
def overview(request: MemberRequest) -> HttpResponse:
    """Show what has to be done now, what got better and what is coming, and the latest scans.

    Members who are limited to some sites begin with the table of these sites.
    """
    member = request.membership
    if member.is_limited:
        return redirect(page_of(member, "sites"))
    limits, tier = member_caller(member).limits, member.organization.tier
    now = timezone.now()
    month, quota = scan_lists.month(member.organization_id, limits, now), None
    organizations = [member.organization_id]
    coming = attention.coming(organizations, now)
    if month.quota.remaining:
        used = month.quota.limit - month.quota.remaining
        quota = attention.quota_end(used, month.quota.limit, month.start, month.reset_at, now)
    context = {
        "section": "overview",
        "month": month,
        "recent": scan_lists.recent(member.organization_id),
        "labels": LABELS,
        "type_labels": dict(Scan.Type.choices),
        "steps": next_steps(member, now),
        "problems": attention.problems(organizations, now),
        "failures": attention.failures(organizations),
        "silent": attention.silent_monitors(organizations),
        "changes": latest_changes(organizations, now),
        "coming": coming,
        "quota_end": quota,
        "limits": attention.limit_sentences(
            {
                "monitor": (coming.monitors.get(member.organization_id, 0), tier.schedules),
                "list": (coming.lists.get(member.organization_id, 0), tier.lists),
            }
        ),
        "types": Scan.Type.values,
        "now": now,
        "base_url": settings.BASE_URL,
    }
    return render(request, "dashboard/overview.html", context)


@require_safe
@requires(Membership.Role.VIEWER)
def recent(request: MemberRequest) -> HttpResponse:
    """Render the list of running and latest scans.

    The overview polls it while a scan runs.
    """
    context = {"recent": scan_lists.recent(request.membership.organization_id), "labels": LABELS}
    return render(request, "dashboard/_recent.html", context)


@require_safe
@requires(Membership.Role.VIEWER, serves_limited=True)
def scans(request: MemberRequest) -> HttpResponse:
    member = request.membership
    entry_page = scan_lists.entry_page(member.organization_id, request.GET, visible_sites_of(member))
    return render(request, "dashboard/scans.html", {"section": "scans", "list": entry_page, "labels": LABELS})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.MEMBER, serves_limited=True)
@session_suffices("the organization's own work, which all members see")
def scan_new(request: MemberRequest) -> HttpResponse:
    """Show the form for a new scan.

    POST starts one audit for all selected types.
    """

    def make(data: QueryDict | None) -> ScanForm:
        initial: dict[str, Any] = {name: request.GET[name] for name in ("url", "scope") if name in request.GET}
        if "type" in request.GET:
            initial["type"] = request.GET.getlist("type")
        return _form(request, data, initial if data is None else None)

    def submit(form: ScanForm) -> HttpResponse:
        started = start(request, form)
        if started.note:
            messages.success(request, started.note)
        return redirect("audit-page", started.audit_id)

    return form_page(request, make, functools.partial(_scan_form, request), submit)


@require_POST
@requires(Membership.Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def scan_again(request: MemberRequest, scan_id: str) -> HttpResponse:
    """Start a new scan with an earlier scan's page, type, options and own requirements.

    States of journeys are only reached by another run.
    """
    scan = _find_scan(request, scan_id)
    if scan.is_of_journey and scan.audit_page is not None:
        return _start_again(request, scan.audit_page.audit)
    caller = member_caller(request.membership)
    try:
        refuse_over_rate_or_in_maintenance(request)
        scan_target = parse_target(scan.url, scan_policy())
        scan_type, requirements = ScanType(scan.type), requirements_of_scan(scan.id)
        options = (scan.chosen_viewing, requirements, scan.chosen_categories)
        scan_request = ScanRequest(scan_target, scan_type, scan.credentials, *options)
        created = services.create_scan(caller=caller, request=scan_request)
    except Refusal as refusal:
        messages.error(request, f"The scan was not started. {refusal}")
        return _back(request)
    return redirect("report-page", created.response["id"])


@require_POST
@requires(Membership.Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def audit_again(request: MemberRequest, audit_id: str) -> HttpResponse:
    """Start a new audit with an earlier audit's types and its pages or site, or another run of its journey."""
    return _start_again(request, _find_audit(request, audit_id))


def _start_again(request: MemberRequest, audit: Audit) -> HttpResponse:
    try:
        new_audit_id = _run_again(request, audit) if audit.journey_id else start_again(request, audit).audit_id
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The scan was not started. {refusal}")
        return _back(request)
    return redirect("audit-page", new_audit_id)


def _run_again(request: MemberRequest, audit: Audit) -> str:
    """Start another run of an audit's journey, and return the ID of its audit."""
    assert audit.journey_id is not None
    refuse_over_rate_or_in_maintenance(request)
    caller = member_caller(request.membership)
    return run_journey(caller=caller, journey_id=audit.journey_id).response["id"]


@require_POST
@requires(Membership.Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def audit_cancel(request: MemberRequest, audit_id: str) -> HttpResponse:
    """Cancel an audit. Scans that have not started will not run."""
    audit = _find_audit(request, audit_id)
    cancel_audit(caller=member_caller(request.membership), audit_id=audit_id)
    if audit.is_final:
        messages.error(request, "The scan had already ended, so it could not be cancelled.")
    else:
        messages.success(request, "Cancelled. Scans that had not started do not count against your quota.")
    return _back(request)


@require_POST
@requires(Membership.Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def scan_cancel(request: MemberRequest, scan_id: str) -> HttpResponse:
    """Cancel a queued scan. A scan that has started is not cancelled."""
    _find_scan(request, scan_id)
    cancelled = services.cancel_scan(member=request.membership, scan_id=scan_id)
    if cancelled:
        messages.success(request, "The scan was cancelled. It does not count against your quota.")
    else:
        messages.error(request, "The scan had already started, so it could not be cancelled.")
    return _back(request)


@require_safe
@requires(Membership.Role.VIEWER, serves_limited=True)
def sites(request: MemberRequest) -> HttpResponse:
    """List all sites with their states and the last grades of their main pages, worst first."""
    member = request.membership
    table = site_table.site_table(member.organization_id, request.GET, visible_sites_of(member))
    return render(request, "dashboard/sites.html", {"section": "sites", "table": table, "labels": LABELS})


@require_POST
@requires(Membership.Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
def selected_sites(request: MemberRequest) -> HttpResponse:
    """Scan the selected sites (`host`) again, or watch them, depending on `action`."""
    member, hosts, action = request.membership, request.POST.getlist("host"), request.POST.get("action", "")
    caller = member_caller(member)
    back = f"{page_of(member, 'sites')}?{request.POST.get('back', '')}".rstrip("?")
    if action not in ("scan", "watch"):
        raise BadRequest
    if not hosts:
        messages.error(request, "Select at least one site first.")
        return redirect(back)
    try:
        refuse_over_rate_or_in_maintenance(request)
    except Refusal as refusal:
        messages.error(request, f"Nothing was started. {refusal}")
        return redirect(back)
    if action == "scan":
        outcome = site_table.scan_again(caller, hosts)
        done, nothing = "being scanned again", "None of these sites was scanned."
    else:
        outcome = site_table.watch(caller, hosts, member.organization.tier)
        done, nothing = "now watched, each by a monitor of its own", "These sites have monitors already."
    if outcome.done:
        messages.success(request, f"{counted(outcome.done, 'site is', 'sites are')} {done}.")
    elif outcome.refusal is None:
        messages.success(request, nothing)
    if outcome.refusal is not None:
        messages.error(
            request, f"{'The others were not' if outcome.done else 'Nothing was'} started. {outcome.refusal}"
        )
    return redirect(back)


@require_safe
@requires(Membership.Role.VIEWER, serves_limited=True)
def site(request: MemberRequest, host: str) -> HttpResponse:
    """List a host's pages with their last grades, and show the scores of one page over time by scan type."""
    organization_id, scope = request.membership.organization_id, visible_sites_of(request.membership)
    if scope is not None and not scope.allows(host):
        raise Http404
    rows = access.rows(Scan, organization_id).filter(host=host, is_of_journey=False)
    if "\0" in host or not rows.exists():
        raise Http404
    requested = request.GET.get("page", "")
    # The index contains only a prefix of the URL, so the whole URL is compared as well.
    scans = rows.alias(key=Left("url", INDEXED_URL_LENGTH)).filter(
        lead=None, key=requested[:INDEXED_URL_LENGTH], url=requested
    )
    url = requested if "\0" not in requested and scans.exists() else main_page(organization_id, host)
    results = page_results(organization_id, [url], limit=TREND_SCANS)[url]
    trends = [
        {"label": label, "latest": of_type[0], "results": of_type, "trend": charts.trend(of_type)}
        for type, label in Scan.Type.choices
        if (of_type := results[type])
    ]
    text = search_text(request.GET).lower()
    context = {
        "section": "sites",
        "host": host,
        "address": f"{Url.of(url).origin}/",
        "trends": trends,
        "shown": url,
        "path": path_of(url),
        "badge": badge_of_page(organization_id, url),
        "most": TREND_SCANS,
        "pages": pages_of_site(organization_id, host, request.GET),
        "text": text,
        "labels": LABELS,
    }
    return render(request, "dashboard/site.html", context)


def _find_scan(request: MemberRequest, scan_id: str) -> Scan:
    """Return the scan. Raises NotFound, also if the member is limited to other sites."""
    scan, scope = services.SCAN.find(request.membership.organization_id, scan_id), visible_sites_of(request.membership)
    if scope is not None and not scope.allows(scan.host):
        raise services.SCAN.not_found()
    return scan


def _find_audit(request: MemberRequest, audit_id: str) -> Audit:
    """Return the audit. Raises NotFound, also if the member is limited to other sites."""
    audit = find_audit(request.membership.organization_id, audit_id)
    if not may_see_audit(request.membership, audit):
        raise AUDIT.not_found()
    return audit


def _form(request: MemberRequest, data: QueryDict | None = None, initial: dict[str, Any] | None = None) -> ScanForm:
    return ScanForm(data, pages_per_audit=member_caller(request.membership).limits.pages_per_audit, initial=initial)


def _scan_form(request: MemberRequest, form: ScanForm, status: int) -> HttpResponse:
    limits = member_caller(request.membership).limits
    quota = usage.quota(request.membership.organization_id, limits, timezone.now())
    context = {"section": "scans", "form": form, "estimate": estimate(form, quota)}
    return render(request, "dashboard/scan_new.html", context, status=status)


def _back(request: MemberRequest) -> HttpResponse:
    """Redirect to the page with the button (`next`) if it is on this host, otherwise to the scan list."""
    url = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure()):
        url = page_of(request.membership, "scans")
    return redirect(url)
