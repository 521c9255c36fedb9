"""Recipients of the messages of monitors and lists: members by e-mail, webhooks, and a warning if there are none."""

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
from sites.models import Monitor, SiteList
from webhooks.models import EventKind, Webhook

MAX_EMAILS = 50
EMAILS_RULE = f"notify.emails must be a list of at most {MAX_EMAILS} addresses."
# Word for the row in topics of e-mails, in names of events and in sentences.
WORDS = {Monitor: "monitor", SiteList: "list"}


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients of a row's messages: addresses of members, the unsubscribed ones among them, and a warning or None."""

    emails: tuple[str, ...]
    unsubscribed: tuple[str, ...]
    warning: str | None


def topic_of(row: Monitor | SiteList) -> str:
    """Return the topic of the row's e-mails. Each row has its own, so that people can unsubscribe from one row."""
    return f"{WORDS[type(row)]}:{row.id}"


def warning_of(kind: type[Monitor | SiteList]) -> str:
    """Return the warning for a monitor or a list that notifies nobody."""
    return f"Nobody is notified: no recipient gets e-mails, and no webhook receives the events of this {WORDS[kind]}."


def receivers(organization_id: int, kind: type[Monitor | SiteList]) -> QuerySet[Webhook]:
    """Return the organization's enabled webhooks that receive any event of monitors, or of lists."""
    events = [event for event in EventKind if event.startswith(f"{WORDS[kind]}.")]
    return access.rows(Webhook, organization_id).filter(enabled=True, events__overlap=events)


def recipients_of(rows: Sequence[Monitor | SiteList]) -> dict[str, Recipients]:
    """Return the recipients of monitors, or of lists, of one organization, by row ID; at most two queries."""
    if not rows:
        return {}
    organization_id, kind = rows[0].organization_id, type(rows[0])
    person_ids = {person for row in rows for person in row.recipients}
    people = access.people_of(organization_id).filter(id__in=person_ids).order_by("email")
    topics = [topic_of(row) for row in rows]
    stopped = Unsubscription.objects.filter(user=OuterRef("id"), topic__in=topics).values("topic")
    members = list(people.annotate(stopped=ArraySubquery(stopped)).values_list("id", "email", "stopped"))
    has_webhook = functools.cache(lambda: receivers(organization_id, kind).exists())
    recipients = {}
    for row in rows:
        row_members = [(email, stopped) for person, email, stopped in members if person in row.recipients]
        unsubscribed = [email for email, stopped in row_members if topic_of(row) in stopped]
        is_reached = len(unsubscribed) < len(row_members) or (row.tells_webhooks and has_webhook())
        emails = tuple(email for email, _ in row_members)
        recipients[row.id] = Recipients(emails, tuple(unsubscribed), None if is_reached else warning_of(kind))
    return recipients


def default_recipients(caller: Caller) -> list[int]:
    """Return the default recipient of a new row: the member, or for an API key the member who created the key."""
    if caller.member is not None:
        return [caller.member.user_id]
    creators = access.people_of(caller.organization_id).filter(
        id__in=access.rows(ApiKey, caller.organization_id).filter(id=caller.key_id).values("created_by")
    )
    return list(creators.values_list("id", flat=True))


def members_of(organization_id: int, emails: Sequence[str]) -> list[int]:
    """Return the IDs of the members with these addresses. E-mails follow a member who changes the address later.

    Raises InvalidParams.
    """
    if len(emails) > MAX_EMAILS:
        raise InvalidParams(EMAILS_RULE, "notify.emails")
    people = access.people_of(organization_id).values_list("id", "email")
    members = {email.casefold(): id for id, email in people}
    for position, email in enumerate(emails, 1):
        if email.casefold() not in members:
            text = f"notify.emails: number {position} is not the address of a member."
            raise InvalidParams(text, "notify.emails")
    return list(dict.fromkeys(members[email.casefold()] for email in emails))


class Members(Parsed, serializers.ListField):
    """The addresses of members, as the IDs of the people."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_EMAILS, **kwargs)

    def to_internal_value(self, data: Any) -> list[int]:
        if not isinstance(data, list) or not all(isinstance(email, str) for email in data):
            raise serializers.ValidationError(EMAILS_RULE)
        with refusal_as_error():
            return members_of(self.context["organization_id"], data)


class NotifySerializer(Nested):
    """Recipients of alerts: members by e-mail, and webhooks that want events of monitors."""

    emails = Members(required=False)
    webhooks = Flag(required=False)


def recipient_columns(notify: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row for the parsed fields of NotifySerializer; absent fields set no column."""
    columns = {"emails": "recipients", "webhooks": "tells_webhooks"}
    return {columns[name]: value for name, value in notify.items()}


# Keys of monitors and lists as JSON.
Notify = Annotated[dict[str, Any], NotifySerializer]
Unsubscribed = Annotated[list[str], "Recipients who have unsubscribed from its e-mails."]
Warned = Annotated[str | None, "Says so where nobody is notified; else null."]


def notify_of(row: Monitor | SiteList, recipients: Recipients) -> dict[str, Any]:
    """Return the recipients in the format of the request."""
    return {"emails": list(recipients.emails), "webhooks": row.tells_webhooks}
