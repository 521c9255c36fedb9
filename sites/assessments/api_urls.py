"""URLs of the API of assessments, below `v1/assessments`."""

from __future__ import annotations

from django.urls import URLPattern, path

import infrastructure.api.paths  # noqa: F401  # registers the converter `any`
from sites.assessments.api import (
    AssessmentCollection,
    AssessmentEvents,
    AssessmentItem,
    AssessmentRefresh,
    AssessmentReportView,
)
from sites.assessments.sample_api import (
    Criteria,
    FindingDispute,
    Findings,
    PageResult,
    RemainingResults,
    Results,
    SamplePage,
    SamplePages,
)

assessment_api_urls: list[URLPattern] = [
    path("", AssessmentCollection.as_view(), name="assessment-collection"),
    path(
        "/<any:assessment_id>/pages/<any:number>/results/<any:criterion>",
        PageResult.as_view(),
        name="assessment-page-result",
    ),
    path("/<any:assessment_id>/pages/<any:number>", SamplePage.as_view(), name="assessment-page-item"),
    path("/<any:assessment_id>/pages", SamplePages.as_view(), name="assessment-pages"),
    path(
        "/<any:assessment_id>/criteria/<any:criterion>",
        RemainingResults.as_view(),
        name="assessment-criterion-results",
    ),
    path("/<any:assessment_id>/criteria", Criteria.as_view(), name="assessment-criteria"),
    path("/<any:assessment_id>/results", Results.as_view(), name="assessment-results"),
    path(
        "/<any:assessment_id>/findings/<any:finding_id>/dispute",
        FindingDispute.as_view(),
        name="assessment-finding-dispute",
    ),
    path("/<any:assessment_id>/findings", Findings.as_view(), name="assessment-findings"),
    path("/<any:assessment_id>/refresh", AssessmentRefresh.as_view(), name="assessment-refreshes"),
    path("/<any:assessment_id>/report", AssessmentReportView.as_view(), name="assessment-document"),
    path("/<any:assessment_id>/log", AssessmentEvents.as_view(), name="assessment-events"),
    path("/<any:assessment_id>", AssessmentItem.as_view(), name="assessment-item"),
]
