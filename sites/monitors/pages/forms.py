"""Form for a monitor: target, schedule, alert thresholds and recipients."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundWidget

from accounts.models import Interval, Tier
from infrastructure.api.inputs import Whole, checked
from infrastructure.web.forms import HintedLabel, OnceForm, TicksField
from scans.models import Scan
from scans.reachability import has_scheme
from sites.audits.requests import MAX_LISTED
from sites.models import Audit, Monitor
from sites.models.monitor import NAME_LENGTH
from sites.monitors import alerts
from sites.monitors.requests import (
    COLUMNS,
    MonitorRequest,
    MonitorRequestSerializer,
    interval_within_plan,
    is_shorter,
    schedule_columns,
)
from sites.pages.forms import TargetForm
from sites.recipients import members_of
from website_scan.errors import Refusal

HINTS = {
    Interval.HOUR: "For pages that must not break for long",
    Interval.SIX_HOURS: "Four times a day",
    Interval.DAY: "What most sites need",
    Interval.WEEK: "For pages that rarely change",
    Interval.MONTH: "For the record",
}
SCOPES = (
    (Audit.Kind.PAGE, HintedLabel("This page", "One page")),
    (Audit.Kind.PAGES, HintedLabel("A list of pages", "Only the pages that you list")),
    (Audit.Kind.SITE, HintedLabel("The whole site", "Finds its pages again for each run")),
)


def points(label: str, **kwargs: Any) -> forms.IntegerField:
    """Return a field for a whole number from 1 that may be left empty."""
    wrong = {
        "invalid": "Enter a whole number, or leave this empty.",
        "min_value": "Enter at least 1.",
        "max_value": "Enter at most %(limit_value)s.",
    }
    return forms.IntegerField(label=label, required=False, min_value=1, error_messages=wrong, **kwargs)


def is_by_type(kind: alerts.AlertKind) -> bool:
    """Return True if the setting of the alert has a value for each type of scan."""
    return isinstance(kind.usual, dict)


def alert_fields(kind: alerts.AlertKind) -> dict[str, forms.Field]:
    """Return the form's fields for a kind of alert, made of its field in the API."""
    field = kind.input()
    if is_by_type(kind):
        return {f"{kind.name}_{type}": points(str(label), max_value=100) for type, label in Scan.Type.choices}
    common = {"label": kind.label, "help_text": kind.hint, "initial": kind.usual}
    if kind.choices:
        return {kind.name: forms.ChoiceField(choices=kind.choices, required=False, **common)}
    if isinstance(field, Whole):
        return {kind.name: points(max_value=field.max_value, **common)}
    return {kind.name: forms.BooleanField(required=False, **common)}


def _entered_alert(kind: alerts.AlertKind, given: Mapping[str, Any]) -> Any:
    """Return the setting of an alert."""
    if is_by_type(kind):
        return {type: value for type in Scan.Type.values if (value := given[f"{kind.name}_{type}"])}
    value = given[kind.name]
    return None if value == "" else value


class MonitorForm(OnceForm, TargetForm):
    """Form for a new monitor, or for the changes of `monitor`, whose saved credentials it can delete.

    `people` are the e-mail addresses of members, each with a hint that may be empty.
    """

    noun = "monitor"
    about = {
        **TargetForm.about,
        "day": "at",
        **{
            f"alert.{kind.name}.{each}": f"{kind.name}_{each}"
            for kind in alerts.KINDS
            if is_by_type(kind)
            for each in Scan.Type.values
        },
    }
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=NAME_LENGTH,
        help_text="Shown in e-mails and lists. Leave it empty to use the host name.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scope = forms.ChoiceField(
        choices=SCOPES, label="Pages to scan", widget=forms.RadioSelect, initial=Audit.Kind.PAGE, required=False
    )
    pages = forms.CharField(
        label="Pages, one per line",
        required=False,
        max_length=MAX_LISTED * 2048,
        widget=forms.Textarea(
            attrs={"rows": 5, "placeholder": "https://example.com/", "autocapitalize": "none", "spellcheck": "false"}
        ),
        help_text="Addresses without https:// or http:// use https.",
    )
    forget_key = forms.BooleanField(label="Delete the saved credentials", required=False)

    every = forms.ChoiceField(
        label="How often",
        choices=[(each, HintedLabel(each.label.capitalize(), HINTS[each])) for each in Interval],
        widget=forms.RadioSelect,
        initial=Interval.DAY,
        error_messages={"required": "Choose how often."},
    )
    at = forms.TimeField(
        label="At",
        required=False,
        input_formats=["%H:%M", "%H:%M:%S"],
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text="Leave it empty to let us choose a time. For hourly runs, only the minutes count.",
        error_messages={"invalid": "Enter a time such as 06:00."},
    )
    weekday = forms.TypedChoiceField(
        label="On",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", "any day of the week"), *enumerate(calendar.day_name, 1)],
    )
    monthday = forms.TypedChoiceField(
        label="On",
        required=False,
        coerce=int,
        empty_value=None,
        choices=[("", "any day of the month"), *((n, f"day {n}") for n in range(1, 29))]
        + [(n, f"day {n}, or the last day of shorter months") for n in (29, 30, 31)],
    )
    # There are 600 time zones: the template renders the choices, and the service validates the value.
    timezone = forms.CharField(label="Time zone", required=False, initial="UTC", max_length=64)

    emails = TicksField([], label="E-mail to")
    webhooks = forms.BooleanField(label="Also send events to our webhooks", required=False, initial=True)

    def __init__(
        self,
        data: Any = None,
        *,
        tier: Tier,
        people: Mapping[str, str],
        initial: Mapping[str, Any] | None = None,
        monitor: Monitor | None = None,
    ) -> None:
        super().__init__(data, pages_per_audit=tier.pages_per_audit, initial=initial)
        self.monitor, self.tier = monitor, tier
        self.shortest = Interval(tier.shortest_interval)
        self.fields["url"].widget.attrs.pop("required")
        allowed = f"Your plan allows up to {min(tier.pages_per_audit, MAX_LISTED):,} per run."
        self.fields["pages"].help_text = f"{self.fields['pages'].help_text} {allowed}"
        ticks = self.fields["emails"]
        assert isinstance(ticks, TicksField)
        ticks.choices = [(each, HintedLabel(each, hint)) for each, hint in people.items()]
        for kind in alerts.KINDS:
            self.fields |= alert_fields(kind)

    @property
    def intervals(self) -> list[tuple[BoundWidget, bool]]:
        """Return the choices of the interval, each with True if the plan allows it."""
        return [(box, not is_shorter(str(box.data["value"]), self.shortest)) for box in self["every"]]

    @property
    def lacks_intervals(self) -> bool:
        return not all(allowed for _, allowed in self.intervals)

    @property
    def alerts(self) -> list[tuple[alerts.AlertKind, list[forms.BoundField]]]:
        """Return the fields of each kind of alert: one, or one for each type."""
        return [(kind, [self[name] for name in alert_fields(kind)]) for kind in alerts.KINDS]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("scope") == Audit.Kind.PAGES:
            if not given.get("pages", "").split():
                self.add_error("pages", "Enter at least one address.")
        elif "url" in given and not given["url"].strip():
            self.add_error("url", "Enter an address.")
        if self._day(given) and not given.get("at") and "at" not in self.errors:
            self.add_error("at", "Choose a time as well: a day alone is not enough.")
        return given

    def field_of(self, refusal: Refusal) -> str | None:
        """Return the form's field as the base class does; addresses of a list are in `pages`."""
        name = super().field_of(refusal)
        return "pages" if name == "url" and self.cleaned_data.get("scope") == Audit.Kind.PAGES else name

    def monitor_request(self, url: str, organization_id: int) -> MonitorRequest:
        """Return the request for a new monitor, or for the changes of `monitor`, with `url` as the address.

        Raises the API's refusals of fields.
        """
        given = self.cleaned_data
        audit = self.audit_request(self.listed if given["scope"] == Audit.Kind.PAGES else [url])
        columns = {name: given[name] for name in COLUMNS & given.keys()}
        if given["name"].strip():
            columns["name"] = checked(MonitorRequestSerializer, "name", given["name"])
        else:
            del columns["name"]
        every = given["every"]
        if self.monitor is None or every != self.monitor.every:  # a plan that allows less lets the present one stay
            interval_within_plan(every, self.tier)
        at, zone = given["at"], given["timezone"] or "UTC"
        columns |= schedule_columns(
            every, at and at.replace(second=0), self._day(given), checked(MonitorRequestSerializer, "timezone", zone)
        )
        columns["alert"] = {kind.name: _entered_alert(kind, given) for kind in alerts.KINDS}
        columns["recipients"] = members_of(organization_id, given["emails"])
        columns["tells_webhooks"] = given["webhooks"]
        keeps_credentials = not (self.has_credentials or given["forget_key"])
        return MonitorRequest(audit, columns, keeps_credentials=keeps_credentials)

    @property
    def listed(self) -> list[str]:
        """Return the URLs of the list of pages, with https:// where no scheme was entered."""
        entered: Sequence[str] = self.cleaned_data["pages"].split()
        return [each if has_scheme(each) else f"https://{each}" for each in entered]

    @staticmethod
    def _day(given: Mapping[str, Any]) -> int | None:
        name = {Interval.WEEK: "weekday", Interval.MONTH: "monthday"}.get(given.get("every", ""))
        return given.get(name) if name else None


def entered_of(monitor: Monitor, emails: Sequence[str]) -> dict[str, Any]:
    """Return the form's initial values for an existing monitor, without its credentials."""
    is_list = monitor.kind == Audit.Kind.PAGES
    entered: dict[str, Any] = {name: getattr(monitor, name) for name in COLUMNS & MonitorForm.base_fields.keys()}
    entered |= {
        "scope": monitor.kind,
        "url": "" if is_list else monitor.url,
        "pages": "\n".join(monitor.pages) if is_list else "",
        "type": monitor.types,
        "every": monitor.every,
        "at": monitor.at,
        "weekday": monitor.day if monitor.every == Interval.WEEK else None,
        "monthday": monitor.day if monitor.every == Interval.MONTH else None,
        "timezone": monitor.timezone,
        "emails": emails,
        "webhooks": monitor.tells_webhooks,
    }
    if monitor.kind == Audit.Kind.SITE:
        entered |= {"max_pages": monitor.max_pages, "discover": monitor.discover}
        entered |= {"include": "\n".join(monitor.include), "exclude": "\n".join(monitor.exclude)}
    settings = alerts.settings_of(monitor)
    for kind in alerts.KINDS:
        if is_by_type(kind):
            entered |= {f"{kind.name}_{type}": value for type, value in settings[kind.name].items()}
        else:
            entered[kind.name] = settings[kind.name] or ""
    return entered
