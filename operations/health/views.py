"""View of the admin's operations page, with the maintenance switch."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_http_methods

from accounts.models import User
from infrastructure.maintenance import MESSAGE, REFRESH_S
from infrastructure.models import MaintenanceSwitch, last_switches, switch_maintenance
from infrastructure.web.proxies import PROBLEM
from operations.health.state import operations
from website_scan import __version__

PERMISSION = "infrastructure.add_maintenanceswitch"
SHOWN_SWITCHES = 5


class SwitchForm(forms.Form):
    """Form that switches maintenance on, with a message for clients, or off.

    The form sends the new state, not a toggle, so that two operators do not undo each other's change.
    """

    is_on = forms.TypedChoiceField(
        choices=[("on", "on"), ("off", "off")], coerce=lambda value: value == "on", empty_value=None
    )
    message = forms.CharField(max_length=MaintenanceSwitch._meta.get_field("message").max_length, required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def operations_page(request: HttpRequest) -> HttpResponse:
    """Render the service's state for staff.

    A POST switches maintenance on or off.
    """
    assert isinstance(request.user, User)
    may_switch = request.user.has_perm(PERMISSION)
    form = SwitchForm(request.POST if request.method == "POST" else None)
    if form.is_bound:
        if not may_switch:
            raise PermissionDenied
        if form.is_valid():
            switch = switch_maintenance(**form.cleaned_data, actor_email=request.user.email)
            state = "on" if switch.is_on else "off"
            messages.success(
                request, f"Maintenance is {state}; every web process follows within {REFRESH_S:.0f} seconds."
            )
            return redirect("operations")
    switches = last_switches(SHOWN_SWITCHES)
    context = {
        **admin.site.each_context(request),
        "title": "Operations",
        "operations": operations(),
        "version": __version__,
        "form": form,
        "may_switch": may_switch,
        "switches": switches,
        "is_on": bool(switches) and switches[0].is_on,
        "by_environment": settings.MAINTENANCE_MODE,
        "default_message": MESSAGE,
        "proxy_problem": request.META.get(PROBLEM),
    }
    return TemplateResponse(request, "admin/operations.html", context, status=400 if form.errors else 200)
