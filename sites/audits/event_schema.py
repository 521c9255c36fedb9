"""Descriptions of the events of audits for the `webhooks` of openapi.yaml."""

from __future__ import annotations

from rest_framework import serializers

from scans.models import Scan
from scans.serializers import ScanFailureSerializer
from sites.audits.serializers import AUDIT_ID, AuditScoreSerializer
from sites.models import Audit
from webhooks.event_schema import described
from webhooks.models import EventKind


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
    error = ScanFailureSerializer(required=False, help_text="Of an audit that is `failed` or `partial`.")


AUDIT_COMPLETED = described(EventKind.AUDIT_COMPLETED, AuditEventDataSerializer)
AUDIT_FAILED = described(EventKind.AUDIT_FAILED, AuditEventDataSerializer)
