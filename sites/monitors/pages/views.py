"""Dashboard views for monitors.

Viewers of the organization may read monitors, members may change them. Both may be limited to the monitors of some
sites; then they see neither other recipients nor webhooks, and their changes keep both.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts import access, usage
from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login, session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_idempotency, form_page, refuse_over_rate_or_in_maintenance
from accounts.visible_sites import visible_sites_of
from infrastructure.api.errors import NotFound
from infrastructure.api.idempotency import IdempotencyConflict
from infrastructure.time_zones import time_zones
from scans.policy import scan_policy
from scans.reachability import complete_url, has_scheme
from sites.audits.services import find_audit
from sites.audits.visibility import may_see_audit, refuse_other_sites
from sites.badges.requests import BadgeRequest
from sites.badges.services import badge_of_monitor, create_badge, delete_badge
from sites.journeys.services import journeys_of
from sites.models import Audit, Journey, Monitor
from sites.monitors import services
from sites.monitors.pages import lists, selections
from sites.monitors.pages import page as monitor_page
from sites.monitors.pages.forms import MonitorForm, initial_values_of
from sites.monitors.requests import MonitorRequest, default_interval
from sites.monitors.services import MonitorBusy
from sites.monitors.visibility import find_monitor, visible_runs
from sites.pages.channels import webhook_choices
from sites.pages.estimates import estimate
from sites.pages.forms import viewing_values_of
from sites.pages.requirement_rows import requirement_values_of
from sites.recipients import MAX_EMAILS, Recipients, receivers, recipients_of
from sites.resources import JOURNEY
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.report.references import safe_link

Role = Membership.Role
# Number of e-mail addresses that the form offers in addition to the user's own and the current recipients'.
MAX_PEOPLE = 2 * MAX_EMAILS


@require_safe
@requires(Role.VIEWER, serves_limited=True)
def monitors(request: MemberRequest) -> HttpResponse:
    """Render the list of monitors with their states."""
    member = request.membership
    most, scope = member.organization.tier.schedules, visible_sites_of(member)
    monitor_list = lists.monitor_page(member.organization_id, request.GET, most=most, scope=scope)
    return render(request, "sites/monitors/list.html", {"section": "monitors", "list": monitor_list})


@require_POST
@requires(Role.MEMBER, serves_limited=True)
@session_suffices("the organization's own work, which all members see")
def selected_monitors(request: MemberRequest) -> HttpResponse:
    """Pause, resume, run, reschedule or delete the selected monitors, depending on `action`.

    Selected are monitors with a checked box (`monitor`), or all that match the filters of the table (`all`). The action
    `delete` renders a page that asks for confirmation first.
    """
    member, action = request.membership, request.POST.get("action", "")
    if action != "delete" and action not in selections.ACTIONS:
        raise BadRequest
    selection = selections.selection_of(member.organization_id, request.POST, visible_sites_of(member))
    back = f"{page_of(member, 'monitors')}?{selection.back}".rstrip("?")
    if not selection.ids:
        messages.error(request, "Select at least one monitor first.")
        return redirect(back)
    if action == "delete":
        return _deletion_page(request, selection, back)
    if action == "deleted" and selection.is_all and request.POST.get("digest") != selection.digest:
        messages.error(request, "Nothing was deleted: the monitors have changed meanwhile. Please check them again.")
        return _deletion_page(request, selection, back)
    try:
        refuse_over_rate_or_in_maintenance(request)
        caller, tier = member_caller(member), member.organization.tier
        outcome = selections.apply(caller, tier, action, selection.ids, request.POST)
    except Refusal as refusal:
        messages.error(request, f"Nothing was changed. {refusal}")
        return redirect(back)
    if outcome.done:
        messages.success(request, f"{counted(outcome.done, 'monitor was', 'monitors were')} {selections.DONE[action]}.")
    if outcome.refusal is not None:
        messages.error(request, f"{'The others' if outcome.done else 'They'} were not. {outcome.refusal}")
    elif not outcome.done:
        messages.error(request, f"None of them was {selections.DONE[action]}: {selections.NOTHING[action]}")
    return redirect(back)


def _deletion_page(request: MemberRequest, selection: selections.Selection, back: str) -> HttpResponse:
    rows = access.rows(Monitor, request.membership.organization_id).filter(id__in=selection.ids)
    context = {
        "section": "monitors",
        "selection": selection,
        "monitors": rows.order_by("name", "id")[: lists.PAGE_SIZE],
        "back": back,
    }
    return render(request, "sites/monitors/delete_selected.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER, serves_limited=True)
@session_suffices("the organization's own work, which all members see")
def monitor_new(request: MemberRequest) -> HttpResponse:
    """Render the form for a new monitor, or create the monitor.

    An audit (`of`), a URL or a journey prefills the form. A form that is sent twice creates only one monitor.
    """
    member = request.membership
    if request.method != "POST":
        used, max_monitors = access.rows(Monitor, member.organization_id).count(), member.organization.tier.schedules
        if used >= max_monitors:
            return render(request, "sites/monitors/full.html", {"section": "monitors", "most": max_monitors})

    def submit(form: MonitorForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        monitor_request, once = _request_of(request, form), form_idempotency(request, form)
        try:
            created = services.create_monitor(caller=member_caller(member), request=monitor_request, once=once)
        except IdempotencyConflict:
            messages.success(request, "The monitor is being created.")
            return redirect(page_of(member, "monitors"))
        if not created.replayed:
            messages.success(request, "The monitor was created.")
        return redirect(page_of(member, "monitor", created.response["id"]))

    def make_form(data: QueryDict | None) -> MonitorForm:
        journey = _journey_of(request, request.GET if data is None else data)
        return _form(request, data, _initial_values(request) if data is None else None, journey=journey)

    return form_page(request, make_form, functools.partial(_form_page, request), submit)


@require_safe
@requires(Role.VIEWER, serves_limited=True)
@known
def monitor(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Render a monitor's page with its state, score history, and runs with their changes."""
    row, scope = find_monitor(request.membership, monitor_id), visible_sites_of(request.membership)
    runs = visible_runs(row, scope)
    running = monitor_page.running_of(runs)
    recipients = recipients_of([row])[row.id]
    context = {
        "section": "monitors",
        "can_run": running is None or running.is_waiting(timezone.now()),
        "monitor": row,
        "row": lists.monitor_rows(row.organization_id, [row], scope)[0],
        "link": safe_link(row.url),
        "journey": row.journey,
        "trends": monitor_page.trends(row, runs),
        "timeline": monitor_page.timeline(row, runs, request.GET),
        "running": running,
        "progress": monitor_page.progress_text(running) if running else "",
        "progress_title": monitor_page.progress_title(running) if running else "",
        "recipients": recipients,
        "is_recipient": request.membership.user.email in recipients.emails,
        "badge": badge_of_monitor(row),
    }
    return render(request, "sites/monitors/detail.html", context)


@require_safe
@requires(Role.VIEWER, serves_limited=True)
@known
def monitor_live(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Render the progress fragment that the page polls during a run.

    The query parameter `run` is the displayed run. The page is reloaded when the run has ended.
    """
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect(page_of(request.membership, "monitor", monitor_id))
    row = find_monitor(request.membership, monitor_id)
    running = monitor_page.running_of(visible_runs(row, visible_sites_of(request.membership)))
    if running is None or running.id != request.GET.get("run"):
        return HttpResponseClientRefresh()
    progress, title = monitor_page.progress_text(running), monitor_page.progress_title(running)
    context = {"monitor": row, "running": running, "progress": progress, "progress_title": title}
    return render(request, "sites/monitors/_live.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def monitor_edit(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Render the form with the monitor's settings, and store changed settings."""
    row = find_monitor(request.membership, monitor_id)

    def submit(form: MonitorForm) -> HttpResponse:
        refuse_over_rate_or_in_maintenance(request)
        monitor_request = _request_of(request, form)
        services.change_monitor(caller=member_caller(request.membership), monitor=row, request=monitor_request)
        messages.success(request, "The monitor was changed.")
        return redirect(page_of(request.membership, "monitor", monitor_id))

    def make_form(data: QueryDict | None) -> MonitorForm:
        return _form(request, data, monitor=row, journey=_journey_of(request, data) if data else row.journey)

    return form_page(request, make_form, functools.partial(_form_page, request, monitor=row), submit)


@require_POST
@requires(Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def monitor_pause(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Pause or resume a monitor.

    The form field `paused` is `on` or `off`.
    """
    paused = {"on": True, "off": False}.get(request.POST.get("paused", ""))
    if paused is None:
        raise BadRequest
    row, caller = find_monitor(request.membership, monitor_id), member_caller(request.membership)
    services.change_monitor(caller=caller, monitor=row, request=MonitorRequest(is_paused=paused))
    messages.success(request, "Paused. It does not run until you resume it." if paused else "Resumed.")
    return redirect(page_of(request.membership, "monitor", monitor_id))


@require_POST
@requires(Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def monitor_run(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Start a run of the monitor outside its schedule."""
    caller = member_caller(request.membership)
    try:
        refuse_over_rate_or_in_maintenance(request)
        services.run_now(caller=caller, monitor_id=find_monitor(request.membership, monitor_id).id)
    except MonitorBusy:
        messages.error(request, "A run is already in progress.")
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The run was not started. {refusal}")
    return redirect(page_of(request.membership, "monitor", monitor_id))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER, serves_limited=True)
@known
@session_suffices("the organization's own work, which all members see")
def monitor_delete(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Delete a monitor, after a confirmation page."""
    row = find_monitor(request.membership, monitor_id)
    if request.method != "POST":
        return render(request, "sites/monitors/delete.html", {"section": "monitors", "monitor": row})
    services.delete_monitor(caller=member_caller(request.membership), monitor_id=monitor_id)
    messages.success(request, f"The monitor {row.name} was deleted.")
    return redirect(page_of(request.membership, "monitors"))


@require_POST
@requires(Role.MEMBER)
@require_fresh_login()
@known
def monitor_badge(request: MemberRequest, monitor_id: str) -> HttpResponse:
    """Switch the monitor's public badge on or off (form field `badge`)."""
    row, switch = find_monitor(request.membership, monitor_id), request.POST.get("badge", "")
    caller = member_caller(request.membership)
    badge = badge_of_monitor(row)
    try:
        if switch == "on":
            create_badge(caller=caller, request=BadgeRequest(monitor=row.id))
            messages.success(request, "The badge is on. Anyone with its address can see the grades.")
        elif switch == "off":
            if badge is not None:
                # Another request may have switched the badge off at the same time.
                with suppress(NotFound):
                    delete_badge(caller=caller, badge_id=badge.id)
            messages.success(request, "The badge is off. Its address no longer shows anything.")
        else:
            raise BadRequest
    except NotFound:
        raise
    except Refusal as refusal:
        messages.error(request, f"The badge was not turned on. {refusal}")
    return redirect(f"{page_of(request.membership, 'monitor', monitor_id)}#badge")


def _form(
    request: MemberRequest,
    data: QueryDict | None = None,
    initial: Mapping[str, Any] | None = None,
    monitor: Monitor | None = None,
    journey: Journey | None = None,
) -> MonitorForm:
    member = request.membership
    tier, own_email = member.organization.tier, member.user.email
    recipients = recipients_of([monitor])[monitor.id] if monitor else Recipients((), (), None)
    if monitor is not None and data is None:
        emails = [email for email in recipients.emails if email == own_email or not member.is_limited]
        initial = initial_values_of(monitor, emails)
    if member.is_limited:
        people = {own_email: "Unsubscribed" if own_email in recipients.unsubscribed else ""}
        return MonitorForm(data, tier=tier, people=people, initial=initial, monitor=monitor, limited_user=member.user)
    members = access.active_members(member.organization_id, includes_limited=True).order_by("email")
    # The user's own address comes first, because MAX_PEOPLE may exclude it.
    first_emails = members.values_list("email", flat=True)[:MAX_PEOPLE]
    hints = dict.fromkeys([own_email, *recipients.emails, *first_emails], "")
    limited = access.rows(Membership, member.organization_id).filter(user__email__in=hints).exclude(limited_to=[])
    hints |= dict.fromkeys(limited.values_list("user__email", flat=True), "Sees only some sites")
    hints |= dict.fromkeys(recipients.unsubscribed, "Unsubscribed")
    webhooks = webhook_choices(member.organization_id, Monitor)
    names = journeys_of(member.organization_id).order_by("name", "id").only("id", "name", "site", "proven_at")
    choices: Mapping[str, Any] = {"people": hints, "webhooks": webhooks, "journeys": list(names), "journey": journey}
    return MonitorForm(data, tier=tier, initial=initial, monitor=monitor, **choices)


def _form_page(request: MemberRequest, form: MonitorForm, status: int, monitor: Monitor | None = None) -> HttpResponse:
    organization_id, limits = request.membership.organization_id, member_caller(request.membership).limits
    context = {
        "section": "monitors",
        "form": form,
        "monitor": monitor,
        "estimate": estimate(form, usage.quota(organization_id, limits, timezone.now()), form.chosen_journey),
        "zones": time_zones(),
        "lacks_webhook": not receivers(organization_id, Monitor).exists(),
    }
    return render(request, "sites/monitors/form.html", context, status=status)


def _journey_of(request: MemberRequest, values: QueryDict) -> Journey | None:
    """Return the journey that the form or the query string chooses, if any. Limited members see no journeys."""
    journey_id = values.get("journey")
    if not journey_id or values.get("scope", Audit.Kind.JOURNEY) != Audit.Kind.JOURNEY:
        return None
    if request.membership.is_limited:
        raise Http404
    try:
        return JOURNEY.find(request.membership.organization_id, journey_id)
    except NotFound as error:
        raise Http404 from error


def _initial_values(request: MemberRequest) -> dict[str, Any]:
    """Return the form's initial values from the audit `of` or from the query string."""
    values: dict[str, Any] = {name: request.GET[name] for name in ("url", "scope", "journey") if name in request.GET}
    if "journey" in values:
        values.setdefault("scope", Audit.Kind.JOURNEY)
    if "type" in request.GET:
        values["type"] = request.GET.getlist("type")
    if audit_id := request.GET.get("of"):
        try:
            audit = find_audit(request.membership.organization_id, audit_id)
        except NotFound as error:
            raise Http404 from error
        if not may_see_audit(request.membership, audit):
            raise Http404
        values = _values_of_audit(audit)
    every = default_interval(request.membership.organization.tier)
    user = request.membership.user
    return {"every": every, "emails": [user.email], "timezone": user.time_zone or "UTC"} | values


def _values_of_audit(audit: Audit) -> dict[str, Any]:
    """Return the target of an audit as initial form values, without credentials, which the user must enter again."""
    values: dict[str, Any] = {"scope": audit.kind, "type": audit.types}
    values |= {**viewing_values_of(audit), **requirement_values_of(audit)}
    if audit.kind == Audit.Kind.PAGES:
        return values | {"pages": "\n".join(audit.pages.order_by("position").values_list("url", flat=True))}
    values["url"] = audit.url
    if audit.kind == Audit.Kind.SITE:
        values |= {"max_pages": audit.max_pages, "discover": audit.discover}
        values |= {"include": "\n".join(audit.include), "exclude": "\n".join(audit.exclude)}
    return values


def _request_of(request: MemberRequest, form: MonitorForm) -> MonitorRequest:
    """Return the monitor request of a valid form.

    Raises a refusal if the URL is invalid or unreachable.
    """
    organization_id, url = request.membership.organization_id, form.cleaned_data.get("url", "").strip()
    if form.chosen_journey is None and form.cleaned_data["scope"] != Audit.Kind.PAGES and not has_scheme(url):
        url = complete_url(url, scan_policy(), organization_id)
    monitor_request = form.monitor_request(url, organization_id)
    assert monitor_request.audit is not None
    refuse_other_sites(request.membership, monitor_request.audit)
    return monitor_request
