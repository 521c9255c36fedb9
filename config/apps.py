from django.apps import AppConfig
from django.contrib.staticfiles import apps


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registering is what the import is for
        from config.celery import app

        app.set_default()


class StaticFilesConfig(apps.StaticFilesConfig):
    """Collects and compresses nothing of packages that no page loads: it costs every first start seconds."""

    ignore_patterns = [*apps.StaticFilesConfig.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]
