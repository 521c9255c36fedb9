"""The dashboard's pages about scans and sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import access
from accounts.authentication import member_caller
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from config.api.errors import refuse_in_maintenance
from config.api.throttling import refuse_over_rate
from config.errors import Refusal
from config.ids import is_id
from config.web import charts
from scans import services
from scans.dashboard import scan_lists
from scans.dashboard.forms import DEFAULT_TYPES, ScanForm
from scans.dashboard.sites import site_page, site_results
from scans.models import Scan, path_of

TREND_SCANS = 30
# So many pages of a site can be chosen from.
MAX_PAGES = 20


@dataclass(frozen=True, slots=True)
class Started:
    """The IDs of the scans that were accepted; `refused` are the types that were not, and why."""

    scan_ids: Sequence[str]
    refused: Sequence[str] = ()
    refusal: Refusal | None = None


@require_safe
@requires(Membership.Role.VIEWER)
def overview(request: MemberRequest) -> HttpResponse:
    """Where the organization stands: the month, what runs, what came of it."""
    member = request.membership
    context = {
        "section": "overview",
        "month": scan_lists.month(member.organization_id, member_caller(member).limits, timezone.now()),
        "activity": scan_lists.activity(member.organization_id),
        "sites": scan_lists.recent_sites(member.organization_id),
        "form": ScanForm(),
        "base_url": settings.BASE_URL,
    }
    return render(request, "dashboard/overview.html", context)


@require_safe
@requires(Membership.Role.VIEWER)
def activity(request: MemberRequest) -> HttpResponse:
    """The part of the overview that asks for itself again while a scan runs."""
    found = scan_lists.activity(request.membership.organization_id)
    return render(request, "dashboard/_activity.html", {"activity": found})


@require_safe
@requires(Membership.Role.VIEWER)
def scans(request: MemberRequest) -> HttpResponse:
    found = scan_lists.scan_page(request.membership.organization_id, request.GET)
    return render(request, "dashboard/scans.html", {"section": "scans", "list": found})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.MEMBER)
def scan_new(request: MemberRequest) -> HttpResponse:
    """The form; sent, it starts a scan of each type that is ticked."""
    if request.method != "POST":
        entered = {"url": request.GET.get("url", ""), "type": request.GET.getlist("type") or DEFAULT_TYPES}
        return _scan_form(request, ScanForm(initial=entered), 200)
    form = ScanForm(request.POST)
    if not form.is_valid():
        return _scan_form(request, form, 400)
    url, types = form.cleaned_data["url"], form.cleaned_data["type"]
    started = _start(request, url, types, lambda: form.request)
    if started.refusal is None:
        if len(started.scan_ids) == 1:
            return redirect("report-page", started.scan_ids[0])
        messages.success(request, f"{len(started.scan_ids)} scans started.")
        return redirect(page_of(request.membership, "overview"))
    if not started.scan_ids:
        form.add_refusal(started.refusal)
        return _scan_form(request, form, started.refusal.status)
    # Some run already: sent again, the form must not start them a second time.
    labels = ", ".join(Scan.Type(each).label if each in Scan.Type.values else each for each in started.refused)
    messages.success(request, f"{len(started.scan_ids)} of {len(types)} scans started.")
    messages.error(request, f"Not started: {labels}. {started.refusal}")
    return redirect(
        f"{page_of(request.membership, 'scan-new')}?{urlencode({'url': url, 'type': started.refused}, doseq=True)}"
    )


@require_POST
@requires(Membership.Role.MEMBER)
def scan_again(request: MemberRequest, scan_id: str) -> HttpResponse:
    """A new scan of the same page, of the same type, with the same credentials."""
    scan = _scan(request, scan_id)
    started = _start(request, scan.url, [scan.type], lambda: scan.credentials and scan.credentials.request)
    if started.refusal is None:
        return redirect("report-page", started.scan_ids[0])
    messages.error(request, f"The scan was not started. {started.refusal}")
    return _back(request)


@require_POST
@requires(Membership.Role.MEMBER)
def scan_cancel(request: MemberRequest, scan_id: str) -> HttpResponse:
    """A scan that still waits does not run."""
    try:
        cancelled = services.cancel_scan(member=request.membership, scan_id=scan_id)
    except services.ScanNotFound as error:
        raise Http404 from error
    if cancelled:
        messages.success(request, "The scan was cancelled. It does not count against your quota.")
    else:
        messages.error(request, "The scan had already begun, so it could not be cancelled.")
    return _back(request)


@require_safe
@requires(Membership.Role.VIEWER)
def sites(request: MemberRequest) -> HttpResponse:
    """All hosts, with their last grade of each type."""
    text = scan_lists.search_text(request.GET).lower()
    place = {name: request.GET.get(name, "").replace("\0", "") for name in ("after", "before")}
    found = site_page(request.membership.organization_id, text=text, **place)
    context = {"section": "sites", "page": found, "text": text, "types": Scan.Type.choices}
    return render(request, "dashboard/sites.html", context)


@require_safe
@requires(Membership.Role.VIEWER)
def site(request: MemberRequest, host: str) -> HttpResponse:
    """How a page of a host did over time, type by type, and all scans of the host."""
    organization_id = request.membership.organization_id
    rows = access.rows(Scan, organization_id)
    known = rows.filter(host=host).values_list("url", flat=True).first() if "\0" not in host else None
    if known is None:
        raise Http404
    (found,) = site_results(organization_id, [host], limit=TREND_SCANS)
    pages = found.pages[:MAX_PAGES]
    asked = request.GET.get("page", "")
    shown = asked if asked in pages else next(iter(pages), "")
    of_page = found.of_page(shown)
    trends = [
        {"label": label, "latest": results[0], "results": results, "trend": charts.trend(results)}
        for type, label in Scan.Type.choices
        if (results := of_page.results[type])
    ]
    listed = scan_lists.scan_page(organization_id, request.GET, host=host)
    context = {
        "section": "sites",
        "host": host,
        "address": urljoin(known, "/"),
        "trends": trends,
        "pages": [(url, path_of(url)) for url in pages],
        "shown": shown,
        "most": TREND_SCANS,
        "list": listed,
    }
    return render(request, "dashboard/site.html", context)


def _start(request: MemberRequest, url: str, types: Sequence[str], shown: Callable[[], object]) -> Started:
    """A scan of each type, one after the other, until one is refused: what refuses one refuses the rest, too.

    `shown` gives the API's field `request`, or raises its refusal.
    """
    caller = member_caller(request.membership)
    wanted: Sequence[str | None] = list(dict.fromkeys(types)) or [None]
    started: list[str] = []
    try:
        refuse_over_rate(request, caller)
        refuse_in_maintenance()
        for type in wanted:
            created = services.create_scan(caller=caller, url=url, type=type, request=shown(), idempotency_key=None)
            started.append(created.response["id"])
    except Refusal as refusal:
        return Started(started, [type for type in wanted[len(started) :] if type], refusal)
    return Started(started)


def _scan_form(request: MemberRequest, form: ScanForm, status: int) -> HttpResponse:
    return render(request, "dashboard/scan_new.html", {"section": "scans", "form": form}, status=status)


def _scan(request: MemberRequest, scan_id: str) -> Scan:
    rows = access.rows(Scan, request.membership.organization_id)
    scan = rows.filter(id=scan_id).first() if is_id("scan", scan_id) else None
    if scan is None:
        raise Http404
    return scan


def _back(request: MemberRequest) -> HttpResponse:
    """To the page with the button, if that is one of ours."""
    address = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
        address = page_of(request.membership, "scans")
    return redirect(address)
