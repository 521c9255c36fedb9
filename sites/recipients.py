"""Recipients of monitor and list notifications.

Members are notified by e-mail. Webhooks receive events.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet
from drf_spectacular.utils import extend_schema_field
from msgspec import Struct
from rest_framework import serializers

from accounts import access
from accounts.authentication import Caller
from accounts.models import ApiKey, Membership, Unsubscription, User
from accounts.visible_sites import VisibleSites, visible_sites_of
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Nested, Parsed, refusal_as_error
from infrastructure.mail_addresses import normal_form
from sites.models import Monitor, SiteList
from webhooks.models import EventKind, Webhook
from website_scan.json_types import identifier

MAX_EMAILS = 50
WEBHOOKS_RULE = "notify.webhooks must be true, false, or a list of IDs of webhooks."
EMAILS_RULE = f"notify.emails must be a list of at most {MAX_EMAILS} addresses."
# Words for e-mail topics, event names and sentences.
WORDS = {Monitor: "monitor", SiteList: "list"}


class Recipients(Struct, frozen=True):
    """Recipients of a monitor or list for display.

    Includes unsubscribed recipients, and a warning if nobody is notified.
    """

    emails: tuple[str, ...]
    unsubscribed: tuple[str, ...]
    warning: str | None
    # The chosen webhooks that still exist. None: all webhooks, also future ones.
    webhooks: tuple[Webhook, ...] | None = None


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


def event_kinds_of(kind: type[Monitor | SiteList]) -> list[EventKind]:
    """Return the kinds of events of monitors or of lists."""
    return [event for event in EventKind if event.startswith(f"{WORDS[kind]}.")]


def receivers(organization_id: int, kind: type[Monitor | SiteList]) -> QuerySet[Webhook]:
    """Return the organization's enabled webhooks that receive events of monitors or of lists, depending on `kind`."""
    return access.rows(Webhook, organization_id).filter(enabled=True, events__overlap=event_kinds_of(kind))


def receivers_of(row: Monitor | SiteList) -> QuerySet[Webhook]:
    """Return the enabled webhooks that receive the events of a monitor or list.

    The row stores the IDs of its webhooks as it stores those of its people: a deleted webhook drops out of this query,
    and null cannot be mistaken for a choice of webhooks that were all deleted.
    """
    webhooks = receivers(row.organization_id, type(row))
    return webhooks if row.webhook_ids is None else webhooks.filter(id__in=row.webhook_ids)


def scopes_of(organization_id: int, person_ids: Collection[int]) -> dict[int, VisibleSites]:
    """Return the visible sites of those people who are limited to some sites of the organization, by user ID."""
    memberships = access.rows(Membership, organization_id).filter(user_id__in=person_ids).exclude(limited_to=[])
    scopes = {membership.user_id: visible_sites_of(membership) for membership in memberships}
    return {person: scope for person, scope in scopes.items() if scope is not None}


def may_receive(row: Monitor | SiteList, scope: VisibleSites | None) -> bool:
    """Return True if a person with this scope may get e-mails about a monitor or a list.

    `scope` is None for people without a limit. Lists are closed to people who are limited to some sites.
    """
    return scope is None or (isinstance(row, Monitor) and row.is_visible_within(scope))


def readers_of(monitor: Monitor) -> list[User]:
    """Return the recipients of the monitor's e-mails who are members and may see all of its sites."""
    members = access.active_members(monitor.organization_id, includes_limited=True)
    people = list(members.filter(id__in=monitor.recipients))
    scopes = scopes_of(monitor.organization_id, monitor.recipients) if people else {}
    return [person for person in people if may_receive(monitor, scopes.get(person.id))]


def recipients_of(rows: Sequence[Monitor | SiteList]) -> dict[str, Recipients]:
    """Return the recipients of an organization's monitors or lists by row ID.

    Needs at most three queries, and more only if recipients are limited to some sites.
    """
    if not rows:
        return {}
    organization_id, kind = rows[0].organization_id, type(rows[0])
    person_ids = {person for row in rows for person in row.recipients}
    people = access.active_members(organization_id, includes_limited=True).filter(id__in=person_ids).order_by("email")
    general_topics = {alerts_topic(organization_id)} if kind is Monitor else set()
    topics = [*map(topic_of, rows), *general_topics]
    unsubscribed_topics = Unsubscription.objects.filter(user=OuterRef("id"), topic__in=topics).values("topic")
    limited = access.rows(Membership, organization_id).filter(user=OuterRef("id")).exclude(limited_to=[])
    people = people.annotate(unsubscribed_topics=ArraySubquery(unsubscribed_topics), is_limited=Exists(limited))
    members = list(people.values_list("id", "email", "unsubscribed_topics", "is_limited"))
    limited_ids = [person for person, _, _, is_limited in members if is_limited]
    scopes = scopes_of(organization_id, limited_ids) if limited_ids else {}
    receiver_ids = functools.cache(lambda: set(receivers(organization_id, kind).values_list("id", flat=True)))

    def has_receiver(ids: set[str] | None) -> bool:
        return bool(receiver_ids()) if ids is None else bool(ids and ids & receiver_ids())

    stored_ids = {webhook_id for row in rows for webhook_id in row.webhook_ids or ()}
    stored = access.rows(Webhook, organization_id).filter(id__in=stored_ids).defer("encrypted_secret")
    webhooks = list(stored) if stored_ids else []
    recipients = {}
    for row in rows:
        row_members = [
            (email, topics)
            for person, email, topics, _ in members
            if person in row.recipients and may_receive(row, scopes.get(person))
        ]
        stopping_topics = {topic_of(row)} | general_topics
        unsubscribed = [email for email, topics in row_members if not stopping_topics.isdisjoint(topics)]
        row_webhooks = None
        if row.webhook_ids is not None:
            row_webhooks = tuple(webhook for webhook in webhooks if webhook.id in row.webhook_ids)
        chosen_ids = None if row_webhooks is None else {webhook.id for webhook in row_webhooks}
        has_recipient = len(unsubscribed) < len(row_members) or has_receiver(chosen_ids)
        emails = tuple(email for email, _ in row_members)
        warning = None if has_recipient else warning_of(kind)
        recipients[row.id] = Recipients(emails, tuple(unsubscribed), warning, row_webhooks)
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


def members_of(organization_id: int, emails: Sequence[str], *, includes_limited: bool = False) -> list[int]:
    """Return the user IDs of the members with the e-mail addresses.

    IDs stay valid if a member changes the address. Without `includes_limited`, members who are limited to some sites
    are refused.

    Raises InvalidParams.
    """
    if len(emails) > MAX_EMAILS:
        raise InvalidParams(EMAILS_RULE, "notify.emails")
    people = access.active_members(organization_id, includes_limited=includes_limited).values_list("id", "email")
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
            includes_limited = self.context.get("includes_limited", False)
            return members_of(self.context["organization_id"], data, includes_limited=includes_limited)


def refuse_blind_recipients(monitor: Monitor, person_ids: Collection[int]) -> None:
    """Raise InvalidParams if a new recipient of the monitor is a member who may not see all of its sites."""
    scopes = scopes_of(monitor.organization_id, person_ids) if person_ids else {}
    blind = [person for person, scope in scopes.items() if not may_receive(monitor, scope)]
    if blind:
        email = User.objects.filter(id__in=blind).order_by("email").values_list("email", flat=True)[0]
        text = f"notify.emails: {email} is limited to some sites, and cannot see all pages of this monitor."
        raise InvalidParams(text, "notify.emails")


def chosen_webhooks(organization_id: int, webhook_ids: Sequence[str]) -> list[str]:
    """Return the IDs of webhooks without duplicates.

    Raises InvalidParams if one of them is not a webhook of the organization.
    """
    known = set(access.rows(Webhook, organization_id).values_list("id", flat=True))
    for position, webhook_id in enumerate(webhook_ids, 1):
        if webhook_id not in known:
            text = f"notify.webhooks: number {position} is not the ID of a webhook."
            raise InvalidParams(text, "notify.webhooks")
    return list(dict.fromkeys(webhook_ids))


@extend_schema_field(
    {
        "oneOf": [
            {"type": "boolean"},
            {"type": "array", "items": {"type": "string", "pattern": identifier("wh").pattern}},
        ],
        "description": "True: all webhooks that receive the events, also future ones. False: none. Or a list of IDs.",
    }
)
class ChosenWebhooks(Parsed, serializers.Field[Any, Any, Any, Any]):
    """Serializer field for true, false or a list of webhook IDs.

    Its value is the column `webhook_ids`.
    """

    def to_internal_value(self, data: Any) -> list[str] | None:
        if isinstance(data, bool):
            return None if data else []
        if not isinstance(data, list) or not all(isinstance(webhook_id, str) for webhook_id in data):
            raise serializers.ValidationError(WEBHOOKS_RULE)
        with refusal_as_error():
            return chosen_webhooks(self.context["organization_id"], data)


class NotifySerializer(Nested):
    """Recipients of notifications.

    Members are notified by e-mail. Webhooks receive events.
    """

    emails = Members(required=False)
    webhooks = ChosenWebhooks(required=False)


def recipient_columns(notify: Mapping[str, Any]) -> dict[str, Any]:
    """Return the database columns for validated notification settings.

    Missing fields have no column.
    """
    columns = {"emails": "recipients", "webhooks": "webhook_ids"}
    return {columns[name]: value for name, value in notify.items()}


# Types of fields in the JSON of monitors and lists.
Notify = Annotated[dict[str, Any], NotifySerializer]
Unsubscribed = Annotated[list[str], "Recipients who have unsubscribed from its e-mails."]
Warned = Annotated[str | None, "A sentence if nobody is notified, otherwise null."]


def notify_of(recipients: Recipients) -> dict[str, Any]:
    """Return the recipients of a monitor or list in the format of NotifySerializer."""
    if recipients.webhooks is None:
        return {"emails": list(recipients.emails), "webhooks": True}
    return {"emails": list(recipients.emails), "webhooks": [webhook.id for webhook in recipients.webhooks] or False}
