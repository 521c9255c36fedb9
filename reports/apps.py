from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """Stores a report when a scan ends."""

    name = "reports"

    def ready(self) -> None:
        from reports import build  # models can't be imported before all apps are there
        from scans.signals import scan_ended

        scan_ended.connect(build.store_reports, dispatch_uid="reports.build")
