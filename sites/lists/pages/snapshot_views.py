"""Dashboard views for a list's runs and snapshots, with adoption, comparison, export and sharing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import NotFound
from reports.page.conformance import ConformanceQuery
from scans.models import Scan
from sites.lists import exports, sharing
from sites.lists.comparisons import NotCompared
from sites.lists.conformance import TYPE, conformance_of_snapshot
from sites.lists.conformance_api import FORMATS, conformance_file
from sites.lists.pages import changes, snapshots
from sites.lists.pages import runs as run_rows
from sites.lists.pages.adoption_lines import adoption_lines
from sites.lists.pages.conformance import list_conformance_page, read_tag
from sites.lists.pages.states import state_of_run
from sites.lists.pages.target_page import target_rows
from sites.lists.pages.views import find
from sites.lists.snapshots import find_snapshot, latest, previous
from sites.models import ListRun, SiteList
from website_scan.errors import Refusal

Role = Membership.Role


@require_safe
@requires(Role.VIEWER)
@known
def list_runs_page(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render all runs of a list, newest first, with their mean scores."""
    site_list = find(request, list_id)
    context = {"section": "lists", "site_list": site_list, "page": run_rows.run_page(site_list, request.GET)}
    return render(request, "sites/lists/runs.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_snapshot(request: MemberRequest, list_id: str, run_id: str = "") -> HttpResponse:
    """Render one snapshot, by default the latest."""
    if not run_id:
        site_list = find(request, list_id)
        run = latest(site_list)
        if run is None:
            return _no_snapshot(request, site_list, "list-snapshot")
    else:
        run = _run(request, list_id, run_id)
    context = {
        "section": "lists",
        "site_list": run.site_list,
        "run": run,
        "state": state_of_run(run),
        "is_latest": not run_id,
        "before": previous(run),
        "has_workbook": exports.has_workbook(run),
        "types": Scan.Type.choices,
        "page": snapshots.snapshot_page(run, request.GET),
    }
    return render(request, "sites/lists/snapshot.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_sites(request: MemberRequest, list_id: str, run_id: str) -> HttpResponse:
    """Render the sites of a snapshot that fail a `check`.

    Without a check, redirects to the snapshot.
    """
    run = _run(request, list_id, run_id)
    if not request.GET.get("check"):
        return redirect(page_of(request.membership, "list-run-snapshot", list_id, run_id))
    page = snapshots.sites_failing_check(run, request.GET)
    if page is None:
        raise Http404
    context = {"section": "lists", "site_list": run.site_list, "run": run, "page": page}
    return render(request, "sites/lists/sites.html", context | {"tag": request.GET.get("tag", "")})


@require_safe
@requires(Role.VIEWER)
@known
def list_compare(request: MemberRequest, list_id: str, run_id: str) -> HttpResponse:
    """Render the comparison of a snapshot with another one (`with`), by default the previous one."""
    run = _run(request, list_id, run_id)
    others = changes.last_snapshots(run.site_list)
    other = changes.snapshot_to_compare(run, others, request.GET.get("with", ""))
    context: dict[str, Any] = {"section": "lists", "site_list": run.site_list, "run": run, "others": others}
    context |= {"comparison": None, "is_pending": False}
    try:
        context["comparison"] = changes.comparison(run, other) if other else None
    except NotCompared:
        context["is_pending"] = True
    return render(request, "sites/lists/compare.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_adoption(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render how many sites pass a check in each snapshot of a list."""
    site_list = find(request, list_id)
    run = latest(site_list)
    if run is None:
        return _no_snapshot(request, site_list, "list-adoption")
    page, tags = changes.adoption_page(site_list, run, request.GET), snapshots.tags_of(run)
    context = {
        "section": "lists",
        "site_list": site_list,
        "run": run,
        "tags": tags,
        "page": page,
        "targets": target_rows(site_list, timezone.now()),
        "types": [(type, label) for type, label in Scan.Type.choices if type in site_list.types],
        "compared": adoption_lines(site_list, page.check, page.tag, tags, request.GET),
    }
    return render(request, "sites/lists/adoption.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_conformance(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render on how many sites each success criterion of a standard fails, or download it in a `format`."""
    site_list = find(request, list_id)
    run = latest(site_list)
    if TYPE not in (run.types if run else site_list.types):
        raise Http404
    if run is None:
        return _no_snapshot(request, site_list, "list-conformance")
    query, tag = ConformanceQuery.parse(request.GET), read_tag(request.GET)
    conformance = conformance_of_snapshot(run, query.standard, query.level, tag)
    if query.file_format in FORMATS:
        return conformance_file(conformance, query.file_format, list_id)
    page = list_conformance_page(run, conformance, query, tag)
    context = {"section": "lists", "site_list": site_list, "run": run, "page": page}
    return render(request, "sites/lists/conformance.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_export(
    request: MemberRequest, list_id: str, run_id: str, export_format: str
) -> HttpResponse | StreamingHttpResponse:
    """Download a snapshot as a file in one of the API's export formats."""
    run = _run(request, list_id, run_id)
    if export_format not in exports.WRITERS or (export_format == "xlsx" and not exports.has_workbook(run)):
        raise Http404
    response = StreamingHttpResponse(
        exports.export(run, export_format), content_type=exports.WRITERS[export_format].media_type
    )
    response["Content-Disposition"] = f'attachment; filename="{run.id}.{export_format}"'
    return response


@require_safe
@requires(Role.VIEWER)
@known
def list_sharing(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render the public pages of a list with their URLs and badges."""
    site_list = find(request, list_id)
    run = latest(site_list)
    shares = list(sharing.shares_of(site_list).select_related("run"))
    sentences = snapshots.sentences_of(run) if run else []
    check = request.GET.get("check", "")
    sentence = dict(sentences).get(check, "")
    context = {
        "section": "lists",
        "site_list": site_list,
        "shares": shares,
        "is_full": len(shares) >= sharing.MAX_SHARES,
        "most": sharing.MAX_SHARES,
        "run": run,
        "snapshots": changes.last_snapshots(site_list) if request.membership.is_member else [],
        "sentences": sentences,
        "chosen": {"share": request.GET.get("share", ""), "check": check if sentence else "", "sentence": sentence},
        "base_url": settings.BASE_URL,
    }
    return render(request, "sites/lists/sharing.html", context)


@require_POST
@requires(Role.MEMBER)
@require_fresh_login()
@known
def list_share(request: MemberRequest, list_id: str) -> HttpResponse:
    """Create a public page of one snapshot, or one that always shows the latest.

    The form field `run` selects the snapshot. `table` adds the table of all sites.
    """
    try:
        refuse_over_rate_or_in_maintenance(request)
        sharing.create_share(
            caller=member_caller(request.membership),
            list_id=list_id,
            run_id=request.POST.get("run") or None,
            has_table=bool(request.POST.get("table")),
            password=request.POST.get("password", ""),
        )
        who = "with its address and the password" if request.POST.get("password") else "with its address"
        messages.success(request, f"The page is public. Anyone {who} can read it until you revoke it.")
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"Nothing was shared. {refusal}")
    return redirect(page_of(request.membership, "list-sharing", list_id))


@require_POST
@requires(Role.MEMBER)
@require_fresh_login()
@known
def list_unshare(request: MemberRequest, list_id: str, share_id: str) -> HttpResponse:
    """Revoke a public page of a list."""
    sharing.delete_share(caller=member_caller(request.membership), list_id=list_id, share_id=share_id)
    messages.success(request, "Revoked. The address and its badges no longer show anything.")
    return redirect(page_of(request.membership, "list-sharing", list_id))


def _run(request: MemberRequest, list_id: str, run_id: str) -> ListRun:
    return find_snapshot(request.membership.organization_id, list_id, run_id)


def _no_snapshot(request: MemberRequest, site_list: SiteList, tab: str) -> HttpResponse:
    _, running = run_rows.latest_runs(site_list)
    context = {"section": "lists", "site_list": site_list, "tab": tab, "running": running}
    return render(request, "sites/lists/no_snapshot.html", context)
