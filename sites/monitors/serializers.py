"""Serializers of monitors, for the API and openapi.yaml."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts import access
from accounts.models import Interval
from infrastructure.api.fields import GRADE
from reports.serializers import SEVERITIES
from scans.models import Scan
from scans.serializers import CredentialNamesSerializer, CredentialsSerializer
from sites.audits.requests import DISCOVER, MAX_LISTED, MAX_PATTERNS, PATTERN_LENGTH
from sites.models import Audit, Monitor, MonitorRun
from sites.monitors.requests import MOST_EMAILS, NAME_LENGTH

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"
STATUSES = ["ok", "failing", "paused"]


def _number(most: int) -> serializers.IntegerField:
    return serializers.IntegerField(min_value=1, max_value=most, required=False, allow_null=True)


class AlertSerializer(serializers.Serializer):
    """What is worth a message. What is null is not."""

    new_findings = serializers.ChoiceField(
        SEVERITIES, required=False, allow_null=True, help_text="Findings that are new or worse, from this severity on."
    )
    score_drop = _number(100)
    score_below = serializers.DictField(
        child=serializers.IntegerField(min_value=1, max_value=100), required=False, help_text="By type."
    )
    certificate_days = _number(365)
    unreachable = serializers.BooleanField(required=False)
    recovered = serializers.BooleanField(required=False, help_text="That it can be reached again.")
    fixed = serializers.BooleanField(required=False, help_text="Also what was fixed, although nothing got worse.")


class NotifySerializer(serializers.Serializer):
    """Who is told: members by e-mail, and webhooks that want events of monitors."""

    emails = serializers.ListField(child=serializers.EmailField(), max_length=MOST_EMAILS, required=False)
    webhooks = serializers.BooleanField(required=False)


class MonitorFieldsSerializer(serializers.Serializer):
    """Fields that POST and PATCH /v1/monitors share."""

    page = serializers.CharField(required=False, help_text="One page.")
    pages = serializers.ListField(child=serializers.CharField(), max_length=MAX_LISTED, required=False)
    site = serializers.CharField(required=False, help_text="Where a site begins; its pages are looked for at each run.")
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices), required=False)
    discover = serializers.ListField(child=serializers.ChoiceField(DISCOVER), required=False)
    max_pages = serializers.IntegerField(min_value=1, required=False)
    include = serializers.ListField(
        child=serializers.CharField(max_length=PATTERN_LENGTH), max_length=MAX_PATTERNS, required=False
    )
    exclude = serializers.ListField(
        child=serializers.CharField(max_length=PATTERN_LENGTH), max_length=MAX_PATTERNS, required=False
    )
    request = CredentialsSerializer(required=False, allow_null=True)
    name = serializers.CharField(max_length=NAME_LENGTH, required=False, help_text="The host, where none is given.")
    at = serializers.RegexField(
        r"^([01]\d|2[0-3]):[0-5]\d$",
        required=False,
        allow_null=True,
        help_text="Local time. Without one the start is spread over the interval.",
    )
    day = serializers.IntegerField(
        min_value=1,
        max_value=31,
        required=False,
        allow_null=True,
        help_text="With `at`: the weekday, 1 is Monday, or the day of the month; in shorter months the last one.",
    )
    timezone = serializers.CharField(required=False, help_text="Of the IANA time zone database; else UTC.")
    paused = serializers.BooleanField(required=False)
    alert = AlertSerializer(required=False)
    notify = NotifySerializer(required=False)


class MonitorRequestSerializer(MonitorFieldsSerializer):
    """The body of POST /v1/monitors: that of an audit, and when and whom to tell."""

    every = serializers.ChoiceField(Interval.choices)


class MonitorChangeSerializer(MonitorFieldsSerializer):
    """The body of PATCH /v1/monitors/:id: what is not named stays as it is."""

    every = serializers.ChoiceField(Interval.choices, required=False)


class TypeScoreSerializer(serializers.Serializer):
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class MonitorSerializer(serializers.Serializer):
    """One monitor. Exactly one of `page`, `pages` and `site` is there; the last four of a target only with `site`."""

    id = serializers.RegexField(MONITOR_ID)
    name = serializers.CharField()
    page = serializers.CharField(required=False)
    pages = serializers.ListField(child=serializers.CharField(), required=False)
    site = serializers.CharField(required=False)
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    discover = serializers.ListField(child=serializers.ChoiceField(DISCOVER), required=False)
    max_pages = serializers.IntegerField(required=False)
    include = serializers.ListField(child=serializers.CharField(), required=False)
    exclude = serializers.ListField(child=serializers.CharField(), required=False)
    request = CredentialNamesSerializer(source="credential_names", required=False)
    every = serializers.ChoiceField(Interval.choices)
    at = serializers.TimeField(format="%H:%M", allow_null=True)
    day = serializers.IntegerField(allow_null=True)
    timezone = serializers.CharField()
    paused = serializers.BooleanField(source="is_paused")
    pause_reason = serializers.ChoiceField(Monitor.Pause.choices, allow_null=True)
    alert = AlertSerializer()
    notify = serializers.SerializerMethodField()
    status = serializers.SerializerMethodField()
    failing_since = serializers.DateTimeField(allow_null=True)
    results = serializers.DictField(child=TypeScoreSerializer(), source="scores", help_text="Last confirmed, by type.")
    next_run_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    monitor_url = serializers.URLField()

    def to_representation(self, monitor: Monitor) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(monitor)
        target: object = monitor.pages if monitor.kind == Audit.Kind.PAGES else monitor.url
        shown["pause_reason"] = monitor.pause_reason or None
        shown = {"id": shown.pop("id"), "name": shown.pop("name"), monitor.kind: target} | shown
        absent = [each for each in ("page", "pages", "site") if each != monitor.kind]
        if monitor.kind != Audit.Kind.SITE:
            absent += ["discover", "max_pages", "include", "exclude"]
        if shown["request"] is None:
            absent.append("request")
        for name in absent:
            shown.pop(name, None)
        return shown

    @extend_schema_field(NotifySerializer)
    def get_notify(self, monitor: Monitor) -> dict[str, Any]:
        return {"emails": recipients_of(monitor), "webhooks": monitor.tells_webhooks}

    @extend_schema_field(serializers.ChoiceField(STATUSES))
    def get_status(self, monitor: Monitor) -> str:
        if monitor.is_paused:
            return "paused"
        return "failing" if monitor.failing_since else "ok"


def recipients_of(monitor: Monitor) -> list[str]:
    """Return the e-mail addresses of the recipients who are still members."""
    if not monitor.recipients:
        return []
    people = access.people_of(monitor.organization_id).filter(id__in=monitor.recipients)
    return list(people.order_by("email").values_list("email", flat=True))


class MonitorListSerializer(serializers.Serializer):
    monitors = MonitorSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class MonitorRunSerializer(serializers.Serializer):
    """One run. `news` is empty until it has ended, and where nothing has changed."""

    due_at = serializers.DateTimeField()
    requested = serializers.BooleanField(source="is_requested")
    status = serializers.ChoiceField(MonitorRun.Status.choices)
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    audit_id = serializers.CharField(allow_null=True)
    results = serializers.DictField(source="scores", help_text="By type: score, grade, and the score before.")
    news = serializers.DictField(help_text="As `data` of the event `monitor.changed`, without the monitor.")
    told = serializers.BooleanField(source="is_told", help_text="Whether a message was sent.")
    error = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.CharField(), allow_null=True))
    def get_error(self, run: MonitorRun) -> dict[str, str] | None:
        return {"code": run.error_code, "message": run.error_message} if run.error_code else None


class MonitorRunListSerializer(serializers.Serializer):
    runs = MonitorRunSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
