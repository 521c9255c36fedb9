"""Serializers of monitors, for the API and openapi.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.models import Interval
from infrastructure.api.typed import DocumentField
from scans.documents import CredentialNames, ScanFailure, credential_names_of, failure_of
from scans.models import Scan
from sites.audits.requests import DISCOVER
from sites.models import Audit, Monitor, MonitorRun
from sites.models.documents import News
from sites.models.monitor import STATUS_FILTERS
from sites.monitors.alerts import AlertSerializer
from sites.monitors.requests import TIME
from sites.recipients import WithRecipients, recipients_of
from sites.serializers import MONITOR_ID, RUN_ID, ByTypeField
from website_scan.json_types import GRADE, SEVERITIES

STATUSES = list(STATUS_FILTERS)


@extend_schema_field(serializers.RegexField(TIME))
class TimeOfDayField(serializers.TimeField):
    """Field for a time of day to the minute, such as 06:00; the format `time` of JSON Schema has seconds and a zone."""


class TypeScoreSerializer(serializers.Serializer):
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class MonitorSerializer(WithRecipients, serializers.Serializer):
    """A monitor. It has one of `page`, `pages` and `site`; only with `site` also how that is discovered."""

    # `shown` and `all_shown` gather for the context what is not in the monitor's row.

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
    request = DocumentField(CredentialNames, credential_names_of, source="credential_names", required=False)
    every = serializers.ChoiceField(Interval.choices)
    at = TimeOfDayField(format="%H:%M", allow_null=True)
    day = serializers.IntegerField(allow_null=True)
    timezone = serializers.CharField()
    paused = serializers.BooleanField(source="is_paused")
    pause_reason = serializers.ChoiceField(Monitor.Pause.choices, allow_null=True)
    alert = AlertSerializer()
    notify = serializers.SerializerMethodField()
    unsubscribed = serializers.SerializerMethodField(help_text="Recipients who have unsubscribed from its e-mails.")
    warning = serializers.SerializerMethodField(help_text="Says so where nobody is notified; else null.")
    status = serializers.ChoiceField(STATUSES)
    failing_since = serializers.DateTimeField(allow_null=True)
    results = ByTypeField(child=TypeScoreSerializer(), source="scores", help_text="Last confirmed, by type.")
    next_run_at = serializers.DateTimeField(allow_null=True)
    next_try_at = serializers.SerializerMethodField(help_text="When a run that waits starts, or tries again.")
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

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_next_try_at(self, monitor: Monitor) -> str | None:
        moment = self.context["tries"].get(monitor.id)
        return serializers.DateTimeField().to_representation(moment) if moment else None


def shown(monitor: Monitor) -> dict[str, Any]:
    """Return a monitor as the API shows it."""
    return all_shown([monitor])[0]


def all_shown(monitors: Sequence[Monitor]) -> list[dict[str, Any]]:
    """Return monitors of one organization as the API shows them; at most four queries for any number of them."""
    waiting = MonitorRun.objects.filter(monitor__in=monitors, status=MonitorRun.Status.DUE)
    tries = dict(waiting.values_list("monitor_id", "not_before")) if monitors else {}
    context = {"recipients": recipients_of(monitors), "tries": tries}
    serializer = MonitorSerializer(context=context)
    return [serializer.to_representation(each) for each in monitors]


class MonitorListSerializer(serializers.Serializer):
    monitors = MonitorSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()


class RunScoreSerializer(serializers.Serializer):
    """Score of a type in a run, and the score before."""

    before = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)


class ChangedScoreSerializer(serializers.Serializer):
    """Score of a type before and after a change."""

    before = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    after = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)


class ChangedPageSerializer(serializers.Serializer):
    """Page with a change. `previous_report_url` is null if that report has expired."""

    url = serializers.CharField()
    report_url = serializers.CharField()
    previous_report_url = serializers.CharField(allow_null=True)
    places = serializers.ListField(child=serializers.CharField())


class ChangedFindingSerializer(serializers.Serializer):
    """Changed finding with the first of its pages; `said` is the change in words."""

    type = serializers.ChoiceField(Scan.Type.choices)
    check = serializers.CharField()
    title = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITIES)
    pages_affected = serializers.IntegerField(min_value=1)
    message = serializers.CharField()
    fix = serializers.CharField()
    said = serializers.CharField()
    fingerprints = serializers.ListField(child=serializers.CharField())
    pages = ChangedPageSerializer(many=True)


class ReachablePageSerializer(serializers.Serializer):
    url = serializers.CharField()


class UnreachablePageSerializer(ReachablePageSerializer):
    message = serializers.CharField()


class UntoldSerializer(serializers.Serializer):
    """Numbers of changes that are left out of the lists."""

    new = serializers.IntegerField(min_value=0)
    fixed = serializers.IntegerField(min_value=0)
    worse = serializers.IntegerField(min_value=0)
    better = serializers.IntegerField(min_value=0)
    unreachable_pages = serializers.IntegerField(min_value=0)
    reachable_pages = serializers.IntegerField(min_value=0)


class CertificateSerializer(serializers.Serializer):
    """Certificate that expires soon."""

    host = serializers.CharField()
    expires_at = serializers.CharField()
    days_left = serializers.IntegerField(min_value=0)


class NewsSerializer(serializers.Serializer):
    """Changes that a run has found, in the order of the event `monitor.changed`; empty if there are none."""

    scores = ByTypeField(child=ChangedScoreSerializer(), required=False)
    new = ChangedFindingSerializer(many=True, required=False)
    fixed = ChangedFindingSerializer(many=True, required=False)
    worse = ChangedFindingSerializer(many=True, required=False)
    better = ChangedFindingSerializer(many=True, required=False)
    unreachable_pages = UnreachablePageSerializer(many=True, required=False)
    reachable_pages = ReachablePageSerializer(many=True, required=False)
    more = UntoldSerializer(required=False)
    certificate = CertificateSerializer(allow_null=True, required=False)
    reasons = serializers.ListField(child=serializers.CharField(), required=False)

    def to_representation(self, news: News) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(news) if news else {}
        return shown


class MonitorRunSerializer(serializers.Serializer):
    """One run. `news` is empty until it has ended, and where nothing has changed."""

    id = serializers.RegexField(RUN_ID)
    due_at = serializers.DateTimeField()
    requested = serializers.BooleanField(source="is_requested")
    status = serializers.ChoiceField(MonitorRun.Status.choices)
    next_try_at = serializers.DateTimeField(allow_null=True, help_text="When it starts or tries again, while it waits.")
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    audit_id = serializers.CharField(allow_null=True)
    results = ByTypeField(child=RunScoreSerializer(), source="scores", help_text="By type.")
    news = NewsSerializer(help_text="As `data` of the event `monitor.changed`, without the monitor.")
    told = serializers.BooleanField(source="is_told", help_text="Whether a message was sent.")
    error = serializers.SerializerMethodField()

    @extend_schema_field(DocumentField(ScanFailure, failure_of, allow_null=True))
    def get_error(self, run: MonitorRun) -> dict[str, str] | None:
        return {"code": run.error_code, "message": run.error_message} if run.error_code else None


class MonitorRunListSerializer(serializers.Serializer):
    runs = MonitorRunSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
