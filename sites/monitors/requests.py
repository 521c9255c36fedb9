"""Requests for monitors and their changes, from the API and from forms; bodies of POST and PATCH /v1/monitors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from typing import Any

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Choice, Flag, Pattern, Whole, refusal_as_error
from sites.audits.requests import OF_A_SITE, AuditFields, AuditRequest, targets_of
from sites.inputs import name_field, refuse_shorter_than_plan, zone_field
from sites.models import Audit, Monitor
from sites.monitors.alerts import USUAL, AlertSerializer
from sites.recipients import NotifySerializer, recipient_columns
from sites.schedule import PERIODS
from website_scan.net.policy import Policy

TIME = r"^([01]\d|2[0-3]):[0-5]\d$"
# Fields that define the audit. A change that names the target replaces all of them.
OF_AUDIT = frozenset({*Audit.Kind.values, "types", "discover", "max_pages", "include", "exclude", "request"})
OF_SCHEDULE = frozenset({"every", "at", "day", "timezone"})
# Columns whose field has the same name and value in the API and in forms.
COLUMNS = frozenset({"name"})
DAY_RULE = "day must be a whole number: 1 (Monday) to 7 for a week, 1 to 31 for a month."


@dataclass(frozen=True, slots=True)
class MonitorRequest:
    """Request for a new monitor, or for changes of one: `columns` of the row, and what is no column.

    A change without `audit` keeps the target, and one without `is_paused` the state. Saved credentials of the same
    origin stay if `keeps_credentials`; otherwise those of `audit` replace them.
    """

    audit: AuditRequest | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    is_paused: bool | None = None
    keeps_credentials: bool = True


def interval_within_plan(every: str, tier: Tier) -> str:
    """Return the interval. Raises InvalidParams if the plan does not allow such a short one."""
    refuse_shorter_than_plan(every, PERIODS[Interval(every)], tier)
    return every


def schedule_columns(every: str, at: time | None, day: int | None, timezone: str) -> dict[str, Any]:
    """Return the columns of a schedule, of which each value alone is valid. Raises InvalidParams for a wrong day."""
    if day is not None:
        most = {Interval.WEEK: 7, Interval.MONTH: 31}.get(Interval(every))
        if most is None:
            raise InvalidParams("day is for monitors that look every week or every month.", "day")
        if at is None:
            raise InvalidParams("day needs at, the time of that day.", "day")
        if day > most:
            raise InvalidParams(DAY_RULE, "day")
    return {"every": every, "at": at, "day": day, "timezone": timezone}


def _every(**options: Any) -> Choice:
    return Choice(Interval.choices, says=f"every must be one of {', '.join(Interval.values)}.", **options)


class MonitorFieldsSerializer(AuditFields):
    """The fields that POST and PATCH have in common: those of an audit, when it is repeated, and who gets messages."""

    name = name_field(required=False, help_text="The host, where none is given.")
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
        says=DAY_RULE,
    )
    timezone = zone_field()
    paused = Flag(required=False)
    alert = AlertSerializer(required=False)
    notify = NotifySerializer(required=False)

    def validate_at(self, at: str | None) -> time | None:
        return None if at is None else time.fromisoformat(at)

    def validate_every(self, every: str) -> str:
        with refusal_as_error():
            return interval_within_plan(every, self.context["tier"])

    def columns(self, values: Mapping[str, Any], alert: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of a monitor that these values name, but for target and schedule."""
        columns = {name: values[name] for name in COLUMNS & values.keys()}
        if "alert" in values:
            columns["alert"] = dict(alert) | values["alert"]
        return columns | recipient_columns(values.get("notify", {}))

    def schedule(self, values: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of the schedule; what is not named stays as it is known."""
        every, at = values.get("every", known["every"]), values.get("at", known["at"])
        # Another interval has other days.
        day = values.get("day", known["day"] if every == known["every"] else None)
        return schedule_columns(every, at, day, values.get("timezone", known["timezone"]))


class MonitorRequestSerializer(MonitorFieldsSerializer):
    """The body of POST /v1/monitors: that of an audit, and when and whom to tell."""

    every = _every()

    def validate(self, values: dict[str, Any]) -> MonitorRequest:
        audit = self.audit(values)
        columns = self.columns(values, USUAL)
        columns |= self.schedule(values, {"every": None, "at": None, "day": None, "timezone": "UTC"})
        return MonitorRequest(audit, columns, values.get("paused"))


class MonitorChangeSerializer(MonitorFieldsSerializer):
    """The body of PATCH /v1/monitors/:id: what is not named stays as it is."""

    every = _every(required=False)

    def validate(self, values: dict[str, Any]) -> MonitorRequest:
        monitor: Monitor = self.context["monitor"]
        columns = self.columns(values, monitor.alert)
        if OF_SCHEDULE & set(values):
            known = {"every": monitor.every, "at": monitor.at, "day": monitor.day, "timezone": monitor.timezone}
            columns |= self.schedule(values, known)
        audit = self._audit(values, monitor)
        return MonitorRequest(audit, columns, values.get("paused"), keeps_credentials="request" not in values)

    def _audit(self, values: Mapping[str, Any], monitor: Monitor) -> AuditRequest | None:
        """Return the new audit, or None if the request does not change it."""
        if any(kind in values for kind in Audit.Kind.values):
            return self.audit(values)  # another target is another audit
        if OF_AUDIT.isdisjoint(values):
            return None
        # Of the same target, other types or patterns may be asked for alone.
        targets = targets_of(monitor.kind, monitor.pages, self.context["policy"], self.context["pages_per_audit"])
        of_site = OF_A_SITE if monitor.kind == Audit.Kind.SITE else ()
        present = {name: getattr(monitor, name) for name in ("types", *of_site)}
        return self.audit_of(monitor.kind, targets, {**present, **values})


def parse_new(body: Mapping[str, Any], policy: Policy, organization_id: int) -> MonitorRequest:
    """Parse the body of a new monitor. Raises the refusal of the first field that is wrong."""
    tier = Tier.objects.get(organization=organization_id)
    return _asked(MonitorRequestSerializer, body, policy, tier, organization_id=organization_id)


def parse_change(body: Mapping[str, Any], policy: Policy, monitor: Monitor) -> MonitorRequest:
    """Parse the body of a change. Raises as `parse_new` does."""
    organization_id, tier = monitor.organization_id, monitor.organization.tier
    return _asked(MonitorChangeSerializer, body, policy, tier, organization_id=organization_id, monitor=monitor)


def _asked(
    serializer: type[MonitorFieldsSerializer], body: Mapping[str, Any], policy: Policy, tier: Tier, **context: Any
) -> MonitorRequest:
    limits = {"tier": tier, "pages_per_audit": tier.pages_per_audit}
    asked: MonitorRequest = serializer.judged(body, policy=policy, **limits, **context)
    return asked


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
