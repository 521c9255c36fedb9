"""What is connected when the service starts."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_delete


class ScansConfig(AppConfig):
    """Connects scans to the end of organizations, and audits to the end of scans."""

    name = "scans"

    def ready(self) -> None:
        from accounts.closing.services import organization_closed  # models can't be imported before all apps are there
        from accounts.models import Organization
        from scans import closing
        from scans.signals import scan_ended
        from scans.visits import settling

        organization_closed.connect(closing.stop_scans, sender=Organization, dispatch_uid="scans.closing.stop")
        scan_ended.connect(settling.settle_page, dispatch_uid="scans.settling")
        post_delete.connect(closing.forget_counts, sender=Organization, dispatch_uid="scans.closing.counts")
