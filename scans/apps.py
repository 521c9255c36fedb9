from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_delete


class ScansConfig(AppConfig):
    """App configuration that connects the receivers for closed and deleted organizations."""

    name = "scans"

    def ready(self) -> None:
        # Models can't be imported before all apps are loaded.
        from accounts.closing.services import organization_closed
        from accounts.models import Organization
        from scans import closing

        organization_closed.connect(closing.stop_scans, sender=Organization, dispatch_uid="scans.closing.stop")
        post_delete.connect(closing.delete_counts, sender=Organization, dispatch_uid="scans.closing.counts")
