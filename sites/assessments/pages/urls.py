"""URLs of assessments: pages below `assessments/` of an organization, and reports below `assessment/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from sites.assessments.pages import report_views, result_views, sample_views, views

assessment_urls: list[URLPattern] = [
    path("", views.assessments, name="assessments"),
    path("new", views.assessment_new, name="assessment-new"),
    path("<str:assessment_id>", views.assessment, name="assessment"),
    path("<str:assessment_id>/texts", views.assessment_texts, name="assessment-texts"),
    path("<str:assessment_id>/log", views.assessment_log, name="assessment-log"),
    path("<str:assessment_id>/status", views.assessment_status, name="assessment-status"),
    path("<str:assessment_id>/share", views.assessment_share, name="assessment-share"),
    path("<str:assessment_id>/refresh", views.assessment_refresh, name="assessment-refresh"),
    path("<str:assessment_id>/delete", views.assessment_delete, name="assessment-delete"),
    path(
        "<str:assessment_id>/criteria/<str:criterion>",
        result_views.assessment_criterion,
        name="assessment-criterion",
    ),
    path(
        "<str:assessment_id>/criteria/<str:criterion>/remaining",
        result_views.assessment_remaining,
        name="assessment-remaining",
    ),
    path(
        "<str:assessment_id>/findings/<int:finding_id>/dispute",
        result_views.assessment_dispute,
        name="assessment-dispute",
    ),
    path(
        "<str:assessment_id>/findings/<int:finding_id>/withdraw",
        result_views.assessment_withdraw,
        name="assessment-withdraw",
    ),
    path("<str:assessment_id>/pages", sample_views.assessment_sample, name="assessment-sample"),
    path(
        "<str:assessment_id>/pages/<int:page_number>",
        result_views.assessment_page,
        name="assessment-page",
    ),
    path(
        "<str:assessment_id>/pages/<int:page_number>/rename",
        sample_views.assessment_page_rename,
        name="assessment-page-rename",
    ),
    path(
        "<str:assessment_id>/pages/<int:page_number>/remove",
        sample_views.assessment_page_remove,
        name="assessment-page-remove",
    ),
    path(
        "<str:assessment_id>/pages/<int:page_number>/results/<str:criterion>",
        result_views.assessment_result,
        name="assessment-result",
    ),
]

assessment_report_urls: list[URLPattern] = [
    path("<str:assessment_id>", report_views.assessment_report, name="assessment-report"),
    path("<str:assessment_id>/statement", report_views.assessment_statement, name="assessment-statement"),
    path(
        "<str:assessment_id>/export/<str:export_format>",
        report_views.assessment_export,
        name="assessment-page-export",
    ),
]
