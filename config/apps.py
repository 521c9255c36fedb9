from typing import Any

from django.apps import AppConfig, apps
from django.contrib.admin.apps import SimpleAdminConfig


class ServiceConfig(AppConfig):
    """App configuration: sets the Celery app of this process, and the static files to leave out."""

    name = "config"
    default = True

    def ready(self) -> None:
        from config.celery import app  # reads the settings

        app.set_default()
        # No page loads these files of packages, and compressing them would slow down every first start by seconds.
        static: Any = apps.get_app_config("staticfiles")
        static.ignore_patterns = [*static.ignore_patterns, "ht*x-4*", "redoc", "rest_framework"]


class AdminConfig(SimpleAdminConfig):
    """App configuration of the admin with our site. `config.urls` calls its autodiscover."""

    default_site = "accounts.tenant_admin.Site"
