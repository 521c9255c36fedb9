"""The service's URL configuration."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import RedirectView

import infrastructure.api.paths  # noqa: F401  # registers the converter `any`
from accounts.pages import branding, closing, exporting, organization, person, providers, security, unsubscribing
from accounts.pages import keys as key_pages
from accounts.pages.email import EmailConfirmView, EmailView
from accounts.pages.login import (
    LoginView,
    LogoutView,
    PasswordResetConfirmView,
    admin_login,
    password_reset,
    password_reset_sent,
    signup,
    signup_finish,
    signup_sent,
)
from accounts.pages.quiet_hours import quiet_hours
from dashboard import organizations
from dashboard import views as dashboard
from documentation import views as documentation
from documentation.landing import (
    about_our_scans,
    brand_card,
    favicon,
    landing,
    licence,
    manifest,
    openapi,
    robots,
    security_txt,
    sitemap,
)
from infrastructure.api.views import UnknownPath
from operations.health.views import operations_page
from reports.api import EXPORT_VIEWS as REPORT_EXPORT_VIEWS
from reports.api import ReportDiff, ReportExport, ReportMutes, ReportView, UnknownReportExport
from reports.conformance_api import ReportConformance
from reports.mutes import views as mute_views
from reports.mutes.api import MuteCollection, MuteItem
from reports.sample_views import frozen, sample, sample_card, sample_picture, samples
from reports.views import (
    card,
    compare,
    conformance,
    developer_text,
    export,
    film_frame,
    page_picture,
    progress,
    report,
    screenshot,
    share,
)
from scans.api import ScanCollection, ScanItem, ScanListing, UsageView
from scans.policy import ABOUT_SCANS_PATH
from sites.assessments.api_urls import assessment_api_urls
from sites.assessments.pages.urls import assessment_report_urls, assessment_urls
from sites.audits.api import EXPORT_VIEWS as AUDIT_EXPORT_VIEWS
from sites.audits.api import AuditCollection, AuditExport, AuditFindings, AuditItem, AuditPages, UnknownAuditExport
from sites.audits.conformance import AuditConformance
from sites.audits.pages import views as audit_pages
from sites.audits.step_api import AuditStepPicture, AuditSteps
from sites.badges.api import BadgeCollection, BadgeItem
from sites.badges.views import badge, badge_card, badge_link, page_badge
from sites.journeys.api_urls import journey_api_urls
from sites.journeys.pages.urls import journey_urls
from sites.lists.api import EntryItem, ListCollection, ListEntries, ListItem
from sites.lists.conformance_api import ListConformanceView
from sites.lists.pages import entry_views as entry_pages
from sites.lists.pages import import_views as import_pages
from sites.lists.pages import snapshot_views as snapshot_pages
from sites.lists.pages import target_views as target_pages
from sites.lists.pages import views as list_pages
from sites.lists.run_api import EXPORT_VIEWS as SNAPSHOT_EXPORT_VIEWS
from sites.lists.run_api import (
    Adoption,
    EntryScan,
    ListRunItem,
    ListRuns,
    ShareCollection,
    ShareItem,
    Snapshot,
    SnapshotDiff,
    UnknownSnapshotExport,
)
from sites.lists.views import shared_badge, shared_card, shared_list, shared_list_password
from sites.maintenance import views as maintenance_pages
from sites.maintenance.api import WindowCollection, WindowItem
from sites.monitors.api import MonitorCollection, MonitorItem, MonitorRunItem, MonitorRuns
from sites.monitors.pages import views as monitor_pages
from webhooks import setup_views as webhook_setup_views
from webhooks import views as webhook_views
from webhooks.api import (
    DeliveryListing,
    DeliveryReplay,
    WebhookCollection,
    WebhookItem,
    WebhookSecret,
    WebhookTest,
)

# Called here, because the admin's AppConfig would import the code of all pages into commands and the scheduler.
admin.autodiscover()

# These URLs contain the organization, so that changing the organization in one browser tab does not affect others.
organization_urls: list[URLPattern | URLResolver] = [
    path("", dashboard.overview, name="overview"),
    path("selected-sites", dashboard.selected_sites, name="selected-sites"),
    path("selected-monitors", monitor_pages.selected_monitors, name="selected-monitors"),
    path("recent", dashboard.recent, name="recent"),
    path("scans/", dashboard.scans, name="scans"),
    path("scans/new", dashboard.scan_new, name="scan-new"),
    path("scans/<str:scan_id>/again", dashboard.scan_again, name="scan-again"),
    path("scans/<str:scan_id>/cancel", dashboard.scan_cancel, name="scan-cancel"),
    path("audits/<str:audit_id>/again", dashboard.audit_again, name="audit-again"),
    path("audits/<str:audit_id>/cancel", dashboard.audit_cancel, name="audit-cancel"),
    path("sites/", dashboard.sites, name="sites"),
    path("sites/<str:host>", dashboard.site, name="site"),
    path("sites/<str:host>/badge", page_badge, name="page-badge"),
    path("monitors/", monitor_pages.monitors, name="monitors"),
    path("monitors/new", monitor_pages.monitor_new, name="monitor-new"),
    path("monitors/<str:monitor_id>", monitor_pages.monitor, name="monitor"),
    path("maintenance/", maintenance_pages.maintenance, name="maintenance"),
    path("maintenance/new", maintenance_pages.maintenance_new, name="maintenance-new"),
    path("maintenance/<str:window_id>", maintenance_pages.maintenance_edit, name="maintenance-edit"),
    path("maintenance/<str:window_id>/delete", maintenance_pages.maintenance_delete, name="maintenance-delete"),
    path("monitors/<str:monitor_id>/live", monitor_pages.monitor_live, name="monitor-live"),
    path("monitors/<str:monitor_id>/edit", monitor_pages.monitor_edit, name="monitor-edit"),
    path("monitors/<str:monitor_id>/pause", monitor_pages.monitor_pause, name="monitor-pause"),
    path("monitors/<str:monitor_id>/run", monitor_pages.monitor_run, name="monitor-run"),
    path("monitors/<str:monitor_id>/delete", monitor_pages.monitor_delete, name="monitor-delete"),
    path("monitors/<str:monitor_id>/badge", monitor_pages.monitor_badge, name="monitor-badge"),
    path("journeys/", include(journey_urls)),
    path("lists/", list_pages.lists, name="lists"),
    path("lists/new", list_pages.list_new, name="list-new"),
    path("lists/<str:list_id>", list_pages.site_list, name="list"),
    path("lists/<str:list_id>/live", list_pages.list_live, name="list-live"),
    path("lists/<str:list_id>/edit", list_pages.list_edit, name="list-edit"),
    path("lists/<str:list_id>/delete", list_pages.list_delete, name="list-delete"),
    path("lists/<str:list_id>/import", import_pages.list_import, name="list-import"),
    path("lists/<str:list_id>/entries", list_pages.list_entries, name="list-entries"),
    path("lists/<str:list_id>/entries/<str:entry_id>", entry_pages.list_entry, name="list-entry"),
    path("lists/<str:list_id>/run", list_pages.list_run, name="list-run"),
    path("lists/<str:list_id>/snapshot", snapshot_pages.list_snapshot, name="list-snapshot"),
    path("lists/<str:list_id>/adoption", snapshot_pages.list_adoption, name="list-adoption"),
    path("lists/<str:list_id>/conformance", snapshot_pages.list_conformance, name="list-conformance"),
    path("lists/<str:list_id>/targets", target_pages.list_targets, name="list-targets"),
    path("lists/<str:list_id>/sharing", snapshot_pages.list_sharing, name="list-sharing"),
    path("lists/<str:list_id>/sharing/new", snapshot_pages.list_share, name="list-share-new"),
    path("lists/<str:list_id>/sharing/<str:share_id>/revoke", snapshot_pages.list_unshare, name="list-share-revoke"),
    path("lists/<str:list_id>/runs", snapshot_pages.list_runs_page, name="list-runs"),
    path("lists/<str:list_id>/runs/<str:run_id>", snapshot_pages.list_snapshot, name="list-run-snapshot"),
    path("lists/<str:list_id>/runs/<str:run_id>/cancel", list_pages.list_cancel, name="list-cancel"),
    path("lists/<str:list_id>/runs/<str:run_id>/sites", snapshot_pages.list_sites, name="list-sites"),
    path("lists/<str:list_id>/runs/<str:run_id>/compare", snapshot_pages.list_compare, name="list-compare"),
    path(
        "lists/<str:list_id>/runs/<str:run_id>/export/<str:export_format>",
        snapshot_pages.list_export,
        name="list-export",
    ),
    path("assessments/", include(assessment_urls)),
    path("webhooks/", webhook_views.webhooks, name="webhooks"),
    path("webhooks/new/<str:webhook_format>", webhook_setup_views.webhook_new, name="webhook-new"),
    path("webhooks/<str:webhook_id>", webhook_views.webhook, name="webhook"),
    path("webhooks/<str:webhook_id>/secret", webhook_setup_views.webhook_secret, name="webhook-new-secret"),
    path("webhooks/<str:webhook_id>/ready", webhook_setup_views.webhook_ready, name="webhook-ready"),
    path("webhooks/<str:webhook_id>/edit", webhook_views.webhook_edit, name="webhook-edit"),
    path("webhooks/<str:webhook_id>/enable", webhook_views.webhook_enable, name="webhook-enable"),
    path("webhooks/<str:webhook_id>/disable", webhook_views.webhook_disable, name="webhook-disable"),
    path("webhooks/<str:webhook_id>/delete", webhook_views.webhook_delete, name="webhook-delete"),
    path("webhooks/<str:webhook_id>/rotate", webhook_views.webhook_rotate, name="webhook-rotate"),
    path("webhooks/<str:webhook_id>/test", webhook_views.webhook_test, name="webhook-send-test"),
    path("webhooks/<str:webhook_id>/recover", webhook_views.webhook_recover, name="webhook-recover"),
    path(
        "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/replay",
        webhook_views.delivery_replay,
        name="delivery-send-again",
    ),
    path("mutes/", mute_views.mutes, name="mutes"),
    path("mutes/new", mute_views.mute_new, name="mute-new"),
    path("mutes/<str:mute_id>/end", mute_views.mute_end, name="mute-end"),
    path("members/", organization.members, name="members"),
    path("members/<int:membership_id>/role", organization.member_role, name="member-role"),
    path("members/<int:membership_id>/sites", organization.member_limits, name="member-limits"),
    path("members/<int:membership_id>/remove", organization.member_remove, name="member-remove"),
    path("invitations/<str:invitation_id>/revoke", organization.invitation_revoke, name="invitation-revoke"),
    path("keys/", key_pages.keys, name="keys"),
    path("keys/<str:key_id>/rename", key_pages.key_rename, name="key-rename"),
    path("keys/<str:key_id>/regenerate", key_pages.key_regenerate, name="key-regenerate"),
    path("keys/<str:key_id>/former/<int:former_id>/end", key_pages.former_key_end, name="former-key-end"),
    path("keys/<str:key_id>/revoke", key_pages.key_revoke, name="key-revoke"),
    path("settings/", organization.organization_settings, name="organization-settings"),
    path("settings/branding", branding.organization_branding, name="organization-branding"),
    path("settings/login", organization.organization_login, name="organization-login"),
    path("settings/weekly-digest", organization.weekly_digest, name="weekly-digest"),
    path("settings/export", exporting.organization_export, name="organization-export"),
    path("settings/export/<int:number>", exporting.export_download, name="export-download"),
    path("settings/delete", closing.organization_delete, name="organization-delete"),
    path("activity/", organization.activity_log, name="activity"),
    path("activity/export/<str:export_format>", organization.activity_export, name="activity-export"),
]

urlpatterns = [
    path("v1/scan", ScanCollection.as_view(), name="scan-collection"),
    path("v1/scan/<any:scan_id>", ScanItem.as_view(), name="scan-item"),
    path("v1/scans", ScanListing.as_view(), name="scan-listing"),
    *(
        path(f"v1/report/<any:scan_id>/export/{ending}", view.as_view(), name=f"report-{ending}")
        for ending, view in REPORT_EXPORT_VIEWS.items()
    ),
    path("v1/report/<any:scan_id>/export/<str:ending>", UnknownReportExport.as_view(), name="report-unknown-export"),
    path("v1/report/<any:scan_id>/export", ReportExport.as_view(), name="report-export"),
    path("v1/report/<any:scan_id>/mutes", ReportMutes.as_view(), name="report-mutes"),
    path("v1/report/<any:scan_id>/conformance", ReportConformance.as_view(), name="report-conformance"),
    path("v1/report/<any:scan_id>/diff", ReportDiff.as_view(), name="report-diff"),
    path("v1/report/<any:scan_id>", ReportView.as_view(), name="report"),
    path("v1/audits", AuditCollection.as_view(), name="audit-collection"),
    path("v1/audits/<any:audit_id>/pages", AuditPages.as_view(), name="audit-pages"),
    path("v1/audits/<any:audit_id>/steps", AuditSteps.as_view(), name="audit-steps"),
    path("v1/audits/<any:audit_id>/steps/<any:number>/picture", AuditStepPicture.as_view(), name="audit-step"),
    path("v1/audits/<any:audit_id>/conformance", AuditConformance.as_view(), name="audit-conformance"),
    path("v1/audits/<any:audit_id>/findings", AuditFindings.as_view(), name="audit-findings"),
    *(
        path(f"v1/audits/<any:audit_id>/export/{ending}", view.as_view(), name=f"audit-{ending}")
        for ending, view in AUDIT_EXPORT_VIEWS.items()
    ),
    path("v1/audits/<any:audit_id>/export/<str:ending>", UnknownAuditExport.as_view(), name="audit-unknown-export"),
    path("v1/audits/<any:audit_id>/export", AuditExport.as_view(), name="audit-export"),
    path("v1/audits/<any:audit_id>", AuditItem.as_view(), name="audit-item"),
    path("v1/assessments", include(assessment_api_urls)),
    path("v1/journeys", include(journey_api_urls)),
    path("v1/mutes", MuteCollection.as_view(), name="mute-collection"),
    path("v1/mutes/<any:mute_id>", MuteItem.as_view(), name="mute-item"),
    path("v1/monitors", MonitorCollection.as_view(), name="monitor-collection"),
    path("v1/monitors/<any:monitor_id>/runs/<any:run_id>", MonitorRunItem.as_view(), name="monitor-run-item"),
    path("v1/monitors/<any:monitor_id>/runs", MonitorRuns.as_view(), name="monitor-runs"),
    path("v1/monitors/<any:monitor_id>", MonitorItem.as_view(), name="monitor-item"),
    path("v1/lists", ListCollection.as_view(), name="list-collection"),
    path("v1/lists/<any:list_id>/entries/<any:entry_id>/scan", EntryScan.as_view(), name="list-entry-scan"),
    path("v1/lists/<any:list_id>/entries/<any:entry_id>", EntryItem.as_view(), name="list-entry-item"),
    path("v1/lists/<any:list_id>/entries", ListEntries.as_view(), name="list-entries"),
    path("v1/lists/<any:list_id>/runs/<any:run_id>", ListRunItem.as_view(), name="list-run-item"),
    path("v1/lists/<any:list_id>/runs", ListRuns.as_view(), name="list-runs"),
    *(
        path(f"v1/lists/<any:list_id>/snapshots/<any:snapshot_id>/export/{end}", view.as_view(), name=f"snapshot-{end}")
        for end, view in SNAPSHOT_EXPORT_VIEWS.items()
    ),
    path(
        "v1/lists/<any:list_id>/snapshots/<any:snapshot_id>/export/<str:ending>",
        UnknownSnapshotExport.as_view(),
        name="snapshot-unknown-export",
    ),
    path("v1/lists/<any:list_id>/snapshots/<any:snapshot_id>/diff", SnapshotDiff.as_view(), name="snapshot-diff"),
    path("v1/lists/<any:list_id>/snapshots/<any:snapshot_id>", Snapshot.as_view(), name="snapshot"),
    path("v1/lists/<any:list_id>/adoption", Adoption.as_view(), name="list-adoption"),
    path("v1/lists/<any:list_id>/conformance", ListConformanceView.as_view(), name="list-conformance"),
    path("v1/lists/<any:list_id>/shares/<any:share_id>", ShareItem.as_view(), name="list-share-item"),
    path("v1/lists/<any:list_id>/shares", ShareCollection.as_view(), name="list-shares"),
    path("v1/lists/<any:list_id>", ListItem.as_view(), name="list-item"),
    path("v1/maintenance", WindowCollection.as_view(), name="maintenance-collection"),
    path("v1/maintenance/<any:window_id>", WindowItem.as_view(), name="maintenance-item"),
    path("v1/badges", BadgeCollection.as_view(), name="badge-collection"),
    path("v1/badges/<any:badge_id>", BadgeItem.as_view(), name="badge-item"),
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
    path("card/<str:digest>.png", brand_card, name="brand-card"),
    path("openapi.yaml", openapi, name="schema"),
    path("", landing, name="landing"),
    path("scan", dashboard.scan_start, name="scan-start"),
    path(ABOUT_SCANS_PATH.removeprefix("/"), about_our_scans, name="about-our-scans"),
    path("robots.txt", robots),
    path("favicon.ico", favicon),
    path("site.webmanifest", manifest, name="manifest"),
    path("licence", licence, name="licence"),
    path(".well-known/security.txt", security_txt),
    path("sitemap.xml", sitemap),
    path("docs/", documentation.overview, name="docs"),
    path("docs/search-index.js", documentation.search_script, name="docs-search"),
    path("docs/checks", RedirectView.as_view(url="/docs/checks/")),
    path("docs/checks/", documentation.check_list, name="docs-checks"),
    path("docs/checks/<str:check_id>", documentation.check_page, name="docs-check"),
    path("docs/api/<slug:group>", documentation.group_page, name="docs-group"),
    path("docs/<slug:guide>", documentation.guide_page, name="docs-guide"),
    path("login/", LoginView.as_view(), name="account_login"),
    path("login/code/", security.SecondFactorView.as_view(), name="mfa_authenticate"),
    path("login/passkey/", security.PasskeyLoginView.as_view(), name="mfa_login_webauthn"),
    path("login/with/<slug:provider_id>/", providers.provider_login, name="openid_connect_login"),
    path("login/with/<slug:provider_id>/callback/", providers.provider_callback, name="openid_connect_callback"),
    path("logout/", LogoutView.as_view(), name="account_logout"),
    path("signup/", signup, name="account_signup"),
    path("signup/sent/", signup_sent, name="signup-sent"),
    path("signup/<str:token>/", signup_finish, name="signup-finish"),
    path("password/", password_reset, name="password-reset"),
    path("password/sent/", password_reset_sent, name="password-reset-sent"),
    path("password/<uidb64>/<token>/", PasswordResetConfirmView.as_view(), name="password-reset-confirm"),
    path("invite/<str:token>", person.invite, name="invite"),
    path("unsubscribe/<str:token>/again", unsubscribing.subscribe_again, name="subscribe-again"),
    path("unsubscribe/<str:token>", unsubscribing.unsubscribe, name="unsubscribe"),
    path("logo/<str:logo_id>", branding.logo, name="logo"),
    path("account/", person.account, name="account"),
    path("account/quiet-hours/", quiet_hours, name="quiet-hours"),
    path("account/time-zone", person.account_time_zone, name="account-time-zone"),
    path("account/email/", EmailView.as_view(), name="account_email"),
    path("account/email/<str:key>/", EmailConfirmView.as_view(), name="account_confirm_email"),
    path("account/again/", security.PasswordReauthenticationView.as_view(), name="account_reauthenticate"),
    path("account/again/code/", security.CodeReauthenticationView.as_view(), name="mfa_reauthenticate"),
    path("account/again/passkey/", security.PasskeyReauthenticationView.as_view(), name="mfa_reauthenticate_webauthn"),
    path("account/again/provider/", providers.provider_again, name="account_again"),
    path("account/security/", security.index, name="mfa_index"),
    path("account/security/app/", security.AppAddView.as_view(), name="mfa_activate_totp"),
    path("account/security/app/remove/", security.AppRemoveView.as_view(), name="mfa_deactivate_totp"),
    path("account/security/passkeys/add/", security.PasskeyAddView.as_view(), name="mfa_add_webauthn"),
    path("account/security/passkeys/<int:pk>/", security.PasskeyEditView.as_view(), name="mfa_edit_webauthn"),
    path(
        "account/security/passkeys/<int:pk>/remove/", security.PasskeyRemoveView.as_view(), name="mfa_remove_webauthn"
    ),
    path("account/security/codes/", security.CodesView.as_view(), name="mfa_view_recovery_codes"),
    path("account/security/codes/new/", security.CodesNewView.as_view(), name="mfa_generate_recovery_codes"),
    path("account/security/codes/download/", security.CodesDownloadView.as_view(), name="mfa_download_recovery_codes"),
    path("account/delete", closing.account_delete, name="account-delete"),
    path("account/sessions/", person.sessions_end, name="sessions-end"),
    path("account/sessions/<str:session_id>/end", person.session_end, name="session-end"),
    path("dashboard/", person.start, name="dashboard"),
    path("organizations/", organizations.organizations, name="organizations"),
    path("organizations/new", person.organization_new, name="organization-new"),
    path("organizations/switch", person.organization_switch, name="organization-switch"),
    path("organizations/<int:organization_id>/leave", person.organization_leave, name="organization-leave"),
    path("o/<slug:organization>/", include(organization_urls)),
    path("samples/", samples, name="samples"),
    path("samples/<slug:slug>", frozen, name="frozen-sample"),
    path("report/sample/<str:name>", sample, name="sample"),
    path("report/sample/<str:name>/card/<str:digest>.png", sample_card),
    path("report/sample/<str:name>/<path:path>", sample_picture),
    path("report/<any:scan_id>/screenshot", screenshot, name="report-screenshot"),
    path("report/<any:scan_id>/page.webp", page_picture, name="report-page-picture"),
    path("report/<any:scan_id>/film/<int:number>.jpg", film_frame, name="report-film-frame"),
    path("report/<any:scan_id>/card/<str:digest>.png", card, name="report-card"),
    path("report/<any:scan_id>/export/<str:export_format>", export, name="report-page-export"),
    path("report/<any:scan_id>/for-developer.txt", developer_text, name="report-developer-text"),
    path("report/<any:scan_id>/diff", compare, name="report-compare"),
    path("report/<any:scan_id>/conformance", conformance, name="report-conformance-page"),
    path("report/<any:scan_id>/progress", progress, name="report-progress"),
    path("report/<any:scan_id>/share", share, name="report-share"),
    path("report/<any:scan_id>", report, name="report-page"),
    path("audit/<any:audit_id>/progress", audit_pages.progress, name="audit-progress"),
    path("audit/<any:audit_id>/steps/<int:number>/picture", audit_pages.step_picture, name="audit-step-picture"),
    path("audit/<any:audit_id>/card/<str:digest>.png", audit_pages.card, name="audit-card"),
    path("audit/<any:audit_id>/export/<str:export_format>", audit_pages.export, name="audit-page-export"),
    path("audit/<any:audit_id>/for-developer.txt", audit_pages.developer_text, name="audit-developer-text"),
    path("audit/<any:audit_id>/conformance", audit_pages.conformance, name="audit-conformance-page"),
    path("audit/<any:audit_id>/share", audit_pages.share, name="audit-share"),
    path("audit/<any:audit_id>", audit_pages.audit, name="audit-page"),
    path("assessment/", include(assessment_report_urls)),
    path("badge/<str:badge_id>.svg", badge, name="badge"),
    path("badge/<str:badge_id>.png", badge_card, name="badge-card"),
    path("badge/<str:badge_id>", badge_link, name="badge-link"),
    path("list/<str:share_id>.svg", shared_badge, name="list-share-badge"),
    path("list/<str:share_id>/card/<str:digest>.png", shared_card, name="list-share-card"),
    path("list/<str:share_id>", shared_list, name="list-share"),
    path("list/<str:share_id>/password", shared_list_password, name="list-share-password"),
    # These views replace the admin's own pages, which neither limit password guesses nor end other sessions.
    path("admin/login/", admin_login),
    path("admin/logout/", LogoutView.as_view()),
    path("admin/password_change/", RedirectView.as_view(pattern_name="account")),
    path("admin/operations/", admin.site.admin_view(operations_page), name="operations"),
    path("admin/", admin.site.urls),
    # People type these addresses without the final slash.
    *(path(name, RedirectView.as_view(url=f"/{name}/")) for name in ("docs", "login", "signup", "dashboard", "admin")),
]

handler400 = "infrastructure.api.errors.bad_request"
handler403 = "infrastructure.api.errors.permission_denied"
handler404 = "infrastructure.api.errors.page_not_found"
handler500 = "documentation.landing.server_error"
