"""Page for a person's quiet hours."""

from __future__ import annotations

import calendar
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.identity.freshness import session_suffices
from accounts.mailing.quiet_hours import quiet_hours_of, remove_quiet_hours, set_quiet_hours
from accounts.models import QuietHours, User
from accounts.roles import require_login
from infrastructure.time_zones import time_zones
from infrastructure.web.forms import HintedLabel, RefusalForm, TicksField

WEEKDAYS = [(str(number), HintedLabel(name, "")) for number, name in enumerate(calendar.day_name, 1)]
TIME_INPUT = {"type": "time"}


class QuietHoursForm(RefusalForm):
    start = forms.TimeField(label="From", widget=forms.TimeInput(attrs=TIME_INPUT, format="%H:%M"))
    end = forms.TimeField(label="To", widget=forms.TimeInput(attrs=TIME_INPUT, format="%H:%M"))
    # The field is not a ChoiceField, because the template renders the 600 time zones.
    timezone = forms.CharField(label="Time zone", max_length=64)
    day = TicksField(WEEKDAYS, label="Beginning on", initial=[number for number, _ in WEEKDAYS])
    allows_critical = forms.BooleanField(
        label="Critical alerts at any time",
        help_text="Sites that are unreachable, and findings of critical severity.",
        required=False,
        initial=True,
    )

    def clean_timezone(self) -> str:
        name: str = self.cleaned_data["timezone"]
        if name not in time_zones():
            raise forms.ValidationError("Choose a time zone from the list.")
        return name

    def clean_day(self) -> list[int]:
        days = [number for number, (value, _) in enumerate(WEEKDAYS, 1) if value in self.cleaned_data["day"]]
        if not days or len(days) < len(self.cleaned_data["day"]):
            raise forms.ValidationError("Choose at least one day.")
        return days

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        if "start" in values and values["start"] == values.get("end"):
            self.add_error("end", "Choose a time other than the beginning.")
        return values


@require_http_methods(["GET", "HEAD", "POST"])
@require_login
@session_suffices("the person's own preference")
def quiet_hours(request: HttpRequest) -> HttpResponse:
    """Show and change the person's quiet hours. The button “Remove” deletes them."""
    user = cast("User", request.user)
    hours = quiet_hours_of(user)
    if request.method == "POST" and "remove" in request.POST:
        remove_quiet_hours(user)
        messages.success(request, "You have no quiet hours.")
        return redirect("account")
    form = QuietHoursForm(request.POST if request.method == "POST" else None, initial=_initial(hours))
    if form.is_valid():
        values = dict(form.cleaned_data)
        values["days"] = values.pop("day")
        set_quiet_hours(user, values)
        messages.success(request, "Your quiet hours have been saved.")
        return redirect("account")
    context = {"form": form, "hours": hours, "zones": time_zones()}
    return render(request, "accounts/quiet_hours.html", context, status=400 if form.is_bound else 200)


def _initial(hours: QuietHours | None) -> dict[str, Any]:
    if hours is None:
        return {"start": "22:00", "end": "07:00", "timezone": "UTC"}
    return {
        "start": hours.start,
        "end": hours.end,
        "timezone": hours.timezone,
        "day": list(map(str, hours.days)),
        "allows_critical": hours.allows_critical,
    }
