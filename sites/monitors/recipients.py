"""Recipients of monitors: members by e-mail, webhooks, and whether anybody is reached at all."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet

from accounts import access
from accounts.authentication import Caller
from accounts.models import ApiKey, Unsubscription
from sites.models import Monitor, SiteList
from webhooks.models import EventKind, Webhook

EVENTS = [kind for kind in EventKind if kind.startswith("monitor.")]
NOBODY = "Nobody is notified: no recipient gets e-mails, and no webhook receives the events of this monitor."


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients of a monitor: addresses of members, those of them who have unsubscribed, and a warning or None."""

    emails: tuple[str, ...]
    unsubscribed: tuple[str, ...]
    warning: str | None


def topic_of(monitor_id: str) -> str:
    """Return the topic of a monitor's e-mails. Each has its own, so that people can unsubscribe from a single one."""
    return f"monitor:{monitor_id}"


def receivers(organization_id: int, events: Sequence[str] = EVENTS) -> QuerySet[Webhook]:
    """Return the organization's enabled webhooks that receive any of these events, by default those of monitors."""
    return access.rows(Webhook, organization_id).filter(enabled=True, events__overlap=list(events))


def recipients_of(
    monitors: Sequence[Monitor | SiteList],
    *,
    topic_of: Callable[[str], str] = topic_of,
    events: Sequence[str] = EVENTS,
    nobody: str = NOBODY,
) -> dict[str, Recipients]:
    """Return the recipients of monitors or lists of one organization, by their ID; two queries at most.

    `topic_of` returns the topic of e-mails for an ID, and `nobody` is the warning if nobody is reached.
    """
    if not monitors:
        return {}
    organization_id = monitors[0].organization_id
    wanted = {person for monitor in monitors for person in monitor.recipients}
    people = access.people_of(organization_id).filter(id__in=wanted).order_by("email")
    topics = [topic_of(each.id) for each in monitors]
    stopped = Unsubscription.objects.filter(user=OuterRef("id"), topic__in=topics).values("topic")
    known = list(people.annotate(stopped=ArraySubquery(stopped)).values_list("id", "email", "stopped"))
    has_webhook = functools.cache(lambda: receivers(organization_id, events).exists())
    found = {}
    for monitor in monitors:
        named = [(email, stopped) for person, email, stopped in known if person in monitor.recipients]
        unsubscribed = [email for email, stopped in named if topic_of(monitor.id) in stopped]
        is_reached = len(unsubscribed) < len(named) or (monitor.tells_webhooks and has_webhook())
        emails = tuple(email for email, _ in named)
        found[monitor.id] = Recipients(emails, tuple(unsubscribed), None if is_reached else nobody)
    return found


def usual_recipients(caller: Caller) -> list[int]:
    """Return the default recipient of a new monitor: the member, or for an API key the member who made it."""
    if caller.member is not None:
        return [caller.member.user_id]
    makers = access.people_of(caller.organization_id).filter(
        id__in=access.rows(ApiKey, caller.organization_id).filter(id=caller.key_id).values("created_by")
    )
    return list(makers.values_list("id", flat=True))
