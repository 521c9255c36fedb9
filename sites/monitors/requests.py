"""Parsers of the bodies of POST and PATCH /v1/monitors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from typing import Any

from rest_framework import serializers

from accounts.models import Interval, Tier
from infrastructure.api.inputs import Choice, Flag, Pattern, Text, Whole
from sites.audits.requests import AuditFields, AuditRequest, parse_audit
from sites.models import Audit, Monitor
from sites.models.monitor import NAME_LENGTH
from sites.monitors.alerts import USUAL, AlertSerializer
from sites.recipients import NotifySerializer
from sites.schedule import PERIODS, time_zones
from website_scan.net.policy import Policy

TIME = r"^([01]\d|2[0-3]):[0-5]\d$"
# Fields that define the audit. A change that names the target replaces all of them.
OF_AUDIT = frozenset({*Audit.Kind.values, "types", "discover", "max_pages", "include", "exclude", "request"})
OF_SCHEDULE = frozenset({"every", "at", "day", "timezone"})


@dataclass(frozen=True, slots=True)
class MonitorRequest:
    """Parsed request: `audit` is None if the target does not change; `columns` are the row's columns to set."""

    audit: AuditRequest | None
    columns: dict[str, Any]
    is_paused: bool | None = None


def _every(**options: Any) -> Choice:
    return Choice(Interval.choices, says=f"every must be one of {', '.join(Interval.values)}.", **options)


class MonitorFieldsSerializer(AuditFields):
    """The fields that POST and PATCH have in common: those of an audit, when it is repeated, and who gets messages."""

    name = Text(
        max_length=NAME_LENGTH,
        required=False,
        help_text="The host, where none is given.",
        says=f"name must have 1 to {NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
    )
    at = Pattern(
        TIME,
        required=False,
        allow_null=True,
        help_text="Local time. Without one the start is spread over the interval.",
        says="at must be a time such as 06:00, or null.",
    )
    day = Whole(
        min_value=1,
        max_value=31,
        required=False,
        allow_null=True,
        help_text="With `at`: the weekday, 1 is Monday, or the day of the month; in shorter months the last one.",
        says="day must be a whole number: 1 (Monday) to 7 for a week, 1 to 31 for a month.",
    )
    timezone = Text(
        required=False,
        help_text="Of the IANA time zone database; else UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )
    paused = Flag(required=False)
    alert = AlertSerializer(required=False)
    notify = NotifySerializer(required=False)

    def validate_at(self, at: str | None) -> time | None:
        return None if at is None else time.fromisoformat(at)

    def validate_every(self, every: str) -> str:
        if is_shorter(every, shortest := self.context["tier"].shortest_interval):
            raise serializers.ValidationError(f"every is {every}; your plan allows {Interval(shortest).label} at most.")
        return every

    def columns(self, values: Mapping[str, Any], alert: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a monitor that these values name, but for target and schedule."""
        columns: dict[str, Any] = {}
        if "name" in values:
            columns["name"] = values["name"]
        if "alert" in values:
            columns["alert"] = dict(alert) | values["alert"]
        notify = values.get("notify", {})
        if "emails" in notify:
            columns["recipients"] = notify["emails"]
        if "webhooks" in notify:
            columns["tells_webhooks"] = notify["webhooks"]
        return columns

    def schedule(self, values: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of the schedule; what is not named stays as it is known."""
        every, at = values.get("every", known["every"]), values.get("at", known["at"])
        # Another interval has other days.
        day = values.get("day", known["day"] if every == known["every"] else None)
        if day is not None:
            most = {Interval.WEEK: 7, Interval.MONTH: 31}.get(Interval(every))
            fault = ""
            if most is None:
                fault = "day is for monitors that look every week or every month."
            elif at is None:
                fault = "day needs at, the time of that day."
            elif day > most:
                fault = str(self.fields["day"].told)  # type: ignore[attr-defined]  # it is a field of ours
            if fault:
                raise serializers.ValidationError({"day": fault})
        return {"every": every, "at": at, "day": day, "timezone": values.get("timezone", known["timezone"])}


class MonitorRequestSerializer(MonitorFieldsSerializer):
    """The body of POST /v1/monitors: that of an audit, and when and whom to tell."""

    every = _every()

    def validate(self, values: dict[str, Any]) -> Any:
        audit = self.audit(values)
        columns = {"name": audit.targets[0].host, "alert": dict(USUAL), **self.columns(values, USUAL)}
        columns |= self.schedule(values, {"every": None, "at": None, "day": None, "timezone": "UTC"})
        return MonitorRequest(audit, columns, values.get("paused"))


class MonitorChangeSerializer(MonitorFieldsSerializer):
    """The body of PATCH /v1/monitors/:id: what is not named stays as it is."""

    every = _every(required=False)

    def validate(self, values: dict[str, Any]) -> Any:
        monitor: Monitor = self.context["monitor"]
        columns = self.columns(values, monitor.alert)
        if OF_SCHEDULE & set(values):
            known = {"every": monitor.every, "at": monitor.at, "day": monitor.day, "timezone": monitor.timezone}
            columns |= self.schedule(values, known)
        return MonitorRequest(self._audit(values, monitor), columns, values.get("paused"))

    def _audit(self, values: Mapping[str, Any], monitor: Monitor) -> AuditRequest | None:
        """Return what is watched from now on; None where that stays."""
        if any(kind in values for kind in Audit.Kind.values):
            return self.audit(values)  # another target is another audit
        if named := {name: value for name, value in self.initial_data.items() if name in OF_AUDIT}:
            # Of the same target, other types or patterns may be asked for alone.
            return parse_audit(audit_body(monitor) | named, self.context["policy"], self.context["pages_per_audit"])
        return None


def parse_new(body: Mapping[str, Any], policy: Policy, tier: Tier, organization_id: int) -> MonitorRequest:
    """Parse the body of a new monitor. Raises the refusal of the first field that is wrong."""
    return _asked(MonitorRequestSerializer, body, policy, tier, organization_id=organization_id)


def parse_change(body: Mapping[str, Any], policy: Policy, tier: Tier, monitor: Monitor) -> MonitorRequest:
    """Parse the body of a change. Raises as `parse_new` does."""
    organization_id = monitor.organization_id
    return _asked(MonitorChangeSerializer, body, policy, tier, organization_id=organization_id, monitor=monitor)


def _asked(
    serializer: type[MonitorFieldsSerializer], body: Mapping[str, Any], policy: Policy, tier: Tier, **context: Any
) -> MonitorRequest:
    limits = {"tier": tier, "pages_per_audit": tier.pages_per_audit}
    asked: MonitorRequest = serializer.judged(body, policy=policy, **limits, **context)
    return asked


def audit_body(monitor: Monitor) -> dict[str, Any]:
    """Return the request body of an audit of the monitor's target, without its credentials."""
    target: object = monitor.pages if monitor.kind == Audit.Kind.PAGES else monitor.url
    body: dict[str, Any] = {monitor.kind: target, "types": monitor.types}
    if monitor.kind == Audit.Kind.SITE:
        body |= {"discover": monitor.discover, "max_pages": monitor.max_pages}
        body |= {"include": monitor.include, "exclude": monitor.exclude}
    return body


def audit_columns(audit: AuditRequest) -> dict[str, Any]:
    """Return the columns of a monitor with this audit's target, without the credentials."""
    return {
        "kind": audit.kind,
        "pages": [each.url for each in audit.targets],
        "types": [str(each) for each in audit.types],
        "discover": list(audit.discover),
        "include": list(audit.include),
        "exclude": list(audit.exclude),
        "max_pages": audit.max_pages,
    }


def is_shorter(every: str, than: str) -> bool:
    return PERIODS[Interval(every)] < PERIODS[Interval(than)]
