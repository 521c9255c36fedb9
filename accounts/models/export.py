"""Models for data exports.

PostgreSQL stores the files, because the hosts share no disk.
"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from accounts.models.organizations import Organization, User
from infrastructure.leases import Leased
from website_scan.ids import new_id


def new_export_id() -> str:
    return new_id("exp")


class DataExport(Leased):
    """An organization's data export, written in parts.

    It changes from making to ready or failed.

    It is deleted after 7 days.
    """

    class Status(models.TextChoices):
        MAKING = "making"
        READY = "ready"
        FAILED = "failed"

    id = models.CharField(primary_key=True, max_length=40, default=new_export_id, editable=False)
    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="data_export")
    requested_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    status = models.CharField(max_length=8, choices=Status, default=Status.MAKING)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    # Position where the next part of the data continues (`accounts.export.writing.Cursor`).
    cursor = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return f"{self.id} ({self.status})"


class DataExportPart(models.Model):
    """One zip file of a data export."""

    export = models.ForeignKey(DataExport, on_delete=models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    size = models.PositiveBigIntegerField(help_text="Bytes.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="data_export_part_unique")]

    def __str__(self) -> str:
        return f"{self.export_id} {self.number}"


class DataExportChunk(models.Model):
    """A chunk of a zip file.

    No process has to load the whole file into memory.
    """

    part = models.ForeignKey(DataExportPart, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["part", "number"], name="data_export_chunk_unique")]

    def __str__(self) -> str:
        return f"{self.part_id} {self.number}"
