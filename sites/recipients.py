"""Recipients of monitor and list notifications.

Members are notified by e-mail. Webhooks receive events.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet
from rest_framework import serializers

from accounts import access
from accounts.authentication import Caller
from accounts.models import ApiKey, Unsubscription
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Flag, Nested, Parsed, refusal_as_error
from infrastructure.mail_addresses import normal_form
from sites.models import Monitor, SiteList
from webhooks.models import EventKind, Webhook

MAX_EMAILS = 50
EMAILS_RULE = f"notify.emails must be a list of at most {MAX_EMAILS} addresses."
# Words for e-mail topics, event names and sentences.
WORDS = {Monitor: "monitor", SiteList: "list"}


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients of a monitor or list for display.

    Includes unsubscribed recipients, and a warning if nobody is notified.
    """

    emails: tuple[str, ...]
    unsubscribed: tuple[str, ...]
    warning: str | None


def topic_of(row: Monitor | SiteList) -> str:
    """Return the e-mail topic of a monitor or list.

    People can unsubscribe from each topic separately.
    """
    return f"{WORDS[type(row)]}:{row.id}"


def alerts_topic(organization_id: int) -> str:
    """Return the e-mail topic of alerts of several monitors. Unsubscribing stops the alerts of all monitors."""
    return f"alerts:{organization_id}"


def warning_of(kind: type[Monitor | SiteList]) -> str:
    """Return the warning for a monitor or a list that notifies nobody."""
    return f"Nobody is notified: no recipient gets e-mails, and no webhook receives the events of this {WORDS[kind]}."


def receivers(organization_id: int, kind: type[Monitor | SiteList]) -> QuerySet[Webhook]:
    """Return the organization's enabled webhooks that receive events of monitors or of lists, depending on `kind`."""
    events = [event for event in EventKind if event.startswith(f"{WORDS[kind]}.")]
    return access.rows(Webhook, organization_id).filter(enabled=True, events__overlap=events)


def receivers_of(row: Monitor | SiteList) -> QuerySet[Webhook]:
    """Return the enabled webhooks that receive the events of a monitor or list."""
    webhooks = receivers(row.organization_id, type(row))
    return webhooks if row.tells_webhooks else webhooks.none()


def recipients_of(rows: Sequence[Monitor | SiteList]) -> dict[str, Recipients]:
    """Return the recipients of an organization's monitors or lists by row ID, in at most two queries."""
    if not rows:
        return {}
    organization_id, kind = rows[0].organization_id, type(rows[0])
    person_ids = {person for row in rows for person in row.recipients}
    people = access.active_members(organization_id).filter(id__in=person_ids).order_by("email")
    general_topics = {alerts_topic(organization_id)} if kind is Monitor else set()
    topics = [*map(topic_of, rows), *general_topics]
    unsubscribed_topics = Unsubscription.objects.filter(user=OuterRef("id"), topic__in=topics).values("topic")
    members = list(
        people.annotate(unsubscribed_topics=ArraySubquery(unsubscribed_topics)).values_list(
            "id", "email", "unsubscribed_topics"
        )
    )
    has_webhook = functools.cache(lambda: receivers(organization_id, kind).exists())
    recipients = {}
    for row in rows:
        row_members = [(email, topics) for person, email, topics in members if person in row.recipients]
        stopping_topics = {topic_of(row)} | general_topics
        unsubscribed = [email for email, topics in row_members if not stopping_topics.isdisjoint(topics)]
        has_recipient = len(unsubscribed) < len(row_members) or (row.tells_webhooks and has_webhook())
        emails = tuple(email for email, _ in row_members)
        recipients[row.id] = Recipients(emails, tuple(unsubscribed), None if has_recipient else warning_of(kind))
    return recipients


def default_recipients(caller: Caller) -> list[int]:
    """Return the default recipient of a new monitor or list.

    It is the member, or the creator of the API key.
    """
    if caller.member is not None:
        return [caller.member.user_id]
    creators = access.active_members(caller.organization_id).filter(
        id__in=access.rows(ApiKey, caller.organization_id).filter(id=caller.key_id).values("created_by")
    )
    return list(creators.values_list("id", flat=True))


def members_of(organization_id: int, emails: Sequence[str]) -> list[int]:
    """Return the user IDs of the members with the e-mail addresses.

    IDs stay valid if a member changes the address.

    Raises InvalidParams.
    """
    if len(emails) > MAX_EMAILS:
        raise InvalidParams(EMAILS_RULE, "notify.emails")
    people = access.active_members(organization_id).values_list("id", "email")
    members = {normal_form(email): id for id, email in people}
    for position, email in enumerate(emails, 1):
        if normal_form(email) not in members:
            text = f"notify.emails: number {position} is not the address of a member."
            raise InvalidParams(text, "notify.emails")
    return list(dict.fromkeys(members[normal_form(email)] for email in emails))


class Members(Parsed, serializers.ListField):
    """Serializer field that converts e-mail addresses of members into user IDs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_EMAILS, **kwargs)

    def to_internal_value(self, data: Any) -> list[int]:
        if not isinstance(data, list) or not all(isinstance(email, str) for email in data):
            raise serializers.ValidationError(EMAILS_RULE)
        with refusal_as_error():
            return members_of(self.context["organization_id"], data)


class NotifySerializer(Nested):
    """Recipients of notifications.

    Members are notified by e-mail. Webhooks receive events of monitors.
    """

    emails = Members(required=False)
    webhooks = Flag(required=False)


def recipient_columns(notify: Mapping[str, Any]) -> dict[str, Any]:
    """Return the database columns for validated notification settings.

    Missing fields have no column.
    """
    columns = {"emails": "recipients", "webhooks": "tells_webhooks"}
    return {columns[name]: value for name, value in notify.items()}


# Types of fields in the JSON of monitors and lists.
Notify = Annotated[dict[str, Any], NotifySerializer]
Unsubscribed = Annotated[list[str], "Recipients who have unsubscribed from its e-mails."]
Warned = Annotated[str | None, "A sentence if nobody is notified, otherwise null."]


def notify_of(row: Monitor | SiteList, recipients: Recipients) -> dict[str, Any]:
    """Return the recipients of a monitor or list in the format of NotifySerializer."""
    return {"emails": list(recipients.emails), "webhooks": row.tells_webhooks}
