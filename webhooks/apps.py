from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Records an event when a scan ends."""

    name = "webhooks"

    def ready(self) -> None:
        from scans.signals import scan_ended
        from webhooks import events  # models can't be imported before all apps are there

        scan_ended.connect(events.record_scan_ends, dispatch_uid="webhooks.events")
