"""Dashboard pages of maintenance windows. All members may view them, and members with the role may change them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.authentication import member_caller
from accounts.identity.freshness import session_suffices
from accounts.models import Membership
from accounts.roles import MemberRequest, known, page_of, requires
from accounts.submissions import form_page
from infrastructure.time_zones import time_zones
from sites.maintenance import services
from sites.maintenance.forms import WindowForm
from sites.maintenance.occurrences import is_active
from sites.maintenance.requests import parse_change, parse_window
from sites.models import MaintenanceWindow
from sites.resources import MAINTENANCE_WINDOW

Role = Membership.Role


@require_safe
@requires(Role.VIEWER)
def maintenance(request: MemberRequest) -> HttpResponse:
    """List the organization's windows, with their times in their own time zone."""
    now = timezone.now()
    windows = [
        {
            "window": window,
            "starts_at": window.starts_at.astimezone(ZoneInfo(window.timezone)),
            "ends_at": window.ends_at.astimezone(ZoneInfo(window.timezone)),
            "is_active": is_active(window, now),
            "is_over": not window.is_weekly and window.ends_at <= now,
        }
        for window in services.windows_of(request.membership.organization_id)
    ]
    return render(request, "sites/maintenance/list.html", {"section": "monitors", "windows": windows})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
def maintenance_new(request: MemberRequest) -> HttpResponse:
    def submit(form: WindowForm) -> HttpResponse:
        caller = member_caller(request.membership)
        services.create_window(caller=caller, columns=parse_window(form.body, caller.organization_id))
        messages.success(request, "The maintenance window has been created.")
        return redirect(page_of(request.membership, "maintenance"))

    return _form_page(request, None, submit)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
@known
def maintenance_edit(request: MemberRequest, window_id: str) -> HttpResponse:
    window = MAINTENANCE_WINDOW.find(request.membership.organization_id, window_id)

    def submit(form: WindowForm) -> HttpResponse:
        columns = parse_change(form.body, window)
        services.change_window(caller=member_caller(request.membership), window_id=window.id, columns=columns)
        messages.success(request, "The maintenance window has been changed.")
        return redirect(page_of(request.membership, "maintenance"))

    return _form_page(request, window, submit)


@require_POST
@requires(Role.MEMBER)
@session_suffices("the organization's own work, which all members see")
@known
def maintenance_delete(request: MemberRequest, window_id: str) -> HttpResponse:
    services.delete_window(caller=member_caller(request.membership), window_id=window_id)
    messages.success(request, "The maintenance window has been deleted.")
    return redirect(page_of(request.membership, "maintenance"))


def _form_page(
    request: MemberRequest, window: MaintenanceWindow | None, submit: Callable[[WindowForm], HttpResponse]
) -> HttpResponse:
    def show(form: WindowForm, status: int) -> HttpResponse:
        context = {"section": "monitors", "form": form, "window": window, "zones": time_zones()}
        return render(request, "sites/maintenance/form.html", context, status=status)

    make = functools.partial(WindowForm, organization_id=request.membership.organization_id, window=window)
    return form_page(request, make, show, submit)
