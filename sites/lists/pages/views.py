"""Dashboard views for lists, their settings, runs and entries.

Viewers may read lists, members may change them.
"""

from __future__ import annotations

import functools
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import Q
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts import access, usage
from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_idempotency, form_page, refuse_over_rate_or_in_maintenance
from infrastructure.api.errors import InvalidParams, NotFound
from infrastructure.api.idempotency import IdempotencyConflict
from infrastructure.time_zones import time_zones
from sites.lists import runs, services
from sites.lists.pages import rows, table
from sites.lists.pages import runs as run_rows
from sites.lists.pages.forms import ListForm, initial_values_of
from sites.lists.pages.live import Live, live_of
from sites.lists.pages.states import cost_of, schedule_text
from sites.models import SiteList
from sites.pages.channels import webhook_choices
from sites.recipients import MAX_EMAILS, Recipients, receivers, recipients_of
from sites.resources import LIST, LIST_RUN
from website_scan.errors import Refusal
from website_scan.ids import is_id
from website_scan.messages import counted

Role = Membership.Role
MAX_PEOPLE = 2 * MAX_EMAILS
WORK = "the organization's own work, which all members see"


@require_safe
@requires(Role.VIEWER)
def lists(request: MemberRequest) -> HttpResponse:
    """Render all lists with their latest runs and mean scores, or the form for a new list if there are no lists."""
    member = request.membership
    page = rows.list_page(member.organization, request.GET)
    context: dict[str, Any] = {"section": "lists", "list": page}
    if member.is_member and not page.has_lists and not page.room.is_full:
        context |= {"form": _form(request), "zones": time_zones(), "site_list": None, "cost": None}
        context |= {"quota": quota_of(request), "lacks_webhook": _lacks_webhook(member.organization_id)}
    return render(request, "sites/lists/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices(WORK)
def list_new(request: MemberRequest) -> HttpResponse:
    """Render the form for a new list, or create the list and redirect to its import.

    A form that is sent twice creates only one list.
    """
    member = request.membership
    if request.method != "POST":
        capacity = rows.capacity_of(member.organization)
        if capacity.is_full:
            return render(request, "sites/lists/full.html", {"section": "lists", "room": capacity})

    def submit(form: ListForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        list_request, once = form.list_request(member.organization_id), form_idempotency(request, form)
        try:
            created = services.create_list(caller=member_caller(member), request=list_request, once=once)
        except IdempotencyConflict:
            messages.success(request, "The list is being created.")
            return redirect(page_of(member, "lists"))
        messages.success(request, "The list was created. Add its sites now.")
        return redirect(page_of(member, "list-import", created.response["id"]))

    return form_page(request, functools.partial(_form, request), functools.partial(_form_page, request), submit)


@require_safe
@requires(Role.VIEWER)
@known
def site_list(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render a list's page with its latest run, its schedule, and the table of its sites."""
    site_list = find(request, list_id)
    latest, running = run_rows.latest_runs(site_list)
    sites = table.site_table(site_list, request.GET) if site_list.entries_count else None
    context = {
        "section": "lists",
        "site_list": site_list,
        "schedule": schedule_text(site_list),
        "cost": cost_of(site_list, quota_of(request)),
        "latest": latest,
        "running": running,
        "live": Live(running, sites.rows, sites.facts) if sites else Live(running, ()),
    }
    if sites:
        context |= {
            "table": sites,
            "tags": table.tags_of(site_list),
            "checks": table.failing_checks(latest.run.id if latest else ""),
        }
    return render(request, "sites/lists/detail.html", context)


@require_safe
@requires(Role.VIEWER)
@known
def list_live(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render the fragment that the page polls while a run or scan is in progress.

    The query has the displayed run (`run`) and rows (`row`). The page is reloaded when a run has ended or begun.
    """
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect(page_of(request.membership, "list", list_id))
    site_list = find(request, list_id)
    running = run_rows.running_of(site_list)
    if (running.run.id if running else "") != request.GET.get("run", ""):
        return HttpResponseClientRefresh()
    context = {"site_list": site_list, "live": live_of(site_list, running, request.GET)}
    return render(request, "sites/lists/_live.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def list_edit(request: MemberRequest, list_id: str) -> HttpResponse:
    """Render the form with the current settings of a list, and store changed settings."""
    site_list = find(request, list_id)

    def submit(form: ListForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        list_request = form.list_request(site_list.organization_id)
        services.change_list(caller=member_caller(request.membership), list_id=list_id, request=list_request)
        messages.success(request, "The settings were saved.")
        return redirect(page_of(request.membership, "list", list_id))

    make_form, show_form = (
        functools.partial(_form, request, site_list=site_list),
        functools.partial(_form_page, request, site_list=site_list),
    )
    return form_page(request, make_form, show_form, submit)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def list_delete(request: MemberRequest, list_id: str) -> HttpResponse:
    """Delete a list with its snapshots, after a confirmation page."""
    site_list = find(request, list_id)
    if request.method != "POST":
        return render(request, "sites/lists/delete.html", {"section": "lists", "site_list": site_list})
    try:
        services.delete_list(caller=member_caller(request.membership), list_id=list_id)
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The list was not deleted. {refusal}")
        return redirect(page_of(request.membership, "list", list_id))
    messages.success(request, f"The list {site_list.name} was deleted.")
    return redirect(page_of(request.membership, "lists"))


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def list_run(request: MemberRequest, list_id: str) -> HttpResponse:
    """Start a run of a list immediately."""
    try:
        refuse_over_rate_or_in_maintenance(request)
        run = runs.begin_run(caller=member_caller(request.membership), list_id=list_id)
        messages.success(request, f"The run has begun: {counted(run.entries, 'site')}.")
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The run was not started. {refusal}")
    return redirect(page_of(request.membership, "list", list_id))


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def list_cancel(request: MemberRequest, list_id: str, run_id: str) -> HttpResponse:
    """Cancel a run of a list. Sites that have not started are left out."""
    before = LIST_RUN.find_in_rows(find(request, list_id).runs.all(), run_id)
    runs.cancel_run(caller=member_caller(request.membership), list_id=list_id, run_id=run_id)
    if before.has_ended:
        messages.error(request, "The run had already ended, so it could not be cancelled.")
    else:
        messages.success(request, "Cancelled. Sites that had not been judged keep their earlier results.")
    return redirect(page_of(request.membership, "list", list_id))


@require_POST
@requires(Role.MEMBER)
@known
@session_suffices(WORK)
def list_entries(request: MemberRequest, list_id: str) -> HttpResponse:
    """Tag, scan or remove the selected sites (`entry`), or all sites that match the filters (`all`).

    `scan` is the ID of a single site to scan. Removal renders a page that asks for confirmation first.
    """
    site_list = find(request, list_id)
    back = f"{page_of(request.membership, 'list', list_id)}?{request.POST.get('back', '')}".rstrip("?")
    entry_filter = table.entry_filter_of(request.POST)
    entry_id_to_scan = request.POST.get("scan", "")
    entry_ids = [
        entry_id
        for entry_id in ([entry_id_to_scan] if entry_id_to_scan else request.POST.getlist("entry"))
        if is_id("ent", entry_id)
    ]
    applies_to_all_matches = bool(request.POST.get("all")) and not entry_id_to_scan
    action = "scan" if entry_id_to_scan else request.POST.get("action", "")
    if action not in ("tag", "untag", "scan", "remove", "removed"):
        raise BadRequest
    if not applies_to_all_matches and not entry_ids:
        messages.error(request, "Select at least one site first.")
        return redirect(back)
    entries: Q | list[str] = entry_filter.condition_in(site_list) if applies_to_all_matches else entry_ids
    if action == "remove":
        try:
            matching = services.selected_entries(site_list, entries)
        except InvalidParams as refusal:
            messages.error(request, f"Nothing was removed. {refusal}")
            return redirect(back)
        context = {
            "section": "lists",
            "site_list": site_list,
            "number": matching.count(),
            "chosen": () if applies_to_all_matches else entry_ids,
            "filters": entry_filter.parameters,
            "is_all": applies_to_all_matches,
            "back": back,
            "back_query": request.POST.get("back", ""),
        }
        return render(request, "sites/lists/remove.html", context)
    try:
        refuse_over_rate_or_in_maintenance(request)
        messages.success(request, _apply_action(request, site_list, action, entries))
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"Nothing was changed. {refusal}")
    return redirect(back)


def _apply_action(request: MemberRequest, site_list: SiteList, action: str, entries: Q | list[str]) -> str:
    """Apply an action to entries and return the message for the user."""
    caller = member_caller(request.membership)
    if action == "scan":
        ids = (
            entries
            if not isinstance(entries, Q)
            else list(services.selected_entries(site_list, entries).values_list("id", flat=True))
        )
        number = runs.scan_entries(caller=caller, list_id=site_list.id, entry_ids=ids)
        if not number:
            return "These sites are being scanned already."
        return f"{counted(number, 'site is', 'sites are')} being scanned again."
    if action == "removed":
        number = services.delete_entries(caller=caller, list_id=site_list.id, entries=entries)
        return f"{counted(number, 'site has', 'sites have')} been removed."
    tags = [tag for tag in map(str.strip, request.POST.get("tags", "").split(";")) if tag]
    if not tags:
        raise InvalidParams("Enter at least one tag.")
    change = {"add": tags} if action == "tag" else {"remove": tags}
    number = services.tag_entries(caller=caller, list_id=site_list.id, entries=entries, **change)
    return f"The tags of {counted(number, 'site')} have been changed."


def find(request: MemberRequest, list_id: str) -> SiteList:
    return LIST.find(request.membership.organization_id, list_id)


def quota_of(request: MemberRequest) -> usage.Quota:
    limits = member_caller(request.membership).limits
    return usage.quota(request.membership.organization_id, limits, timezone.now())


def _form(request: MemberRequest, data: QueryDict | None = None, site_list: SiteList | None = None) -> ListForm:
    member = request.membership
    people = access.active_members(member.organization_id).order_by("email").values_list("email", flat=True)
    recipients = recipients_of([site_list])[site_list.id] if site_list else Recipients((), (), None)
    # The user's own address comes first, because MAX_PEOPLE may exclude it.
    hints = dict.fromkeys([member.user.email, *recipients.emails, *people[:MAX_PEOPLE]], "")
    hints |= dict.fromkeys(recipients.unsubscribed, "Unsubscribed")
    if site_list:
        initial = initial_values_of(site_list, recipients.emails)
    else:
        initial = {"emails": [member.user.email], "timezone": member.user.time_zone or "UTC"}
    webhooks = webhook_choices(member.organization_id, SiteList)
    return ListForm(data, tier=member.organization.tier, people=hints, webhooks=webhooks, initial=initial)


def _lacks_webhook(organization_id: int) -> bool:
    return not receivers(organization_id, SiteList).exists()


def _form_page(request: MemberRequest, form: ListForm, status: int, site_list: SiteList | None = None) -> HttpResponse:
    quota = quota_of(request)
    context = {
        "section": "lists",
        "form": form,
        "site_list": site_list,
        "zones": time_zones(),
        "lacks_webhook": _lacks_webhook(request.membership.organization_id),
        "quota": quota,
        "cost": cost_of(site_list, quota) if site_list else None,
    }
    return render(request, "sites/lists/form.html", context, status=status)
