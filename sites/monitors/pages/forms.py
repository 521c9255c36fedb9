"""Dashboard form for creating and changing monitors."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.forms.boundfield import BoundWidget

from accounts.models import Interval, Tier, User
from infrastructure.api.inputs import Whole, checked
from infrastructure.web.forms import HintedLabel, IdempotentForm, TicksField
from scans.models import Scan
from scans.reachability import has_scheme
from sites.audits.requests import MAX_PAGES_PER_LIST
from sites.journeys.services import audit_request_of
from sites.models import Audit, Journey, Monitor
from sites.models.monitor import MAX_NAME_LENGTH
from sites.monitors import alerts
from sites.monitors.requests import (
    COLUMNS,
    MonitorRequest,
    MonitorRequestSerializer,
    interval_within_tier,
    is_shorter,
    schedule_columns,
)
from sites.pages.channels import ALL, WebhookChoices, entered_webhook_ids, ticked_values
from sites.pages.forms import CREDENTIAL_FIELDS, TargetForm, viewing_values_of
from sites.pages.requirement_rows import requirement_values_of
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
JOURNEY_SCOPE = (Audit.Kind.JOURNEY, HintedLabel("A journey", "The states that its steps reach"))
NO_JOURNEY = "Choose a journey."


def whole_number_field(label: str, **kwargs: Any) -> forms.IntegerField:
    """Return an optional form field for a whole number of at least 1."""
    messages = {
        "invalid": "Enter a whole number, or leave this empty.",
        "min_value": "Enter at least 1.",
        "max_value": "Enter at most %(limit_value)s.",
    }
    return forms.IntegerField(label=label, required=False, min_value=1, error_messages=messages, **kwargs)


def has_setting_per_type(kind: alerts.AlertKind) -> bool:
    """Return True if the alert has a separate setting for each scan type."""
    return isinstance(kind.default, dict)


def alert_fields(kind: alerts.AlertKind) -> dict[str, forms.Field]:
    """Return the form fields for an alert kind, derived from its serializer field in the API."""
    field = kind.input()
    if has_setting_per_type(kind):
        return {
            f"{kind.name}_{type}": whole_number_field(str(label), max_value=100) for type, label in Scan.Type.choices
        }
    common = {"label": kind.label, "help_text": kind.hint, "initial": kind.default}
    if kind.choices:
        return {kind.name: forms.ChoiceField(choices=kind.choices, required=False, **common)}
    if isinstance(field, Whole):
        return {kind.name: whole_number_field(max_value=field.max_value, **common)}
    return {kind.name: forms.BooleanField(required=False, **common)}


def _alert_setting(kind: alerts.AlertKind, values: Mapping[str, Any]) -> Any:
    if has_setting_per_type(kind):
        return {type: value for type in Scan.Type.values if (value := values[f"{kind.name}_{type}"])}
    value = values[kind.name]
    return None if value == "" else value


class MonitorForm(IdempotentForm, TargetForm):
    """Form for creating or changing a monitor.

    It can also delete the stored credentials. `people` maps e-mail addresses of members to hints, which may be empty.
    `limited_user` is a member who is limited to some sites: they can only add and remove themselves as a recipient, and
    have no choice of webhooks. `journeys` are those that can be chosen, and `journey` is the chosen one, which excludes
    the fields for pages and their options.
    """

    noun = "monitor"
    about = {
        **TargetForm.about,
        "day": "at",
        "JOURNEY_NOT_PROVEN": "journey",
        "MISSING_SECRET": "journey",
        "MISSING_BROWSER": "journey",
        **{
            f"alert.{kind.name}.{type}": f"{kind.name}_{type}"
            for kind in alerts.KINDS
            if has_setting_per_type(kind)
            for type in Scan.Type.values
        },
    }
    FIELDS_OF_PAGES = (
        *("url", "pages", "type", *TargetForm.SITE_FIELDS, "widths", "color_scheme"),
        *("own_rows", "own_weight", "own_budget", *CREDENTIAL_FIELDS, "forget_key"),
    )
    journey = forms.ChoiceField(
        label="Journey",
        required=False,
        help_text="Its states are judged in each run, by the types and in the widths that are set in the journey.",
    )
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=MAX_NAME_LENGTH,
        help_text="Shown in e-mails and lists. Leave it empty to use the name of the host or of the journey.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scope = forms.ChoiceField(
        choices=SCOPES, label="Pages to scan", widget=forms.RadioSelect, initial=Audit.Kind.PAGE, required=False
    )
    pages = forms.CharField(
        label="Pages, one per line",
        required=False,
        max_length=MAX_PAGES_PER_LIST * 2048,
        widget=forms.Textarea(
            attrs={"rows": 5, "placeholder": "https://example.com/", "autocapitalize": "none", "spellcheck": "false"}
        ),
        help_text="Addresses without https:// or http:// use https.",
    )
    forget_key = forms.BooleanField(label="Delete the saved credentials", required=False)

    every = forms.ChoiceField(
        label="How often",
        choices=[(interval, HintedLabel(interval.label.capitalize(), HINTS[interval])) for interval in Interval],
        widget=forms.RadioSelect,
        initial=Interval.DAY,
        error_messages={"required": "Choose how often."},
    )
    at = forms.TimeField(
        label="At",
        required=False,
        input_formats=["%H:%M", "%H:%M:%S"],
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text="Leave it empty to have a time chosen for you. For hourly runs, only the minutes count.",
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
    # The field is not a ChoiceField, because the template renders the 600 time zones and the service validates the
    # value.
    timezone = forms.CharField(label="Time zone", required=False, initial="UTC", max_length=64)

    emails = TicksField([], label="E-mail to")
    webhooks = TicksField([], label="Webhooks", initial=[ALL])

    def __init__(  # noqa: PLR0913 -- what the fields offer, by keyword
        self,
        data: Any = None,
        *,
        tier: Tier,
        people: Mapping[str, str],
        webhooks: WebhookChoices = (),
        initial: Mapping[str, Any] | None = None,
        monitor: Monitor | None = None,
        limited_user: User | None = None,
        journeys: Sequence[Journey] = (),
        journey: Journey | None = None,
    ) -> None:
        super().__init__(data, pages_per_audit=tier.pages_per_audit, initial=initial)
        self.monitor, self.tier, self.limited_user, self.chosen_journey = monitor, tier, limited_user, journey
        self.shortest = Interval(tier.shortest_interval)
        self.fields["url"].widget.attrs.pop("required")
        limit = f"Your plan allows up to {min(tier.pages_per_audit, MAX_PAGES_PER_LIST):,} per run."
        self.fields["pages"].help_text = f"{self.fields['pages'].help_text} {limit}"
        ticks = {"emails": [(email, HintedLabel(email, hint)) for email, hint in people.items()], "webhooks": webhooks}
        for name, choices in ticks.items():
            field = self.fields[name]
            assert isinstance(field, TicksField)
            field.choices = choices
        if limited_user is not None:
            del self.fields["webhooks"]
        if journeys:
            names = [(row.id, _name_of_choice(row)) for row in journeys]
            self._set_choices("scope", [*SCOPES, JOURNEY_SCOPE])
            self._set_choices("journey", [("", NO_JOURNEY.rstrip(".")), *names])
        else:
            del self.fields["journey"]
        for kind in alerts.KINDS:
            self.fields |= alert_fields(kind)

    def _set_choices(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    @property
    def intervals(self) -> list[tuple[BoundWidget, bool]]:
        """Return the interval choices, and whether the tier allows them."""
        return [(widget, not is_shorter(str(widget.data["value"]), self.shortest)) for widget in self["every"]]

    @property
    def has_disallowed_intervals(self) -> bool:
        return not all(allowed for _, allowed in self.intervals)

    @property
    def alerts(self) -> list[tuple[alerts.AlertKind, list[forms.BoundField]]]:
        """Return the form fields of each alert kind.

        An alert kind has one field, or one for each scan type.
        """
        return [(kind, [self[name] for name in alert_fields(kind)]) for kind in alerts.KINDS]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if self.chosen_journey is not None or values.get("scope") == Audit.Kind.JOURNEY:
            for name in self.FIELDS_OF_PAGES:
                self.errors.pop(name, None)  # The form does not show these fields.
            if self.chosen_journey is None:
                self.add_error("journey", NO_JOURNEY)
        elif values.get("scope") == Audit.Kind.PAGES:
            if not values.get("pages", "").split():
                self.add_error("pages", "Enter at least one address.")
        elif "url" in values and not values["url"].strip():
            self.add_error("url", "Enter an address.")
        if self._day(values) and not values.get("at") and "at" not in self.errors:
            self.add_error("at", "Choose a time as well: a day alone is not enough.")
        return values

    def field_of(self, refusal: Refusal) -> str | None:
        """Return the form field that a refusal is about.

        It is `pages` for invalid URLs in the list of pages, and `journey` for the start of a journey.
        """
        name = super().field_of(refusal)
        if name == "url" and self.chosen_journey is not None:
            return "journey"
        return "pages" if name == "url" and self.cleaned_data.get("scope") == Audit.Kind.PAGES else name

    def monitor_request(self, url: str, organization_id: int) -> MonitorRequest:
        """Return the request to create or change a monitor of the journey, or of `url`.

        Raises the same refusals as the API.
        """
        values, journey = self.cleaned_data, self.chosen_journey
        if journey is None:
            audit = self.audit_request(self.listed if values["scope"] == Audit.Kind.PAGES else [url])
            keeps_credentials = not (self.has_credentials or values["forget_key"])
        else:
            audit, keeps_credentials = audit_request_of(journey, self.pages_per_audit), False
        columns = {name: values[name] for name in COLUMNS & values.keys()}
        if values["name"].strip():
            columns["name"] = checked(MonitorRequestSerializer, "name", values["name"])
        else:
            del columns["name"]
        every = values["every"]
        # An unchanged interval is accepted even if the tier no longer allows it.
        if self.monitor is None or every != self.monitor.every:
            interval_within_tier(every, self.tier)
        at, zone = values["at"], values["timezone"] or "UTC"
        columns |= schedule_columns(
            every, at and at.replace(second=0), self._day(values), checked(MonitorRequestSerializer, "timezone", zone)
        )
        columns["alert"] = {kind.name: _alert_setting(kind, values) for kind in alerts.KINDS}
        columns |= self._recipient_columns(organization_id)
        return MonitorRequest(audit, columns, keeps_credentials=keeps_credentials, journey=journey)

    def _recipient_columns(self, organization_id: int) -> dict[str, Any]:
        """Return the columns with the recipients. Those that a limited member does not see stay as they are."""
        emails, user = self.cleaned_data["emails"], self.limited_user
        if user is None:
            return {
                "recipients": members_of(organization_id, emails, includes_limited=True),
                "webhook_ids": entered_webhook_ids(organization_id, self.cleaned_data["webhooks"]),
            }
        others = [person for person in self.monitor.recipients if person != user.pk] if self.monitor else []
        return {"recipients": [*others, user.pk] if user.email in emails else others}

    @property
    def listed(self) -> list[str]:
        """Return the URLs that were entered as the list of pages.

        URLs without a scheme get https://.
        """
        urls: Sequence[str] = self.cleaned_data["pages"].split()
        return [url if has_scheme(url) else f"https://{url}" for url in urls]

    @staticmethod
    def _day(values: Mapping[str, Any]) -> int | None:
        name = {Interval.WEEK: "weekday", Interval.MONTH: "monthday"}.get(values.get("every", ""))
        return values.get(name) if name else None


def _name_of_choice(journey: Journey) -> str:
    problem = "" if journey.proven_at else " (control not proven)"
    return f"{journey.name} \N{EN DASH} {journey.site}{problem}"


def initial_values_of(monitor: Monitor, emails: Sequence[str]) -> dict[str, Any]:
    """Return the initial form values for an existing monitor, without its credentials."""
    is_page_list = monitor.kind == Audit.Kind.PAGES
    values: dict[str, Any] = {name: getattr(monitor, name) for name in COLUMNS & MonitorForm.base_fields.keys()}
    values |= {
        "scope": monitor.kind,
        "journey": monitor.journey_id,
        "url": "" if is_page_list else monitor.url,
        "pages": "\n".join(monitor.pages) if is_page_list else "",
        "type": monitor.types,
        "every": monitor.every,
        "at": monitor.at,
        "weekday": monitor.day if monitor.every == Interval.WEEK else None,
        "monthday": monitor.day if monitor.every == Interval.MONTH else None,
        "timezone": monitor.timezone,
        "emails": emails,
        "webhooks": ticked_values(monitor.webhook_ids),
    }
    values |= {**viewing_values_of(monitor), **requirement_values_of(monitor)}
    if monitor.kind == Audit.Kind.SITE:
        values |= {"max_pages": monitor.max_pages, "discover": monitor.discover}
        values |= {"include": "\n".join(monitor.include), "exclude": "\n".join(monitor.exclude)}
    settings = alerts.alert_settings_of(monitor)
    for kind in alerts.KINDS:
        if has_setting_per_type(kind):
            values |= {f"{kind.name}_{type}": value for type, value in settings[kind.name].items()}
        else:
            values[kind.name] = settings[kind.name] or ""
    return values
