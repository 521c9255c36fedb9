from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """App configuration; connects the storing of reports to the end of scans."""

    name = "reports"

    def ready(self) -> None:
        from reports import build  # models can't be imported before all apps are loaded
        from scans.signals import scan_ended

        scan_ended.connect(build.store_reports, dispatch_uid="reports.build")
