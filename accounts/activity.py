"""An organization's activity log, which shows its admins who did what and when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol

from django.db.models import QuerySet
from django.utils import timezone
from msgspec import Struct

from accounts import access
from accounts.models import ActivityEvent, Membership, Organization, User
from website_scan.timestamps import timestamp

PAGE_SIZE = 50

# The sentence that the activity log displays for each action, in clauses. The actor precedes them. In braces, `target`
# stands for the name of the action's object, and every other name is a key of the event's details. A clause with a
# missing value is omitted. Details that no clause uses are displayed after the sentence.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "organization.created": ("created the organization {target}",),
    "organization.changed": ("changed the settings of {target}",),
    "organization.export_requested": ("requested an export of all data of {target}",),
    "organization.exported": ("downloaded all data of {target}", " (file {file})"),
    "member.invited": ("invited {target}", " as {role}", ", for {sites} only"),
    "member.added": ("added {target}", " as {role}"),
    "invitation.revoked": ("revoked the invitation of {target}",),
    "member.joined": ("joined", " as {role}"),
    "member.role_changed": ("changed the role of {target}", " from {role.from} to {role.to}"),
    "member.limited": ("changed the sites of {target}", " from {sites.from} to {sites.to}"),
    "member.removed": ("removed {target}",),
    "member.left": ("left",),
    "person.logged_in": ("logged in", " with {method}", " from {address}"),
    "person.second_factor_failed": ("entered a wrong code as a second factor", " from {address}"),
    "person.second_factor_added": ("added a second factor", ": {target}"),
    "person.second_factor_removed": ("removed a second factor", ": {target}"),
    "person.codes_replaced": ("replaced their recovery codes",),
    "person.second_factors_reset": ("had an operator remove all second factors",),
    "person.email_changed": ("changed their e-mail address", " to {target}"),
    "key.created": ("created the API key {target}", " ({scope})", ", which expires: {ends}"),
    "key.changed": ("changed the API key {target}",),
    "key.regenerated": (
        "replaced the secret of the API key {target}",
        ", the former one {former secret}",
        "; it expires: {ends}",
    ),
    "key.former_ended": ("ended a former secret of the API key {target}",),
    "key.revoked": ("revoked the API key {target}",),
    "scan.created": ("started a scan of {target}", " ({type})"),
    "scan.cancelled": ("cancelled the scan of {target}", " ({type})"),
    "scan.requeued": ("put the scan of {target} back into the queue",),
    "audit.created": ("started a scan of {target}", " ({kind})"),
    "audit.cancelled": ("cancelled the scan of {target}",),
    "audit.shared": ("shared the results of {target}",),
    "audit.unshared": ("stopped sharing the results of {target}",),
    "journey.created": ("created the journey {target}", " at {url}"),
    "journey.changed": ("changed the journey {target}", ": {changed}"),
    "journey.proven": ("proved control of {host}", " for the journey {target}"),
    "journey.run": ("started a run of the journey {target}",),
    "journey.dry_run": ("started a dry run of the journey {target}",),
    "journey.deleted": ("deleted the journey {target}",),
    "assessment.created": ("created the assessment {target}", " of {url}"),
    "assessment.changed": ("changed the assessment {target}", ": {changed}"),
    "assessment.refreshed": ("refreshed the assessment {target}",),
    "assessment.finished": ("finished the assessment {target}",),
    "assessment.reopened": ("reopened the assessment {target}",),
    "assessment.shared": ("shared the assessment {target}",),
    "assessment.unshared": ("stopped sharing the assessment {target}",),
    "assessment.deleted": ("deleted the assessment {target}",),
    "monitor.created": ("created the monitor {target}", " of {url}"),
    "monitor.changed": ("changed the monitor {target}", ": {changed}"),
    "monitor.paused": ("paused the monitor {target}",),
    "monitor.resumed": ("resumed the monitor {target}",),
    "monitor.run": ("started a run of the monitor {target}",),
    "monitor.deleted": ("deleted the monitor {target}", " of {url}"),
    "maintenance.created": ("created the maintenance window {target}",),
    "maintenance.changed": ("changed the maintenance window {target}",),
    "maintenance.deleted": ("deleted the maintenance window {target}",),
    "list.run": ("started a run of the list {target}",),
    "list.run_cancelled": ("cancelled a run of the list {target}",),
    "list.scanned": ("scanned sites of the list {target} again", ": {entries}"),
    "badge.created": ("switched on the badge of {target}",),
    "badge.deleted": ("switched off the badge of {target}",),
    "list.created": ("created the list {target}",),
    "list.changed": ("changed the list {target}", ": {changed}"),
    "list.imported": (
        "imported sites into the list {target}",
        ": {added} added",
        ", {changed} changed",
        ", {removed} removed",
    ),
    "list.entry_changed": ("changed {target} in a list", ": {changed}"),
    "list.entries_tagged": ("tagged sites of the list {target}", " ({entries})"),
    "list.entries_deleted": ("removed sites from the list {target}", " ({entries})"),
    "list.entry_deleted": ("removed {target} from a list",),
    "list.deleted": ("deleted the list {target}",),
    "list.shared": ("shared the list {target}", " ({content})"),
    "list.unshared": ("stopped sharing the list {target}",),
    "report.shared": ("shared the report of {target}", " ({type})"),
    "report.unshared": ("stopped sharing the report of {target}", " ({type})"),
    "mute.created": ("muted {target}", " below {path}", ", at {place}", ", until {until}", ": {reason}"),
    "mute.changed": ("changed the mute of {target}", " below {path}", ", at {place}"),
    "mute.ended": ("unmuted {target}", " below {path}", ", at {place}"),
    "webhook.created": ("added the webhook {target}",),
    "webhook.changed": ("changed the webhook {target}",),
    "webhook.deleted": ("deleted the webhook {target}",),
    "webhook.tested": ("sent a test", " of {event}", " to the webhook {target}"),
    "webhook.secret_rotated": ("replaced the secret of the webhook {target}",),
    "webhook.recovered": (
        "sent failed deliveries again",
        " ({deliveries})",
        " since {since}",
        " to the webhook {target}",
    ),
    "delivery.replayed": ("sent the delivery {target} again",),
}


# This INSERT is raw SQL, which is faster than the ORM, because every POST /v1/scan executes it.
INSERT_KEY_EVENT = """
    INSERT INTO accounts_activityevent (organization_id, actor_email, actor_key, action, target, details, created_at)
    VALUES (%(organization)s, '', %(key)s, %(action)s, %(target)s, %(details)s::jsonb, %(now)s) RETURNING id
"""


class Actor(Protocol):
    """Who made an API call: a member, or an API key with its ID and name.

    `accounts.authentication.Caller` implements this protocol.
    """

    @property
    def organization_id(self) -> int: ...
    @property
    def member(self) -> Membership | None: ...
    @property
    def key_id(self) -> str | None: ...
    @property
    def key_name(self) -> str: ...


def record(
    organization: Organization, actor: User | None, action: str, object_name: str = "", **details: Any
) -> ActivityEvent:
    """Write an action to the activity log, in the same transaction as the action.

    `actor` is None for the service itself. `details` is displayed unchanged: plain JSON without secrets.
    """
    return ActivityEvent.objects.create(
        organization=organization,
        actor=actor,
        actor_email=actor.email if actor else "",
        action=action,
        object_name=_shorten(object_name),
        details=details,
    )


def record_by_member(member: Membership, action: str, object_name: str = "", **details: Any) -> None:
    """Write a member's action to the activity log."""
    record(member.organization, member.user, action, object_name, **details)


def record_by_caller(caller: Actor, action: str, object_name: str = "", **details: Any) -> None:
    """Write an action by a member or an API key to the activity log, with the key's current name."""
    if caller.member is not None:
        record_by_member(caller.member, action, object_name, **details)
        return
    assert caller.key_id is not None
    access.fetch_rows(
        INSERT_KEY_EVENT,
        caller.organization_id,
        key=caller.key_id,
        action=action,
        target=_shorten(object_name),
        details=json.dumps({**details, "api_key": caller.key_name}),
        now=timezone.now(),
    )


def record_all_by_caller(caller: Actor, events: Iterable[tuple[str, str, dict[str, Any]]]) -> None:
    """Write actions by a member or an API key to the activity log in one statement.

    Events are tuples of the action, the name of the object, and the details.
    """
    user, key_name = (caller.member.user, {}) if caller.member else (None, {"api_key": caller.key_name})
    ActivityEvent.objects.bulk_create(
        ActivityEvent(
            organization_id=caller.organization_id,
            actor=user,
            actor_email=user.email if user else "",
            actor_key=(caller.key_id or "") if user is None else "",
            action=action,
            object_name=_shorten(object_name),
            details=details | key_name,
        )
        for action, object_name, details in events
    )


# Event IDs are chronological, except for events that are at most this far apart. Slow transactions and clock
# differences between hosts can swap those.
DISORDER = timedelta(hours=1)

# Binary search by ID for the first event at or after a moment, so that `created_at` needs no index.
FIRST_EVENT_SINCE = """
    WITH RECURSIVE search (low, high) AS (
        SELECT min(id), max(id) + 1 FROM accounts_activityevent WHERE organization_id = %(organization)s
        UNION ALL
        SELECT
            CASE WHEN event.created_at < %(moment)s::timestamptz + %(later)s THEN event.id + 1 ELSE low END,
            CASE WHEN event.created_at < %(moment)s::timestamptz + %(later)s THEN high ELSE (low + high) / 2 END
        FROM search CROSS JOIN LATERAL (
            SELECT id, created_at FROM accounts_activityevent
            WHERE organization_id = %(organization)s AND id >= (low + high) / 2 ORDER BY id LIMIT 1
        ) AS event
        WHERE low < high
    )
    SELECT max(low) FROM search
"""


class EventFilter(Struct, frozen=True):
    """Activity log filter by action, person, API key, and days (UTC) from `since` to `until`, inclusive.

    An empty field does not filter.
    """

    action: str = ""
    email: str = ""
    key_id: str = ""
    since: date | None = None
    until: date | None = None

    def events_of_organization(self, organization: Organization) -> QuerySet[ActivityEvent]:
        """Return the organization's unexpired events that match the filter, newest first."""
        conditions = {"action": self.action, "actor_email": self.email, "actor_key": self.key_id}
        events = unexpired_events(organization).filter(**{name: value for name, value in conditions.items() if value})
        if self.since:
            start = datetime.combine(self.since, time.min, UTC)
            events = events.filter(created_at__gte=start, id__gte=first_event_id_since(organization, start, -DISORDER))
        if self.until:
            end = datetime.combine(self.until, time.max, UTC)
            events = events.filter(created_at__lte=end, id__lt=first_event_id_since(organization, end, DISORDER))
        return events.order_by("-id")


def first_event_id_since(organization: Organization, moment: datetime, later: timedelta = timedelta()) -> int:
    """Return the ID of the organization's first event at or after `moment` + `later`, or 0 without events.

    If all events are earlier, the result is the last event's ID plus 1.
    """
    ((event_id,),) = access.fetch_rows(FIRST_EVENT_SINCE, organization.pk, moment=moment, later=later)
    return event_id or 0


def unexpired_events(organization: Organization) -> QuerySet[ActivityEvent]:
    """Return the organization's events within its tier's retention period, to the second.

    The nightly task deletes older rows.
    """
    events = access.rows(ActivityEvent, organization.pk)
    days = organization.tier.activity_kept_days
    return events if days is None else events.filter(created_at__gt=timezone.now() - timedelta(days=days))


def fetch_events_page(
    organization: Organization, event_filter: EventFilter, *, before: int | None = None
) -> tuple[list[ActivityEvent], bool]:
    """Return a page of events, newest first, and True if older events exist.

    `before` is the last ID on the previous page.
    """
    events = event_filter.events_of_organization(organization)
    if before is not None:
        events = events.filter(id__lt=before)
    rows = list(events[: PAGE_SIZE + 1])
    return rows[:PAGE_SIZE], len(rows) > PAGE_SIZE


def document(event: ActivityEvent) -> dict[str, Any]:
    """Return an event as a JSON object.

    `target` is the name of the object that the action changed.

    `actor` is a person's e-mail address, `api_key` a key's ID. Both are None if the service itself acted.
    """
    return {
        "id": event.pk,
        "at": timestamp(event.created_at),
        "actor": event.actor_email or None,
        "api_key": event.actor_key or None,
        "action": event.action,
        "target": event.object_name,
        "details": event.details,
    }


def _shorten(object_name: str) -> str:
    return object_name[: ActivityEvent._meta.get_field("object_name").max_length]
