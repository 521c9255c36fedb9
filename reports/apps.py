from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """Reports app configuration.

    Connects `store_reports` to the signal `scan_ended`.
    """

    name = "reports"

    def ready(self) -> None:
        from reports import build  # Models can't be imported before all apps are loaded.
        from scans.signals import scan_ended

        scan_ended.connect(build.store_reports, dispatch_uid="reports.build")
