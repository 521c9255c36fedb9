"""Dashboard form for the settings of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from accounts.models import Tier
from infrastructure.api.inputs import checked
from infrastructure.web.forms import HintedLabel, IdempotentForm, TicksField
from scans.models import Scan, stored_categories, stored_requirements, stored_viewing
from scans.requests import categories_of, types_of
from sites.lists.requests import (
    COLUMNS,
    MAX_WINDOW_HOURS,
    USUAL_WINDOW_HOURS,
    ListRequest,
    ListRequestSerializer,
    interval_within_tier,
    pages_within_plan,
)
from sites.models import SiteList
from sites.models.monitor import MAX_NAME_LENGTH
from sites.models.site_list import ListInterval
from sites.pages.channels import ALL, WebhookChoices, entered_webhook_ids, ticked_values
from sites.pages.forms import HINTS, NONE_CHOSEN, ViewingForm, viewing_values_of
from sites.pages.requirement_rows import RequirementsForm, requirement_values_of
from sites.recipients import members_of
from website_scan.security_categories import SecurityCategory

EVERY = (
    ("", HintedLabel("Only when started manually", "Someone presses “Run now”, or a script does")),
    (ListInterval.WEEK, HintedLabel("Every week", "For sites that change often")),
    (ListInterval.MONTH, HintedLabel("Every month", "What most reports need")),
    (ListInterval.QUARTER, HintedLabel("Every quarter", "For the record")),
)
CATEGORY_HINTS = {
    SecurityCategory.TRANSPORT: "HTTPS, certificate, TLS versions, HSTS",
    SecurityCategory.HEADERS: "Clickjacking, MIME sniffing, referrers, CORS",
    SecurityCategory.CSP: "The policy against injected scripts",
    SecurityCategory.COOKIES: "Secure, HttpOnly, SameSite",
    SecurityCategory.EXPOSURE: "Repositories, backups, logs that anybody can load",
    SecurityCategory.DISCLOSURE: "Versions, error pages, directory listings",
    SecurityCategory.CONTENT: "Libraries with vulnerabilities, files of third parties",
    SecurityCategory.DNS_SECURITY: "DNSSEC, CAA, DANE",
    SecurityCategory.MAIL: "SPF, DKIM, DMARC, MTA-STS, mail servers",
    SecurityCategory.NAMES: "IPv6, name servers, security.txt",
}
WHOLE_NUMBER_ERRORS = {"invalid": "Enter a whole number.", "required": "Enter a whole number."}
WHOLE_NUMBER_ERRORS |= {"min_value": "Enter at least %(limit_value)s."}


class ListForm(ViewingForm, RequirementsForm, IdempotentForm):
    """Form for creating or changing a list.

    `people` maps the members' e-mail addresses to hints.
    """

    noun = "list"
    about = {"types": "type", "notify": "emails", "notify.emails": "emails", "notify.webhooks": "webhooks"}

    name = forms.CharField(
        label="Name",
        max_length=MAX_NAME_LENGTH,
        help_text="Such as “Schools in Bavaria”. Shown in e-mails and on shared pages.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Enter a name."},
    )
    type = TicksField(
        [(type, HintedLabel(type.label, hint)) for type, hint in HINTS.items()],
        label="What to check",
        initial=Scan.Type.values,
    )
    categories = TicksField(
        [(category, HintedLabel(category.label, hint)) for category, hint in CATEGORY_HINTS.items()],
        label="Only these categories of security",
    )
    pages_per_entry = forms.IntegerField(
        label="Pages per site", min_value=1, initial=1, error_messages=WHOLE_NUMBER_ERRORS
    )
    every = forms.ChoiceField(label="How often", choices=EVERY, widget=forms.RadioSelect, required=False)
    window_hours = forms.IntegerField(
        label="Spread over, in hours",
        min_value=0,
        initial=USUAL_WINDOW_HOURS,
        error_messages=WHOLE_NUMBER_ERRORS,
        help_text="The sites of a run are started evenly over this time. 0 starts them as fast as your plan allows.",
    )
    # The field is not a ChoiceField, because the template renders the 600 time zones and the service validates the
    # value.
    timezone = forms.CharField(label="Time zone", required=False, initial="UTC", max_length=64)
    emails = TicksField([], label="E-mail to")
    webhooks = TicksField([], label="Webhooks", initial=[ALL])

    def __init__(
        self,
        data: Any = None,
        *,
        tier: Tier,
        people: Mapping[str, str],
        webhooks: WebhookChoices,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        self.tier = tier
        pages = self.fields["pages_per_entry"]
        pages.help_text = (
            "1 judges the page that the list names. With more, further pages of the site are found and judged, too."
            f" Your plan allows up to {tier.pages_per_audit:,}."
        )
        pages.widget.attrs["max"] = tier.pages_per_audit
        self.fields["window_hours"].widget.attrs["max"] = MAX_WINDOW_HOURS
        ticks = {"emails": [(email, HintedLabel(email, hint)) for email, hint in people.items()], "webhooks": webhooks}
        for name, choices in ticks.items():
            field = self.fields[name]
            assert isinstance(field, TicksField)
            field.choices = choices

    def clean_type(self) -> list[str]:
        types: list[str] = list(dict.fromkeys(self.cleaned_data["type"]))
        if not types:
            raise forms.ValidationError(NONE_CHOSEN)
        return types

    def list_request(self, organization_id: int) -> ListRequest:
        """Return the list request from the form's values.

        Raises the same refusals as the API.
        """
        values = self.cleaned_data
        columns: dict[str, Any] = {
            "name": checked(ListRequestSerializer, "name", values["name"]),
            "types": [str(type) for type in types_of(values["type"])],
            "pages_per_entry": pages_within_plan(values["pages_per_entry"], self.tier),
            "every": interval_within_tier(values["every"], self.tier),
            "window_hours": checked(ListRequestSerializer, "window_hours", values["window_hours"]),
            "timezone": checked(ListRequestSerializer, "timezone", values["timezone"] or "UTC"),
            "recipients": members_of(organization_id, values["emails"]),
            "webhook_ids": entered_webhook_ids(organization_id, values["webhooks"]),
            "viewing": stored_viewing(self.viewing),
            "requirements": stored_requirements(self.requirements),
            "categories": stored_categories(categories_of(values["categories"] or None, values["type"])),
        }
        return ListRequest(columns)


def initial_values_of(site_list: SiteList, emails: Sequence[str]) -> dict[str, Any]:
    """Return the initial form values for an existing list."""
    return {name: getattr(site_list, name) for name in COLUMNS} | {
        "type": site_list.types,
        "categories": site_list.categories or [],
        "emails": emails,
        "webhooks": ticked_values(site_list.webhook_ids),
        **viewing_values_of(site_list),
        **requirement_values_of(site_list),
    }
