"""Descriptions of the events of monitors for the `webhooks` of openapi.yaml."""

from __future__ import annotations

from rest_framework import serializers

from infrastructure.api.typed import DocumentField
from scans.documents import ScanFailure, failure_of
from sites.monitors.serializers import NewsSerializer
from sites.serializers import MONITOR_ID, RUN_ID
from webhooks.event_schema import body_with, described
from webhooks.models import EventKind

AUDIT_ID = r"^aud_[0-9A-Za-z]{22}$"


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


MONITOR_CHANGED = described(EventKind.MONITOR_CHANGED, body_with(MonitorChangedEventDataSerializer))
MONITOR_FAILED = described(EventKind.MONITOR_FAILED, body_with(MonitorFailedEventDataSerializer))
MONITOR_RECOVERED = described(EventKind.MONITOR_RECOVERED, body_with(MonitorRecoveredEventDataSerializer))
