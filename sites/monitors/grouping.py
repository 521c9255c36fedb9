"""Send pending alerts: one message per recipient for the alerts of some minutes, grouped by cause.

1. Collect the recipients of pending alerts.
2. In a transaction, lock a recipient and read its alerts. Alerts in quiet hours or in maintenance stay pending.
3. Wait until no alert has been added for QUIET_TIME, but at most MAX_WAIT.
4. Settle alerts that repeat what the recipient knows. Write one message for all others, and settle them.

A process that dies before the commit has changed nothing, so that another one sends the same message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet
from msgspec import Struct, field

from accounts import access
from accounts.mailing.quiet_hours import is_quiet, quiet_hours_of
from accounts.models import Organization, Unsubscription, User
from infrastructure.postgresql.statements import fetch
from sites.models import Alert, Cause
from sites.monitors.alert_messages import alert_data, mail_alert
from sites.monitors.maintenance import Maintenance
from sites.recipients import alerts_topic, may_receive, scopes_of, topic_of
from webhooks import events
from webhooks.models import EventKind, Webhook
from website_scan.findings import CRITICAL

QUIET_TIME = timedelta(minutes=2)
MAX_WAIT = timedelta(minutes=5)
# Further sites of a finding that was reported are collected for this time.
GROUP_INTERVAL = timedelta(hours=1)
# After this time, a cause is reported again if another monitor reports it.
REPEAT_INTERVAL = timedelta(days=7)
TRY_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended('alerts ' || %(recipient)s, 0))"


class Recipient(Struct, frozen=True):
    """Person or webhook with pending alerts in one organization."""

    organization_id: int
    user_id: int | None
    webhook_id: str | None

    @property
    def alerts(self) -> QuerySet[Alert]:
        alerts = Alert.objects.filter(cause__organization_id=self.organization_id)
        if self.user_id is not None:
            return alerts.filter(user_id=self.user_id)
        return alerts.filter(webhook_id=self.webhook_id)

    def lock(self) -> bool:
        """Lock the recipient until the transaction ends. Returns False if another process has the lock."""
        name = f"{self.organization_id} {self.user_id} {self.webhook_id}"
        return bool(fetch(TRY_LOCK, {"recipient": name})[0][0])


class Batch(Struct):
    """Alerts for one message by their section, and alerts that repeat what the recipient knows."""

    problems: list[Alert] = field(default_factory=list)
    ended: list[Alert] = field(default_factory=list)
    ended_meanwhile: list[Alert] = field(default_factory=list)
    repeated: list[Alert] = field(default_factory=list)

    @property
    def sections(self) -> tuple[list[Alert], list[Alert], list[Alert]]:
        return self.problems, self.ended, self.ended_meanwhile


def send_due_alerts(now: datetime, has_time: Callable[[], bool]) -> int:
    """Write the messages that are due, and return their number."""
    sent = 0
    for recipient in _recipients(now):
        if not has_time():
            break
        with transaction.atomic():
            sent += recipient.lock() and _send_alerts(recipient, now)
    return sent


def _recipients(now: datetime) -> list[Recipient]:
    """Return the recipients whose first pending alert may be due, longest waiting first."""
    pending = Alert.objects.filter(settled_at=None).values("cause__organization_id", "user_id", "webhook_id")
    waiting = pending.annotate(first=Min("created_at"), last=Max("created_at")).filter(_is_due(now))
    rows = waiting.order_by("first").values_list("cause__organization_id", "user_id", "webhook_id")
    return [Recipient(*row) for row in rows]


def _is_due(now: datetime) -> Q:
    return Q(first__lte=now - MAX_WAIT) | Q(last__lte=now - QUIET_TIME)


def _send_alerts(recipient: Recipient, now: datetime) -> bool:
    """Write a message for the recipient's due alerts in the caller's transaction.

    Returns False if no message is due.
    """
    pending = recipient.alerts.filter(settled_at=None).select_related("cause", "monitor__organization", "run")
    alerts = list(pending.order_by("id"))
    user = User.objects.filter(id=recipient.user_id).first() if recipient.user_id else None
    wanted = _wanted_alerts(user, recipient, alerts)
    _settle(_without(alerts, wanted), now)
    maintenance = Maintenance(recipient.organization_id, now)
    deliverable = [alert for alert in _outside_quiet_hours(user, wanted, now) if not maintenance.holds(alert)]
    batch = _batch_of(recipient, deliverable, now)
    _settle(batch.repeated, now)
    if not _is_message_due(recipient, batch, now):
        return False
    organization = Organization.objects.get(id=recipient.organization_id)
    data = alert_data(*batch.sections)
    included = [alert for section in batch.sections for alert in section]
    if user is not None:
        mail_alert(user, organization, [alert.monitor for alert in included], data)
    elif recipient.webhook_id is not None:
        webhook = Webhook.objects.select_for_update(no_key=True).get(id=recipient.webhook_id)
        events.record_for_webhook(webhook, EventKind.MONITOR_ALERT, now, data, monitor=included[0].monitor)
    _settle(included, now, is_sent=True)
    return True


def _without(alerts: Sequence[Alert], others: Sequence[Alert]) -> list[Alert]:
    ids = {alert.id for alert in others}
    return [alert for alert in alerts if alert.id not in ids]


def _wanted_alerts(user: User | None, recipient: Recipient, alerts: list[Alert]) -> list[Alert]:
    """Return the alerts whose recipient still wants them.

    People may have left, unsubscribed, been limited to other sites, or been removed from a monitor's recipients.
    """
    if user is None:
        return alerts
    members = access.active_members(recipient.organization_id, includes_limited=True)
    if not members.filter(id=user.id).exists():
        return []
    scope = scopes_of(recipient.organization_id, [user.id]).get(user.id)
    topics = {topic_of(alert.monitor) for alert in alerts} | {alerts_topic(recipient.organization_id)}
    stopped = set(Unsubscription.objects.filter(user=user, topic__in=topics).values_list("topic", flat=True))
    if alerts_topic(recipient.organization_id) in stopped:
        return []
    return [
        alert
        for alert in alerts
        if user.id in alert.monitor.recipients
        and topic_of(alert.monitor) not in stopped
        and may_receive(alert.monitor, scope)
    ]


def _outside_quiet_hours(user: User | None, alerts: list[Alert], now: datetime) -> list[Alert]:
    hours = quiet_hours_of(user) if user is not None else None
    if hours is None or not is_quiet(hours, now):
        return alerts
    return [alert for alert in alerts if hours.allows_critical and alert.cause.text["severity"] == str(CRITICAL)]


def _is_message_due(recipient: Recipient, batch: Batch, now: datetime) -> bool:
    """Return True if alerts have waited long enough.

    Further sites of a finding of the last GROUP_INTERVAL only wait, but are part of a message that is due anyway.
    """
    recent = recipient.alerts.filter(is_sent=True, is_end=False, settled_at__gt=now - GROUP_INTERVAL)
    recent_groups = set(recent.exclude(cause__kind=Cause.Kind.OUTAGE).values_list("cause__group", flat=True))
    times = [
        alert.created_at
        for section in batch.sections
        for alert in section
        if alert.is_end or alert.cause.group not in recent_groups
    ]
    return bool(times) and (min(times) <= now - MAX_WAIT or max(times) <= now - QUIET_TIME)


def _batch_of(recipient: Recipient, alerts: list[Alert], now: datetime) -> Batch:
    """Sort alerts into the sections of a message."""
    batch = Batch()
    cause_ids = {alert.cause_id for alert in alerts}
    known = list(recipient.alerts.filter(cause_id__in=cause_ids).exclude(settled_at=None))
    for cause_id, group in _by_cause(alerts):
        settled = [alert for alert in known if alert.cause_id == cause_id]
        beginnings: list[Alert] = []
        for alert in group:
            if not alert.is_end:
                (batch.repeated if _is_known(alert, settled, now) else beginnings).append(alert)
        ends = [alert for alert in group if alert.is_end]
        _add_cause(batch, group[0].cause, beginnings, ends, [alert for alert in settled if alert.is_sent])
    return batch


def _add_cause(batch: Batch, cause: Cause, beginnings: list[Alert], ends: list[Alert], sent: Sequence[Alert]) -> None:
    """Add the alerts of one cause to a batch. `sent` are those of earlier messages."""
    has_sent_beginning, has_sent_end = (any(alert.is_end is is_end for alert in sent) for is_end in (False, True))
    if cause.ended_at is None:
        batch.problems += beginnings
        batch.ended += ends
    elif beginnings and not has_sent_beginning:
        batch.ended_meanwhile += beginnings
        batch.repeated += ends
    elif ends and not has_sent_end:
        batch.ended += ends
        batch.repeated += beginnings
    else:
        batch.ended_meanwhile += beginnings
        batch.repeated += ends


def _by_cause(alerts: Iterable[Alert]) -> Iterator[tuple[int, list[Alert]]]:
    groups: dict[int, list[Alert]] = {}
    for alert in alerts:
        groups.setdefault(alert.cause_id, []).append(alert)
    yield from groups.items()


def _is_known(alert: Alert, settled: Sequence[Alert], now: datetime) -> bool:
    """Return True if another monitor's alert has already reported the cause and these places to the recipient.

    A monitor reports only changes. So a second report of the same monitor is never a repetition.
    """
    beginnings = [other for other in settled if not other.is_end]
    if any(other.monitor_id == alert.monitor_id for other in beginnings):
        return False
    recent = [
        other for other in beginnings if other.is_sent and other.settled_at and other.settled_at > now - REPEAT_INTERVAL
    ]
    places = {place for other in recent for place in other.places}
    return bool(recent) and places.issuperset(alert.places)


def _settle(alerts: Sequence[Alert], now: datetime, *, is_sent: bool = False) -> None:
    if alerts:
        Alert.objects.filter(id__in=[alert.id for alert in alerts]).update(settled_at=now, is_sent=is_sent)
