from typing import Any

from django.apps import AppConfig, apps
from django.contrib.admin.apps import SimpleAdminConfig


class ServiceConfig(AppConfig):
    """Django app configuration that sets the process's Celery app and the ignored static files."""

    name = "config"
    default = True

    def ready(self) -> None:
        from config.celery import app  # Importing the Celery app reads the settings.

        app.set_default()
        # No page uses the files of these packages, and compressing them would slow down the first start by seconds.
        static: Any = apps.get_app_config("staticfiles")
        static.ignore_patterns = [*static.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]


class AdminConfig(SimpleAdminConfig):
    """Admin app configuration, with the service's own AdminSite.

    `config.urls` calls `autodiscover`.
    """

    default_site = "accounts.tenant_admin.Site"
