"""A report as it was when its scan ended."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.utils import timezone

from accounts.models import Organization
from config.ids import new_report_id


class Report(models.Model):
    """`body` is the API's answer and `export` the JSON export, byte for byte; jsonb would lose their order."""

    id = models.CharField(primary_key=True, max_length=40, default=new_report_id, editable=False)
    scan = models.OneToOneField("scans.Scan", on_delete=models.CASCADE, related_name="report")
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="reports")
    body = models.TextField()
    export = models.TextField()
    facts = models.JSONField(default=dict)
    # What a browser saw: the load, and the first screen as WebP.
    waterfall = models.JSONField(null=True, blank=True)
    screenshot = models.BinaryField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)
    shared_at = models.DateTimeField(null=True, blank=True, help_text="Since when anybody with the link may read it.")

    def __str__(self) -> str:
        return self.id

    @property
    def document(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.export)
        return parsed
