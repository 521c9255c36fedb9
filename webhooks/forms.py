"""Dashboard forms for webhooks."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms

from infrastructure.api.inputs import checked, parse_address
from infrastructure.web.forms import AddressField, HintedLabel, RefusalForm, TicksField
from scans.policy import scan_policy
from webhooks.models import MAX_NAME_LENGTH, EventKind, Webhook
from webhooks.requests import WebhookRequest, WebhookRequestSerializer
from website_scan.errors import Refusal

FORMAT_HINTS = {
    Webhook.Format.STANDARD: "JSON for your own receiver, as documented.",
    Webhook.Format.SLACK: "A message for a Slack incoming webhook.",
    Webhook.Format.TEAMS: "A card for a Teams workflow, “When a webhook request is received”.",
}


class WebhookForm(RefusalForm):
    """Form with the fields that new and existing webhooks have in common."""

    about = {"events": "event", "INVALID_URL": "url", "DOMAIN_BLOCKED": "url"}
    url = AddressField("Address", "https://example.com/hooks/scans", "off")
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=MAX_NAME_LENGTH,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Shown in the dashboard, in e-mails and in the forms of monitors and lists.",
    )
    event = TicksField([(kind, HintedLabel(kind, str(kind.label))) for kind in EventKind], label="Events")

    def offer(self, kinds: Sequence[EventKind]) -> None:
        """Offer these events only."""
        field = self.fields["event"]
        assert isinstance(field, TicksField)
        field.choices = [(kind, HintedLabel(kind, str(kind.label))) for kind in kinds]

    def webhook_request(self, body_format: str | None = None) -> WebhookRequest:
        """Return the WebhookRequest of a valid form.

        `body_format` is the format if the form has no field for it. Without a format or a name, the webhook's does not
        change. Raises the refusals of the API's fields.
        """
        values = self.cleaned_data
        name = checked(WebhookRequestSerializer, "name", values["name"]) if values["name"].strip() else None
        target = parse_address(values["url"], scan_policy(), "url")
        events = checked(WebhookRequestSerializer, "events", values["event"])
        return WebhookRequest(name, target, events, body_format or values.get("format") or None)


class WebhookEditForm(WebhookForm):
    """Form with the settings of a webhook."""

    format = forms.ChoiceField(
        choices=[(body_format, HintedLabel(body_format.label, hint)) for body_format, hint in FORMAT_HINTS.items()],
        widget=forms.RadioSelect,
        initial=Webhook.Format.STANDARD,
        required=False,
    )

    def add_refusal(self, refusal: Refusal) -> int:
        """Add a refusal as a form error, and focus the first field.

        The form is far down the page, so it would be out of view without the focus.
        """
        self.fields["url"].widget.attrs["autofocus"] = True
        return super().add_refusal(refusal)
