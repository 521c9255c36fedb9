"""Form field for the webhooks that receive the events of a monitor or a list."""

from __future__ import annotations

from collections.abc import Sequence

from accounts import access
from infrastructure.web.forms import HintedLabel
from sites.models import Monitor, SiteList
from sites.recipients import WORDS, chosen_webhooks, event_kinds_of
from webhooks.models import Webhook

# Value of the box that chooses all webhooks. IDs of webhooks begin with `wh_`.
ALL = "all"

WebhookChoices = Sequence[tuple[str, HintedLabel]]


def webhook_choices(organization_id: int, kind: type[Monitor | SiteList]) -> WebhookChoices:
    """Return the boxes for all webhooks, and for each webhook of an organization.

    A hint marks webhooks that receive no events of monitors or of lists, depending on `kind`.
    """
    word, kinds = WORDS[kind], set(event_kinds_of(kind))
    choices = [
        (ALL, HintedLabel("All webhooks", f"All that receive {word} events, also future ones. Untick this to choose."))
    ]
    for webhook in access.rows(Webhook, organization_id).defer("encrypted_secret"):
        hint = "" if kinds & set(webhook.events) else f"Receives no {word} events"
        choices.append((webhook.id, HintedLabel(webhook.name, hint if webhook.enabled else "Disabled")))
    return choices


def entered_webhook_ids(organization_id: int, values: Sequence[str]) -> list[str] | None:
    """Return the column `webhook_ids` for the ticked boxes.

    Raises InvalidParams if a webhook does not exist any more.
    """
    return None if ALL in values else chosen_webhooks(organization_id, values)


def ticked_values(webhook_ids: Sequence[str] | None) -> list[str]:
    """Return the values of the boxes that are ticked for the column `webhook_ids`."""
    return [ALL] if webhook_ids is None else list(webhook_ids)
