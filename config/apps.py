from typing import Any

from django.apps import AppConfig, apps


class ServiceConfig(AppConfig):
    """Connects what stands in no app of its own."""

    name = "config"
    label = "service"  # `config` is the label of `config.operations`

    def ready(self) -> None:
        from config import system_checks  # noqa: F401  registering is what the import is for
        from config.celery import app

        app.set_default()
        # No page loads these files of packages, and to compress them would cost every first start seconds.
        static: Any = apps.get_app_config("staticfiles")
        static.ignore_patterns = [*static.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]
