"""Parsers of the bodies of POST and PATCH /v1/monitors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from typing import Any

from accounts import access
from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from scanner.findings import ScanType, Severity
from scanner.net.policy import Policy
from sites.audits.requests import AuditRequest, parse_audit
from sites.models import Audit, Monitor
from sites.monitors.schedule import PERIODS, time_zones

NAME_LENGTH = 100
MOST_EMAILS = 50
TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
# Fields that define the audit. A change that names the target replaces all of them.
OF_AUDIT = frozenset({*Audit.Kind.values, "types", "discover", "max_pages", "include", "exclude", "request"})
OF_SCHEDULE = frozenset({"every", "at", "day", "timezone"})
USUAL_ALERT: Mapping[str, Any] = {
    "new_findings": "high",
    "score_drop": 5,
    "score_below": {},
    "certificate_days": 21,
    "unreachable": True,
    "recovered": True,
    "fixed": False,
}


@dataclass(frozen=True, slots=True)
class MonitorRequest:
    """Parsed request: `audit` is None if the target does not change; `columns` are the row's columns to set."""

    audit: AuditRequest | None
    columns: dict[str, Any]
    is_paused: bool | None = None


def parse_new(body: Mapping[str, Any], policy: Policy, tier: Tier, organization_id: int) -> MonitorRequest:
    """Parse the body of POST. Raises the same errors as `parse_audit`, or InvalidParams naming the field."""
    audit = parse_audit({name: body[name] for name in body if name in OF_AUDIT}, policy, tier.pages_per_audit)
    if "every" not in body:
        raise InvalidParams(f"every must be one of {', '.join(Interval.values)}.")
    columns = {"name": audit.targets[0].host, "alert": dict(USUAL_ALERT)}
    columns |= _columns(body, tier, organization_id)
    columns |= _schedule(body, tier, {"every": None, "at": None, "day": None, "timezone": "UTC"})
    return MonitorRequest(audit, columns, _flag(body, "paused"))


def parse_change(body: Mapping[str, Any], policy: Policy, tier: Tier, monitor: Monitor) -> MonitorRequest:
    """Parse the body of PATCH; missing fields do not change. Raises the same errors as `parse_new`."""
    audit = None
    if named := {name: body[name] for name in body if name in OF_AUDIT}:
        # A new target replaces the whole audit. With the same target, types or patterns may change alone.
        if not any(kind in named for kind in Audit.Kind.values):
            named = audit_body(monitor) | named
        audit = parse_audit(named, policy, tier.pages_per_audit)
    columns = _columns(body, tier, monitor.organization_id, monitor.alert)
    if OF_SCHEDULE & set(body):
        known = {"every": monitor.every, "at": monitor.at, "day": monitor.day, "timezone": monitor.timezone}
        columns |= _schedule(body, tier, known)
    return MonitorRequest(audit, columns, _flag(body, "paused"))


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


def _columns(
    body: Mapping[str, Any], tier: Tier, organization_id: int, alert: Mapping[str, Any] = USUAL_ALERT
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if "name" in body:
        name = body["name"]
        if not isinstance(name, str) or not (name := " ".join(name.split())) or len(name) > NAME_LENGTH:
            raise InvalidParams(f"name must have 1 to {NAME_LENGTH} characters.")
        if not name.isprintable():
            raise InvalidParams("name must have printable characters only.")
        columns["name"] = name
    if "alert" in body:
        columns["alert"] = dict(alert) | _alert(body["alert"])
    if "notify" in body:
        columns |= _notify(body["notify"], organization_id)
    return columns


def _schedule(body: Mapping[str, Any], tier: Tier, known: Mapping[str, Any]) -> dict[str, Any]:
    every = body.get("every", known["every"])
    if every not in Interval.values:
        raise InvalidParams(f"every must be one of {', '.join(Interval.values)}.")
    if is_shorter(every, tier.shortest_interval) and "every" in body:
        shortest = Interval(tier.shortest_interval).label
        raise InvalidParams(f"every is {every}; your plan allows {shortest} at most.")
    at = _time(body["at"]) if "at" in body else known["at"]
    zone = body.get("timezone", known["timezone"])
    if zone not in time_zones():
        raise InvalidParams("timezone must be a name of the IANA time zone database, such as Europe/Berlin.")
    # The day of another interval has another meaning.
    day = body.get("day", known["day"] if every == known["every"] else None)
    return {"every": every, "at": at, "day": _day(day, every, at), "timezone": zone}


def is_shorter(every: str, than: str) -> bool:
    return PERIODS[Interval(every)] < PERIODS[Interval(than)]


def _time(value: object) -> time | None:
    if value is None:
        return None
    found = TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise InvalidParams("at must be a time such as 06:00, or null.")
    return time(int(found[1]), int(found[2]))


def _day(value: object, every: str, at: time | None) -> int | None:
    if value is None:
        return None
    most = {Interval.WEEK: 7, Interval.MONTH: 31}.get(Interval(every))
    if most is None:
        raise InvalidParams("day is for monitors that look every week or every month.")
    if at is None:
        raise InvalidParams("day needs at, the time of that day.")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidParams(f"day must be a whole number from 1 to {most}" + (", Monday is 1." if most == 7 else "."))
    return value


def _flag(body: Mapping[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if name in body and not isinstance(value, bool):
        raise InvalidParams(f"{name} must be true or false.")
    return value


def _alert(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidParams("alert must be an object.")
    if unknown := sorted(set(map(str, value)) - set(USUAL_ALERT)):
        raise InvalidParams(f"alert.{unknown[0]} is not known.")
    if value.get("new_findings") not in (None, *Severity):
        raise InvalidParams(f"alert.new_findings must be one of {', '.join(Severity)}, or null.")
    for name, most in (("score_drop", 100), ("certificate_days", 365)):
        if name in value:
            _number(value[name], f"alert.{name}", most)
    for name in ("unreachable", "recovered", "fixed"):
        if not isinstance(value.get(name, True), bool):
            raise InvalidParams(f"alert.{name} must be true or false.")
    below = value.get("score_below", {})
    if not isinstance(below, dict):
        raise InvalidParams('alert.score_below must be an object such as {"security": 80}.')
    for name, score in below.items():
        if name not in list(map(str, ScanType)):
            raise InvalidParams(f"alert.score_below has no {name}: its names are those of types.")
        _number(score, f"alert.score_below.{name}", 100)
    return value


def _number(value: object, name: str, most: int) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
    if value is not None and not is_whole:
        raise InvalidParams(f"{name} must be a whole number from 1 to {most}, or null.")


def _notify(value: object, organization_id: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidParams("notify must be an object.")
    if unknown := sorted(set(map(str, value)) - {"emails", "webhooks"}):
        raise InvalidParams(f"notify.{unknown[0]} is not known.")
    columns: dict[str, Any] = {}
    if "emails" in value:
        columns["recipients"] = _members(value["emails"], organization_id)
    if "webhooks" in value:
        if not isinstance(value["webhooks"], bool):
            raise InvalidParams("notify.webhooks must be true or false.")
        columns["tells_webhooks"] = value["webhooks"]
    return columns


def _members(value: object, organization_id: int) -> list[int]:
    """Return the members' IDs. IDs follow a change of a member's address, and drop members who leave."""
    if not isinstance(value, list) or len(value) > MOST_EMAILS or not all(isinstance(each, str) for each in value):
        raise InvalidParams(f"notify.emails must be a list of at most {MOST_EMAILS} addresses.")
    members = {email.casefold(): id for id, email in access.people_of(organization_id).values_list("id", "email")}
    for position, each in enumerate(value, 1):
        if each.casefold() not in members:
            raise InvalidParams(f"notify.emails: number {position} is not the address of a member.")
    return list(dict.fromkeys(members[each.casefold()] for each in value))
