from typing import Any

from django.apps import AppConfig, apps


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  registering is what the import is for
        from config.celery import app

        app.set_default()
        # No page loads these files of packages, and to compress them would cost every first start seconds.
        static: Any = apps.get_app_config("staticfiles")
        static.ignore_patterns = [*static.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]
