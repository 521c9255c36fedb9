from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """App configuration for webhooks.

    Records events when the signal `scan_ended` is sent.
    """

    name = "webhooks"

    def ready(self) -> None:
        from scans.signals import scan_ended
        from webhooks import events  # Models can't be imported before all apps are loaded.

        scan_ended.connect(events.record_scan_ends, dispatch_uid="webhooks.events")
