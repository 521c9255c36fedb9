"""Serializers of monitors, for the API and openapi.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import Interval
from infrastructure.api.fields import GRADE
from scans.models import Scan
from scans.serializers import CredentialNamesSerializer
from sites.audits.requests import DISCOVER
from sites.models import Audit, Monitor, MonitorRun
from sites.monitors.alerts import AlertSerializer
from sites.monitors.recipients import Recipients, recipients_of
from sites.monitors.requests import NotifySerializer

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"
STATUSES = ["ok", "failing", "paused"]


class TypeScoreSerializer(serializers.Serializer):
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class MonitorSerializer(serializers.Serializer):
    """One monitor. Exactly one of `page`, `pages` and `site` is there; the last four of a target only with `site`.

    Use `shown` and `all_shown`, which gather what is not in the monitor's row.
    """

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
    unsubscribed = serializers.SerializerMethodField(help_text="Recipients who have unsubscribed from its e-mails.")
    warning = serializers.SerializerMethodField(help_text="Says so where nobody is notified; else null.")
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

    def _recipients(self, monitor: Monitor) -> Recipients:
        found: Recipients = self.context["recipients"][monitor.id]
        return found

    @extend_schema_field(NotifySerializer)
    def get_notify(self, monitor: Monitor) -> dict[str, Any]:
        return {"emails": list(self._recipients(monitor).emails), "webhooks": monitor.tells_webhooks}

    @extend_schema_field(serializers.ListField(child=serializers.EmailField()))
    def get_unsubscribed(self, monitor: Monitor) -> list[str]:
        return list(self._recipients(monitor).unsubscribed)

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_warning(self, monitor: Monitor) -> str | None:
        return self._recipients(monitor).warning

    @extend_schema_field(serializers.ChoiceField(STATUSES))
    def get_status(self, monitor: Monitor) -> str:
        if monitor.is_paused:
            return "paused"
        return "failing" if monitor.failing_since else "ok"


def shown(monitor: Monitor) -> dict[str, Any]:
    """Return a monitor as the API shows it."""
    return all_shown([monitor])[0]


def all_shown(monitors: Sequence[Monitor]) -> list[dict[str, Any]]:
    """Return monitors of one organization as the API shows them; at most three queries for any number of them."""
    context = {"recipients": recipients_of(monitors)}
    found: list[dict[str, Any]] = MonitorSerializer(monitors, many=True, context=context).data
    return found


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
