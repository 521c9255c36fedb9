"""Descriptions of the events of audits, monitors and lists for the `webhooks` of openapi.yaml."""

from __future__ import annotations

from rest_framework import serializers

from infrastructure.api.typed import DocumentField
from scans.documents import ScanFailure, failure_of
from scans.models import Scan
from sites.audits.serializers import AUDIT_ID, AuditScoreSerializer
from sites.lists.serializers import LIST_ID, ListRunSerializer, SnapshotDiffSerializer
from sites.models import Audit
from sites.monitors.serializers import MONITOR_ID, RUN_ID, ByTypeField, NewsSerializer
from webhooks.event_schema import body_with, described
from webhooks.models import EventKind
from website_scan.json_types import GRADE


class AuditEventPagesSerializer(serializers.Serializer):
    """How many pages were to be checked, and how many were."""

    planned = serializers.IntegerField(min_value=0)
    done = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)


class AuditEventDataSerializer(serializers.Serializer):
    """The audit that has ended."""

    audit_id = serializers.RegexField(AUDIT_ID)
    target = serializers.CharField()
    types = serializers.ListField(child=serializers.ChoiceField(Scan.Type.choices))
    status = serializers.ChoiceField(Audit.Status.choices)
    pages = AuditEventPagesSerializer()
    results = serializers.DictField(child=AuditScoreSerializer())
    audit_url = serializers.URLField()
    error = DocumentField(
        ScanFailure, failure_of, required=False, help_text="Of an audit that is `failed` or `partial`."
    )


class EventRunSerializer(serializers.Serializer):
    """The run of a monitor; ID and address of its audit are null if it has none."""

    id = serializers.RegexField(RUN_ID)
    audit_id = serializers.RegexField(AUDIT_ID, allow_null=True)
    audit_url = serializers.URLField(allow_null=True)
    due_at = serializers.DateTimeField()


class MonitorEventDataSerializer(serializers.Serializer):
    """A monitor and its run."""

    monitor_id = serializers.RegexField(MONITOR_ID)
    name = serializers.CharField()
    target = serializers.CharField()
    monitor_url = serializers.URLField()
    run = EventRunSerializer()


class MonitorChangedEventDataSerializer(NewsSerializer, MonitorEventDataSerializer):
    """A monitor, its run and what has changed."""


class MonitorFailedEventDataSerializer(MonitorEventDataSerializer):
    """A monitor, its run and why it fails."""

    since = serializers.DateTimeField()
    error = DocumentField(ScanFailure, failure_of)


class MonitorRecoveredEventDataSerializer(MonitorEventDataSerializer):
    """A monitor, its run, and what has changed during the outage."""

    down_since = serializers.DateTimeField()
    recovered_at = serializers.DateTimeField()
    changes = NewsSerializer(allow_null=True)


class ListMeanSerializer(serializers.Serializer):
    """Scores of a type over the sites that have one; mean and grade are null if no site has."""

    judged = serializers.IntegerField(min_value=0)
    mean = serializers.FloatField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)


class ListEventDataSerializer(serializers.Serializer):
    """A list, and its run that has ended."""

    list_id = serializers.RegexField(LIST_ID)
    name = serializers.CharField()
    list_url = serializers.URLField()
    run = ListRunSerializer()
    results = ByTypeField(child=ListMeanSerializer())


class ChangedGradesSerializer(serializers.Serializer):
    """Number of sites with a better, and with a worse grade of any type; a site may be in both."""

    better = serializers.IntegerField(min_value=0)
    worse = serializers.IntegerField(min_value=0)


class ListChangesSerializer(SnapshotDiffSerializer):
    """Difference from the snapshot before, as the API returns it, and the number of sites with another grade."""

    grades = ChangedGradesSerializer()


class ListChangedEventDataSerializer(ListEventDataSerializer):
    """A list, its run, and what has changed since the run before."""

    changes = ListChangesSerializer()


AUDIT_COMPLETED = described(EventKind.AUDIT_COMPLETED, body_with(AuditEventDataSerializer))
AUDIT_FAILED = described(EventKind.AUDIT_FAILED, body_with(AuditEventDataSerializer))
MONITOR_CHANGED = described(EventKind.MONITOR_CHANGED, body_with(MonitorChangedEventDataSerializer))
MONITOR_FAILED = described(EventKind.MONITOR_FAILED, body_with(MonitorFailedEventDataSerializer))
MONITOR_RECOVERED = described(EventKind.MONITOR_RECOVERED, body_with(MonitorRecoveredEventDataSerializer))
LIST_COMPLETED = described(EventKind.LIST_COMPLETED, body_with(ListEventDataSerializer))
LIST_CHANGED = described(EventKind.LIST_CHANGED, body_with(ListChangedEventDataSerializer))
