"""Models for imports of large lists, which are sent in parts."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone

from sites.models.site_list import SiteList


class ListImport(models.Model):
    """Import of a list in parts, which the client has named.

    A finished or forgotten import remains stored with its sites until the next night.
    """

    class State(models.TextChoices):
        OPEN = "open"
        FINISHED = "finished"
        FORGOTTEN = "forgotten"

    id = models.BigAutoField(primary_key=True)
    site_list = models.ForeignKey(SiteList, on_delete=models.CASCADE, related_name="imports", db_index=False)
    name = models.CharField(max_length=40)
    last_part_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["site_list", "name"], condition=Q(state="open"), name="list_import_open_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.site_list_id} {self.name}"


class ListImportSite(models.Model):
    """Site that a part of an import had, as the MD5 digest of its canonical URL."""

    id = models.BigAutoField(primary_key=True)
    list_import = models.ForeignKey(ListImport, on_delete=models.CASCADE, related_name="sites", db_index=False)
    digest = models.UUIDField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["list_import", "digest"], name="list_import_site_unique")]

    def __str__(self) -> str:
        return f"{self.list_import_id} {self.digest}"
