from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_delete


class ScansConfig(AppConfig):
    """Configuration of the app. It connects receivers to the closing and the deletion of an organization."""

    name = "scans"

    def ready(self) -> None:
        from accounts.closing.services import organization_closed  # models can't be imported before all apps are loaded
        from accounts.models import Organization
        from scans import closing

        organization_closed.connect(closing.stop_scans, sender=Organization, dispatch_uid="scans.closing.stop")
        post_delete.connect(closing.delete_counts, sender=Organization, dispatch_uid="scans.closing.counts")
