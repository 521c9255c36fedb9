from typing import Any

from django.apps import AppConfig, apps


class ServiceConfig(AppConfig):
    """Wiring of frameworks: the Celery app of this process, and which static files are collected."""

    name = "config"

    def ready(self) -> None:
        from config.celery import app  # reads the settings

        app.set_default()
        # No page loads these files of packages, and to compress them would cost every first start seconds.
        static: Any = apps.get_app_config("staticfiles")
        static.ignore_patterns = [*static.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]
