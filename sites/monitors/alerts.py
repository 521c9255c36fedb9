"""Alert kinds of monitors. No I/O.

The API field `alert`, openapi.yaml, the dashboard form and the table in docs/monitors.md are generated from `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from rest_framework import serializers

from infrastructure.api.inputs import Choice, Flag, Nested, Parsed, Whole, path_of
from scans.models import Scan
from sites.models import Monitor
from sites.models.stored_json import CertificateNews, Direction, NotifiedCertificate
from sites.monitors.changes import ChangeGroups
from sites.monitors.scores import ScoreResult
from website_scan.findings import Severity
from website_scan.json_types import SEVERITIES
from website_scan.priority import SEVERITY_RANK


class Facts(Struct, frozen=True):
    """Facts about a run that may trigger alerts.

    `certificate` is one that expires soon and has not been reported yet, or None.
    """

    changes: ChangeGroups
    scores: Mapping[str, ScoreResult]
    certificate: CertificateNews | None


# Function of an alert's setting and the facts that returns True if a notification is required.
Judge = Callable[[Any, Facts], bool]


class AlertKind(Struct, frozen=True):
    """Kind of alert with its setting and its reasons for a notification.

    The settings None and False switch the alert off. `label`, `hint` and `choices` are for the dashboard form.
    `meaning` describes in docs/monitors.md when a notification is sent.
    """

    name: str
    input: Callable[[], serializers.Field[Any, Any, Any, Any]]
    default: Any
    reasons: Mapping[str, Judge]
    label: str
    meaning: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()


class ScoresByType(Parsed, serializers.DictField):
    """Serializer field for minimum scores by scan type."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.IntegerField(min_value=1, max_value=100), **kwargs)

    def to_internal_value(self, data: Any) -> dict[str, int]:
        if not isinstance(data, dict):
            raise serializers.ValidationError(f'{path_of(self)} must be an object such as {{"security": 80}}.')
        for name, score in data.items():
            if name not in Scan.Type.values:
                raise serializers.ValidationError(f"{path_of(self)} has no {name!a:.60}: its keys must be scan types.")
            number = _number(100)
            number.bind(name, self)  # type: ignore[arg-type]  # Any serializer field can have children.
            try:
                number.run_validation(score)
            except serializers.ValidationError as error:
                raise serializers.ValidationError({name: error.detail}) from None
        return data


def _number(most: int) -> Whole:
    says = f"{{name}} must be a whole number from 1 to {most}, or null."
    return Whole(min_value=1, max_value=most, required=False, allow_null=True, says=says)


def _require_severity(*directions: Direction) -> Judge:
    """Return a condition for the severity of changes.

    The worst change in the directions must be at least as severe as the alert's setting.
    """

    def has_severity(min_severity: Any, facts: Facts) -> bool:
        worst = facts.changes.worst(*directions)
        return worst is not None and worst <= SEVERITY_RANK[min_severity]

    return has_severity


KINDS = (
    AlertKind(
        "new_findings",
        lambda: Choice(
            SEVERITIES,
            required=False,
            allow_null=True,
            help_text="Lowest severity of new or worse findings.",
            says=f"{{name}} must be one of {', '.join(Severity)}, or null.",
        ),
        "high",
        {"new_findings": _require_severity("new"), "worse_findings": _require_severity("worse")},
        "Notify about",
        "a finding is new or worse, with this severity or a higher one",
        choices=(
            ("low", "all new problems"),
            ("medium", "new problems of medium severity or higher"),
            ("high", "new problems of high severity or higher"),
            ("critical", "new critical problems only"),
            ("", "no new problems"),
        ),
    ),
    AlertKind(
        "score_drop",
        lambda: _number(100),
        5,
        {"score_drop": lambda _points, facts: any(score.has_dropped for score in facts.scores.values())},
        "When a score drops by at least this many points",
        "the score of a type has dropped by this many points; small drops add up",
    ),
    AlertKind(
        "score_below",
        lambda: ScoresByType(required=False, help_text="Threshold for each type."),
        {},
        {"score_below": lambda _scores, facts: any(score.fell_below for score in facts.scores.values())},
        "When a score falls below",
        'the score of a type falls below its threshold, such as `{"security": 80}`: once until it has been above '
        "again, and also in the first run",
        "Leave a field empty to set no limit for that score.",
    ),
    AlertKind(
        "certificate_days",
        lambda: _number(365),
        21,
        {"certificate": lambda _days, facts: facts.certificate is not None},
        "This many days before the certificate expires",
        "a certificate expires within this many days, once for each certificate",
    ),
    AlertKind(
        "unreachable",
        lambda: Flag(required=False),
        True,
        {"unreachable_pages": lambda _is_on, facts: bool(facts.changes.unreachable)},
        "When it becomes unreachable",
        "nothing can be judged, or a step of the journey fails, in two attempts, five minutes apart; or one of several "
        "pages cannot be judged in two runs in a row",
        "Only after a second attempt five minutes later fails as well. The same applies if a step of a journey fails.",
    ),
    AlertKind(
        "recovered",
        lambda: Flag(required=False, help_text="The target is reachable again."),
        True,
        {"reachable_pages": lambda _is_on, facts: facts.changes.ends_notified_outage},
        "When it is reachable again",
        "the target is reachable again after a message that it was unreachable; includes the changes since before the "
        "outage",
    ),
    AlertKind(
        "fixed",
        lambda: Flag(required=False, help_text="Findings were fixed, even if nothing became worse."),
        False,
        {"fixed": lambda _is_on, facts: facts.changes.worst("fixed", "better") is not None},
        "When problems are fixed",
        "a finding was fixed or became better, and nothing became worse",
        "Even if nothing got worse.",
    ),
)
DEFAULT_ALERT: Mapping[str, Any] = {kind.name: kind.default for kind in KINDS}


class AlertSerializer(Nested):
    """Settings for alerts.

    They determine which changes send a notification. Null switches an alert off.
    """

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {kind.name: kind.input() for kind in KINDS}


def alert_settings_of(monitor: Monitor) -> dict[str, Any]:
    """Return the monitor's alert settings, with defaults for missing settings."""
    return {**DEFAULT_ALERT, **monitor.alert}


def reasons(settings: Mapping[str, Any], facts: Facts) -> list[str]:
    """Return the reasons to send a notification under the alert settings.

    Empty if no notification is due.
    """
    return [
        name
        for kind in KINDS
        if settings[kind.name]
        for name, judge in kind.reasons.items()
        if judge(settings[kind.name], facts)
    ]


def expiring_certificate(
    expiries: Mapping[str, str], notified: Mapping[str, NotifiedCertificate], days: int | None, now: datetime
) -> tuple[CertificateNews | None, dict[str, NotifiedCertificate]]:
    """Return the next expiring certificate to report, and the new value of `notified`.

    The certificate expires within `days` and has not been reported yet. It is None if there is no such certificate.
    `expiries` has the certificate's expiry by host, and `notified` the last notification by host.
    """
    still_valid = {host: last for host, last in notified.items() if expiries.get(host) == last["expires_at"]}
    soon = dict(_expiring_soon(expiries, days, now)) if days else {}
    unreported = [host for host in soon if host not in still_valid or still_valid[host]["days"] != days]
    if days is None or not unreported:
        return None, still_valid
    host = min(unreported, key=lambda name: (soon[name], name))
    news: CertificateNews = {"host": host, "expires_at": expiries[host], "days_left": max(0, (soon[host] - now).days)}
    return news, {**still_valid, host: {"expires_at": expiries[host], "days": days}}


def _expiring_soon(expiries: Mapping[str, str], days: int, now: datetime) -> Iterator[tuple[str, datetime]]:
    for host, expiry in expiries.items():
        expires_at = datetime.fromisoformat(expiry)
        if expires_at - now < timedelta(days=days):
            yield host, expires_at
