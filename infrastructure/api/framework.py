"""Settings for Django REST framework and drf-spectacular, imported by `config.settings`."""

from __future__ import annotations

from website_scan import __version__
from website_scan.timestamps import TIMESTAMP_FORMAT

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["infrastructure.api.throttling.OrganizationThrottle"],
    "DEFAULT_PARSER_CLASSES": ["infrastructure.api.parsing.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "infrastructure.api.schema.ScopedSchema",
    "DATETIME_FORMAT": TIMESTAMP_FORMAT,
    "EXCEPTION_HANDLER": "infrastructure.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # The export endpoint reads the query parameter `format` itself.
}
# OpenAPI tags with their descriptions, in the order in which the documentation lists them.
TAGS = {
    "Scans": "Queue a scan of one page, follow it, list what your organization has scanned.",
    "Reports": "Read a report as JSON, export it as JSON, CSV or SARIF, compare it with an earlier one.",
    "Audits": "Scan a list of pages or a whole site, in one or several types, with one request.",
    "Monitors": "Scan a page or a site on a schedule, and be notified of changes.",
    "Lists": "Judge hundreds or thousands of sites together, and see their common problems.",
    "Mutes": "Set findings aside that you have decided to live with.",
    "Badges": "Show the grade of a page on another site.",
    "Webhooks": "Be notified when a scan, an audit or a run has ended, and see the deliveries.",
    "Usage": "See how much of the month's quota is used.",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Website Scan Service",
    "DESCRIPTION": "Security, performance, accessibility and SEO scans of public web pages.",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "CONTACT": {"name": "The operator of the installation"},
    "LICENSE": {"name": "MIT", "identifier": "MIT"},
    # A relative URL, because the installation's address is unknown here. The service fills it in when serving the file.
    "SERVERS": [{"url": "/", "description": "The installation"}],
    "TAGS": [{"name": name, "description": description} for name, description in TAGS.items()],
    "WEBHOOKS": [
        "webhooks.event_schema.SCAN_COMPLETED",
        "webhooks.event_schema.SCAN_PARTIAL",
        "webhooks.event_schema.SCAN_FAILED",
        "sites.audits.event_schema.AUDIT_COMPLETED",
        "sites.audits.event_schema.AUDIT_FAILED",
        "webhooks.event_schema.AUDIT_SCAN",
        "sites.monitors.event_schema.MONITOR_CHANGED",
        "sites.monitors.event_schema.MONITOR_FAILED",
        "sites.monitors.event_schema.MONITOR_RECOVERED",
        "sites.lists.event_schema.LIST_COMPLETED",
        "sites.lists.event_schema.LIST_CHANGED",
    ],
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "",
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_SUFFIX": "",
    "POSTPROCESSING_HOOKS": [
        "infrastructure.api.schema.add_event_schemas",
        "drf_spectacular.hooks.postprocess_schema_enums",
        "infrastructure.api.schema.write_null_as_type",
        "infrastructure.api.schema.forbid_unknown_fields",
        "webhooks.event_schema.add_delivery_headers",
        "infrastructure.api.examples.add_examples",
        "infrastructure.api.references.move_to_components",
    ],
    "ENUM_NAME_OVERRIDES": {
        "ScanType": "scans.models.Scan.Type",
        "ScanStatus": "scans.models.Scan.Status",
        "ReportStatus": "website_scan.report_json.REPORT_STATUSES",
        "CheckStatus": "website_scan.report_json.CHECK_STATUSES",
        "FindingStatus": "website_scan.report_json.FINDING_STATUSES",
        "AuditStatus": "sites.models.Audit.Status",
        "AuditKind": "sites.models.Audit.Kind",
        "Severity": "website_scan.json_types.SEVERITIES",
        "Interval": "accounts.models.Interval",
        "MonitorStatus": "sites.monitors.schemas.STATUSES",
        "MonitorRunStatus": "sites.models.MonitorRun.Status",
        "ListInterval": "sites.models.site_list.ListInterval",
        "ListRunStatus": "sites.models.ListRun.Status",
        "EntryState": "sites.models.ListEntry.State",
        "PauseReason": "sites.models.Monitor.Pause",
        "AuditPageStatus": "sites.models.AuditPage.Status",
        "DeliveryStatus": "webhooks.models.Delivery.Status",
        "DisabledReason": "webhooks.models.Webhook.Reason",
        "EventKind": "webhooks.models.EventKind",
        "WebhookFormat": "webhooks.models.Webhook.Format",
        "ScanPhase": "scans.schemas.PHASES",
        "DiscoverySource": "sites.audits.requests.DISCOVER",
        "NotComparedReason": "reports.diff_json.REASONS",
        "ComparedSide": "reports.diff_json.SIDES",
        "MutedPages": "sites.audits.schemas.MUTED_PAGES",
    },
}
