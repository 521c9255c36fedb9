"""Validation of requests to create and change monitors, from the API and from dashboard forms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from typing import Any

from msgspec import Struct, field

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Choice, Flag, Pattern, Whole, refusal_as_error
from scans.models import stored_requirements, stored_viewing
from sites.audits.requests import SITE_FIELDS, AuditFields, AuditRequest, targets_of
from sites.inputs import name_field, refuse_shorter_than_tier, zone_field
from sites.journeys.services import audit_request_of
from sites.models import Audit, Journey, Monitor
from sites.monitors.alerts import DEFAULT_ALERT, AlertSerializer
from sites.recipients import NotifySerializer, recipient_columns
from sites.resources import JOURNEY
from sites.schedule import PERIODS
from website_scan.net.policy import Policy

TIME = r"^([01]\d|2[0-3]):[0-5]\d$"
JOURNEY_ID = r"^jny_[0-9A-Za-z]{22}$"
# Options of the audit of pages or a site. A journey has its own types, widths, colour scheme and requirements.
AUDIT_OPTIONS = frozenset({*SITE_FIELDS, "types", "request", "widths", "color_scheme", "requirements"})
# Fields that define the audit. A change of the target replaces all of them.
AUDIT_FIELDS = AUDIT_OPTIONS | set(Audit.Kind.values)
SCHEDULE_FIELDS = frozenset({"every", "at", "day", "timezone"})
# Columns that have the same name and value in the API and in forms.
COLUMNS = frozenset({"name"})
DAY_RULE = "day must be a whole number: 1 (Monday) to 7 for a week, 1 to 31 for a month."


class MonitorRequest(Struct, frozen=True):
    """Validated request to create or change a monitor.

    If `audit` or `is_paused` is None, the target or the pause does not change. `keeps_credentials` retains stored
    credentials for the same origin; otherwise the credentials of `audit` replace them. `journey` is that of a new
    target, of which `audit` is a run.
    """

    audit: AuditRequest | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    is_paused: bool | None = None
    keeps_credentials: bool = True
    journey: Journey | None = None


def interval_within_tier(every: str, tier: Tier) -> str:
    """Return the interval if the tier allows it, else raise InvalidParams."""
    refuse_shorter_than_tier(every, PERIODS[Interval(every)], tier)
    return every


def schedule_columns(every: str, at: time | None, day: int | None, timezone: str) -> dict[str, Any]:
    """Return the schedule columns of a monitor.

    Raises InvalidParams if the day does not match the interval.
    """
    if day is not None:
        last_day = {Interval.WEEK: 7, Interval.MONTH: 31}.get(Interval(every))
        if last_day is None:
            raise InvalidParams("day is only for monitors that run every week or every month.", "day")
        if at is None:
            raise InvalidParams("day needs at, the time of that day.", "day")
        if day > last_day:
            raise InvalidParams(DAY_RULE, "day")
    return {"every": every, "at": at, "day": day, "timezone": timezone}


def _every(**options: Any) -> Choice:
    return Choice(Interval.choices, says=f"every must be one of {', '.join(Interval.values)}.", **options)


class MonitorFieldsSerializer(AuditFields):
    """Common fields of POST and PATCH for monitors."""

    journey = Pattern(
        JOURNEY_ID,
        required=False,
        help_text="The ID of a journey, whose runs are repeated. It has its own `types`, `widths`, `color_scheme` and "
        "`requirements`.",
        says="journey must be the ID of a journey.",
    )
    name = name_field(required=False, help_text="Default: the host, or the name of the journey.")
    at = Pattern(
        TIME,
        required=False,
        allow_null=True,
        help_text="Local time. By default, the service chooses a time within the interval.",
        says="at must be a time such as 06:00, or null.",
    )
    day = Whole(
        min_value=1,
        max_value=31,
        required=False,
        allow_null=True,
        help_text="With `at`: the weekday (1 is Monday) or the day of the month; a shorter month uses its last day.",
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
            return interval_within_tier(every, self.context["tier"])

    def target(self, values: Mapping[str, Any]) -> tuple[AuditRequest, Journey | None]:
        """Return the audit request for the valid values, and the journey if it is a run of one.

        Raises InvalidParams, InvalidRequestField, and NotFound for an unknown journey.
        """
        if len([kind for kind in Audit.Kind.values if kind in values]) != 1:
            raise InvalidParams("Send exactly one of page, pages, site and journey.")
        if "journey" not in values:
            return self.audit(values), None
        refuse_options_of_pages(values)
        journey = JOURNEY.find(self.context["organization_id"], values["journey"])
        return audit_request_of(journey, self.context["tier"].pages_per_audit), journey

    def columns(self, values: Mapping[str, Any], alert: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns for name, alerts and recipients from the validated values."""
        columns = {name: values[name] for name in COLUMNS & values.keys()}
        if "alert" in values:
            columns["alert"] = dict(alert) | values["alert"]
        return columns | recipient_columns(values.get("notify", {}))

    def schedule(self, values: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schedule columns, with the values of `current` for missing fields."""
        every, at = values.get("every", current["every"]), values.get("at", current["at"])
        # A stored day is only used for the same interval, because weekdays and days of the month are numbered
        # differently.
        day = values.get("day", current["day"] if every == current["every"] else None)
        return schedule_columns(every, at, day, values.get("timezone", current["timezone"]))


class MonitorRequestSerializer(MonitorFieldsSerializer):
    """Body of POST /v1/monitors."""

    every = _every()

    def validate(self, values: dict[str, Any]) -> MonitorRequest:
        audit, journey = self.target(values)
        columns = self.columns(values, DEFAULT_ALERT)
        columns |= self.schedule(values, {"every": None, "at": None, "day": None, "timezone": "UTC"})
        return MonitorRequest(audit, columns, values.get("paused"), journey=journey)


class MonitorChangeSerializer(MonitorFieldsSerializer):
    """Body of PATCH /v1/monitors/:id.

    Fields that are missing in the body do not change.
    """

    every = _every(required=False)

    def validate(self, values: dict[str, Any]) -> MonitorRequest:
        monitor: Monitor = self.context["monitor"]
        columns = self.columns(values, monitor.alert)
        if SCHEDULE_FIELDS & set(values):
            current = {"every": monitor.every, "at": monitor.at, "day": monitor.day, "timezone": monitor.timezone}
            columns |= self.schedule(values, current)
        audit, journey = self._target(values, monitor)
        keeps_credentials = "request" not in values
        return MonitorRequest(audit, columns, values.get("paused"), keeps_credentials, journey)

    def _target(
        self, values: Mapping[str, Any], monitor: Monitor
    ) -> tuple[AuditRequest, Journey | None] | tuple[None, None]:
        """Return the new audit request with its journey, or None if the values do not change the audit."""
        if any(kind in values for kind in Audit.Kind.values):
            return self.target(values)
        if AUDIT_FIELDS.isdisjoint(values):
            return None, None
        if monitor.kind == Audit.Kind.JOURNEY:
            refuse_options_of_pages(values)
        # Without a new target, a request may change single options, such as the types.
        targets = targets_of(monitor.kind, monitor.pages, self.context["policy"], self.context["pages_per_audit"])
        site_fields = SITE_FIELDS if monitor.kind == Audit.Kind.SITE else ()
        current = {name: getattr(monitor, name) for name in ("types", *site_fields)} | dict(monitor.viewing or {})
        current["requirements"] = monitor.own_requirements
        return self.audit_of(monitor.kind, targets, {**current, **values}), None


def refuse_options_of_pages(values: Mapping[str, Any]) -> None:
    """Raise InvalidParams for an option that monitors with a journey do not have."""
    if refused := sorted(AUDIT_OPTIONS & values.keys()):
        raise InvalidParams(f"{refused[0]} is not a field of a monitor with journey.", refused[0])


def parse_new(body: Mapping[str, Any], policy: Policy, organization_id: int) -> MonitorRequest:
    """Validate the body of POST /v1/monitors.

    Raises the refusal of the first invalid field.
    """
    tier = Tier.objects.get(organization=organization_id)
    return _parse(MonitorRequestSerializer, body, policy, tier, organization_id=organization_id)


def parse_change(body: Mapping[str, Any], policy: Policy, monitor: Monitor) -> MonitorRequest:
    """Validate the body of PATCH /v1/monitors/:id.

    Raises the same refusals as `parse_new`.
    """
    organization_id, tier = monitor.organization_id, monitor.organization.tier
    return _parse(MonitorChangeSerializer, body, policy, tier, organization_id=organization_id, monitor=monitor)


def _parse(
    serializer: type[MonitorFieldsSerializer], body: Mapping[str, Any], policy: Policy, tier: Tier, **context: Any
) -> MonitorRequest:
    limits = {"tier": tier, "pages_per_audit": tier.pages_per_audit, "includes_limited": True}
    request: MonitorRequest = serializer.judged(body, policy=policy, **limits, **context)
    return request


def audit_columns(audit: AuditRequest, journey: Journey | None = None) -> dict[str, Any]:
    """Return the monitor columns for the audit's target and options, without credentials."""
    return {
        "kind": audit.kind,
        "journey": journey,
        "pages": [target.url for target in audit.targets],
        "types": [str(type) for type in audit.types],
        "discover": list(audit.discover),
        "include": list(audit.include),
        "exclude": list(audit.exclude),
        "max_pages": audit.max_pages,
        "viewing": stored_viewing(audit.viewing),
        "requirements": stored_requirements(audit.requirements),
    }


def default_interval(tier: Tier) -> Interval:
    """Return the interval that new monitors have by default: daily, or longer if the tier does not allow that."""
    return Interval(tier.shortest_interval if is_shorter(Interval.DAY, tier.shortest_interval) else Interval.DAY)


def is_shorter(every: str, than: str) -> bool:
    return PERIODS[Interval(every)] < PERIODS[Interval(than)]
