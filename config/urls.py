"""Every address of the service."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import path, re_path, register_converter
from django.views.generic import RedirectView

from accounts.views import LoginView, admin_login
from config.api.views import UnknownPath
from config.health import healthz, readyz
from config.views import docs, landing, openapi
from reports.api import ReportExport, ReportView
from reports.views import report, screenshot
from scans.api import ScanCollection, ScanItem, ScanListing, UsageView
from webhooks.api import (
    DeliveryListing,
    DeliveryReplay,
    WebhookCollection,
    WebhookItem,
    WebhookSecret,
    WebhookTest,
)


class AnyString:
    """Whatever stands in the place of an ID, slashes and line ends too: the view says what it is not."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(AnyString, "any")

urlpatterns = [
    path("v1/scan", ScanCollection.as_view(), name="scan-collection"),
    path("v1/scan/<any:scan_id>", ScanItem.as_view(), name="scan-item"),
    path("v1/scans", ScanListing.as_view(), name="scan-listing"),
    path("v1/report/<any:scan_id>/export", ReportExport.as_view(), name="report-export"),
    path("v1/report/<any:scan_id>", ReportView.as_view(), name="report"),
    path("v1/usage", UsageView.as_view(), name="usage"),
    path("api/webhooks", WebhookCollection.as_view(), name="webhook-collection"),
    path("api/webhooks/<any:webhook_id>/test", WebhookTest.as_view(), name="webhook-test"),
    path("api/webhooks/<any:webhook_id>/rotate-secret", WebhookSecret.as_view(), name="webhook-secret"),
    path("api/webhooks/<any:webhook_id>/deliveries", DeliveryListing.as_view(), name="delivery-listing"),
    path(
        "api/webhooks/<any:webhook_id>/deliveries/<any:delivery_id>/replay",
        DeliveryReplay.as_view(),
        name="delivery-replay",
    ),
    path("api/webhooks/<any:webhook_id>", WebhookItem.as_view(), name="webhook-item"),
    re_path(r"^(?:v1|api)(?:/|\Z)", UnknownPath.as_view()),
    path("healthz", healthz),
    path("readyz", readyz),
    path("openapi.yaml", openapi, name="schema"),
    path("", landing, name="landing"),
    path("docs/", docs, name="docs"),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("report/<any:scan_id>/screenshot.webp", screenshot, name="report-screenshot"),
    path("report/<any:scan_id>", report, name="report-page"),
    path("admin/login/", admin_login),
    path("admin/", admin.site.urls),
    # What people type.
    *(path(name, RedirectView.as_view(url=f"/{name}/")) for name in ("docs", "login", "admin")),
]

handler400 = "config.api.errors.bad_request"
handler403 = "config.api.errors.permission_denied"
handler404 = "config.api.errors.page_not_found"
handler500 = "config.views.server_error"
