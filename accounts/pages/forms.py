"""Forms for the accounts pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time, timedelta
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone

from accounts.activity import EventFilter
from accounts.addresses import without_addresses
from accounts.keys.notices import NOTICE_DAYS
from accounts.keys.services import OVERLAP
from accounts.models import ActivityEvent, ApiKey, Organization, User
from infrastructure.api.scopes import Scope
from infrastructure.time_zones import time_zones
from infrastructure.web.forms import HintedLabel

MAX_PASSWORD_LENGTH = 500  # The length is limited because hashing a longer password would take too much CPU time.
MAX_NAME_LENGTH = Organization._meta.get_field("name").max_length
MAX_KEY_NAME_LENGTH = ApiKey._meta.get_field("name").max_length
MAX_KEY_LIFETIME = timedelta(days=5 * 365)


def validate_printable(value: str) -> None:
    """Raise ValidationError for text with control characters or line breaks."""
    if not value.isprintable():
        raise ValidationError("Use only letters, digits and symbols, on one line.")


class NewPasswordForm(PasswordChangeForm):
    """Django's password change form, without autofocus on the first field, because the page has other content."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["old_password"].widget.attrs.pop("autofocus", None)


class EmailForm(forms.Form):
    """Form for an e-mail address that a link is sent to."""

    email = forms.EmailField(
        label="E-mail address", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class NewPersonForm(forms.Form):
    """Form for a new user's password, which is validated together with the e-mail address."""

    password = forms.CharField(
        label="Password",
        max_length=MAX_PASSWORD_LENGTH,
        strip=False,
        help_text="At least 8 characters, and not a common password.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._email = email

    def clean_password(self) -> str:
        """Validate the password with AUTH_PASSWORD_VALIDATORS."""
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self._email))
        return password


class TimeZoneForm(forms.Form):
    """Form for the time zone of a person's pages and e-mails."""

    time_zone = forms.ChoiceField(
        label="Time zone",
        required=False,
        help_text="For times on pages and in e-mails to you, and for new monitors and lists. Automatic: that of"
        " the browser on pages, and UTC in e-mails.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("forms.ChoiceField", self.fields["time_zone"])
        field.choices = [("", "Automatic"), *((zone, zone.replace("_", " ")) for zone in time_zones())]


class OrganizationForm(forms.Form):
    organization = forms.CharField(
        label="Name of the organization",
        max_length=MAX_NAME_LENGTH,
        validators=[validate_printable, without_addresses],
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )


class SignUpForm(OrganizationForm, NewPersonForm):
    """Form for the second step of a sign-up, after the e-mail address is confirmed."""

    field_order = ("organization", "password")


class SettingsForm(forms.Form):
    """Form for the organization's settings."""

    name = forms.CharField(label="Name", max_length=MAX_NAME_LENGTH, validators=[validate_printable, without_addresses])
    shares_reports = forms.BooleanField(
        label="Share new reports",
        required=False,
        help_text="Anyone with the link can read a shared report. You can also share each report, or make it"
        " private, on its own page.",
    )


class LoginRequirementsForm(forms.Form):
    """Form for an organization's login requirements.

    Without configured providers, it has only `second_factor`.
    """

    second_factor = forms.BooleanField(
        label="Require a second factor",
        required=False,
        help_text="Members without an authenticator app or a passkey see nothing until they have added one.",
    )
    provider = forms.ChoiceField(
        label="Require an identity provider",
        required=False,
        help_text="Members with an address of the domain below log in with it; others log in as before.",
    )
    domain = forms.CharField(
        label="Domain of the addresses",
        required=False,
        max_length=253,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "example.com"}),
    )

    def __init__(self, *args: Any, providers: Iterable[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["provider"]
        assert isinstance(field, forms.ChoiceField)
        choices = [("", "None"), *providers]
        field.choices = choices
        if len(choices) == 1:
            del self.fields["provider"], self.fields["domain"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("provider") and not cleaned.get("domain"):
            self.add_error("domain", "Enter the domain of the addresses that must use the provider.")
        return cleaned


class KeyNameForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=MAX_KEY_NAME_LENGTH,
        validators=[validate_printable],
        help_text="What the key is for, such as “Nightly build”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class KeyExpiryForm(forms.Form):
    """Form for an API key's expiry after some days, on a date, or never."""

    ON_DATE = "date"
    LIFETIMES = {"30": "In 30 days", "90": "In 90 days", "365": "In 1 year", ON_DATE: "On a date", "": "Never"}
    DEFAULT = "90"

    lifetime = forms.ChoiceField(
        label="Expires",
        choices=list(LIFETIMES.items()),
        required=False,
        initial=DEFAULT,
        help_text="After that, the key stops working. "
        f"You get an e-mail {' and '.join(map(str, NOTICE_DAYS))} days before.",
    )
    last_day = forms.DateField(
        label="Last day",
        required=False,
        help_text="The key works until this day is over, in UTC.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
    )

    def clean(self) -> dict[str, Any]:
        """If the key expires on a date, check that the date is present, not in the past and not too far ahead."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("lifetime") == self.ON_DATE and "last_day" not in self.errors:
            today = timezone.now().date()
            day = cleaned.get("last_day")
            if day is None or not today <= day <= today + MAX_KEY_LIFETIME:
                latest = today + MAX_KEY_LIFETIME
                self.add_error("last_day", f"Choose a day from {today} to {latest}, or another expiry.")
        return cleaned

    def expires_at(self) -> datetime | None:
        """Return when the API key expires. None for never."""
        lifetime = self.cleaned_data["lifetime"]
        if lifetime == self.ON_DATE:
            return datetime.combine(self.cleaned_data["last_day"], time.min, UTC) + timedelta(days=1)
        return timezone.now() + timedelta(days=int(lifetime)) if lifetime else None


class KeyForm(KeyExpiryForm, KeyNameForm):
    """Form for a new API key."""

    field_order = ("name", "scope", "lifetime", "last_day")
    scope = forms.ChoiceField(
        label="Scope",
        choices=[
            (
                Scope.READ,
                HintedLabel(
                    "Read",
                    "See scans, audits, reports, assessments, journeys, monitors, lists, mutes, maintenance, badges, "
                    "webhooks and usage",
                ),
            ),
            (
                Scope.SCAN,
                HintedLabel(
                    "Scan", "Also start scans, audits and runs of lists and journeys, and cancel audits and these runs"
                ),
            ),
            (
                Scope.MANAGE,
                HintedLabel(
                    "Manage",
                    "Everything that the API can do, including changing assessments, journeys, monitors, lists, "
                    "mutes, maintenance, badges and webhooks",
                ),
            ),
        ],
        initial=Scope.SCAN,
        widget=forms.RadioSelect,
    )


class KeyRegenerationForm(KeyExpiryForm):
    """Form for regenerating an API key.

    `replaces` is the secret's prefix when the form was rendered.
    """

    at_once = forms.ChoiceField(
        label="Current secret",
        choices=[
            (
                "",
                HintedLabel(
                    f"Works for {OVERLAP // timedelta(hours=1)} more hours", "Gives you time to replace it everywhere"
                ),
            ),
            (
                "1",
                HintedLabel(
                    "Stops working immediately", "Choose this if it has leaked: programs that use it will fail"
                ),
            ),
        ],
        required=False,
        initial="",
        widget=forms.RadioSelect,
    )
    replaces = forms.CharField(max_length=20, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, *, key: ApiKey) -> None:
        """Preselect the API key's current lifetime, if LIFETIMES contains it."""
        lifetime = key.expires_at and key.expires_at - (key.regenerated_at or key.created_at)
        days = str(round(lifetime / timedelta(days=1))) if lifetime else ""
        initial = {"lifetime": days if days in self.LIFETIMES else self.DEFAULT, "replaces": key.prefix}
        super().__init__(data, initial=initial)


class ConfirmationForm(forms.Form):
    """Form to confirm a deletion by typing the object's name."""

    confirmation = forms.CharField(max_length=254, widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args: Any, expected: str, label: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._expected = expected
        self.fields["confirmation"].label = label
        self.fields["confirmation"].help_text = f"Type {expected} to confirm."

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"]
        if typed.casefold() != self._expected.strip().casefold():
            raise forms.ValidationError(f"This does not match {self._expected}.")
        return typed


class PageForm(forms.Form):
    after = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


def _day_field(label: str) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    messages = {"invalid": "Enter a day such as 2026-11-22."}
    return forms.DateField(
        label=label, required=False, widget=widget, input_formats=["%Y-%m-%d"], error_messages=messages
    )


class ActivityFilterForm(forms.Form):
    """Activity log filter by action, user, API key and days.

    `before` is the ID where the next page continues.
    """

    action = forms.CharField(required=False, max_length=ActivityEvent._meta.get_field("action").max_length)
    person = forms.CharField(required=False, max_length=ActivityEvent._meta.get_field("actor_email").max_length)
    key = forms.CharField(required=False, max_length=ActivityEvent._meta.get_field("actor_key").max_length)
    since = _day_field("From")
    until = _day_field("To")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def add_prefix(self, field_name: str) -> str:
        """Return a field's URL parameter.

        `since` becomes `from` and `until` becomes `to`.
        """
        return {"since": "from", "until": "to"}.get(field_name, field_name)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", "This day is before the first one.")
        return cleaned

    @property
    def has_wrong_days(self) -> bool:
        """True if a day is invalid.

        The page then displays no events, because an unfiltered list would mislead.
        """
        return bool({"since", "until"} & self.errors.keys())

    @property
    def event_filter(self) -> EventFilter:
        """Event filter with the values of the valid fields."""
        self.is_valid()
        values = self.cleaned_data
        days = values.get("since"), values.get("until")
        return EventFilter(values.get("action", ""), values.get("person", ""), values.get("key", ""), *days)

    def query(self, *names: str) -> str:
        """Return the filter as a URL query, for another page or a download.

        `names` selects fields.
        """
        event_filter = self.event_filter
        values = {
            "action": event_filter.action,
            "person": event_filter.email,
            "key": event_filter.key_id,
            "from": event_filter.since,
            "to": event_filter.until,
        }
        return urlencode({name: value for name, value in values.items() if value and (not names or name in names)})
