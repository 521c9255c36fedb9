from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """App configuration; connects the recording of events to the end of scans."""

    name = "webhooks"

    def ready(self) -> None:
        from scans.signals import scan_ended
        from webhooks import events  # models can't be imported before all apps are loaded

        scan_ended.connect(events.record_scan_ends, dispatch_uid="webhooks.events")
