"""Descriptions of the events of audits for the `webhooks` of openapi.yaml."""

from __future__ import annotations

from rest_framework import serializers

from infrastructure.api.typed import DocumentField
from scans.documents import ScanFailure, failure_of
from scans.models import Scan
from sites.audits.serializers import AUDIT_ID, AuditScoreSerializer
from sites.models import Audit
from webhooks.event_schema import body_with, described
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
    error = DocumentField(
        ScanFailure, failure_of, required=False, help_text="Of an audit that is `failed` or `partial`."
    )


AUDIT_COMPLETED = described(EventKind.AUDIT_COMPLETED, body_with(AuditEventDataSerializer))
AUDIT_FAILED = described(EventKind.AUDIT_FAILED, body_with(AuditEventDataSerializer))
