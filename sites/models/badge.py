"""Badge with grades, a public image that other sites can embed."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils import timezone

from accounts.models import Organization
from sites.models.monitor import Monitor
from website_scan.ids import new_id


def new_badge_id() -> str:
    return new_id("bdg")


class Badge(models.Model):
    """Badge of a monitor or a page.

    Its random ID makes the URL impossible to guess. Deleting the badge revokes the URL.
    """

    id = models.CharField(primary_key=True, max_length=40, default=new_badge_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="badges")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now)
    monitor = models.OneToOneField(Monitor, on_delete=models.CASCADE, null=True, blank=True, related_name="badge")
    page = models.CharField(
        max_length=8192, blank=True, default="", help_text="The page's URL, if the badge is not a monitor's."
    )

    class Meta:
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="badge_newest_first")]
        constraints = [
            models.CheckConstraint(condition=Q(monitor=None) ^ Q(page=""), name="badge_of_one_thing"),
            # The index uses a digest of the URL, because URLs may be longer than the maximum size of an index entry.
            models.UniqueConstraint(F("organization"), MD5("page"), condition=~Q(page=""), name="badge_of_page"),
        ]

    def __str__(self) -> str:
        return f"{self.id} of {self.monitor_id or self.page}"

    @property
    def badge_url(self) -> str:
        """Return the URL of the badge image."""
        return f"{settings.BASE_URL}/badge/{self.id}.svg"

    @property
    def link_url(self) -> str:
        """Return the URL that the badge image links to."""
        return f"{settings.BASE_URL}/badge/{self.id}"
