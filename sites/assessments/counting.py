"""Counts findings by criterion on a page."""

from __future__ import annotations

from collections.abc import Collection

from django.db import connection

from sites.models import AssessmentPage

# Counts the page's findings that are neither fixed nor disputed, for each of its results.
COUNT_FINDINGS = """
    UPDATE sites_assessmentresult AS result SET open_failures = found.failures, open_reviews = found.reviews
    FROM (
        SELECT result.id,
            count(finding.id) FILTER (WHERE finding.has_failed) AS failures,
            count(finding.id) FILTER (WHERE NOT finding.has_failed) AS reviews
        FROM sites_assessmentresult AS result
        LEFT JOIN sites_assessmentfinding AS finding ON finding.page_id = result.page_id
            AND result.criterion = ANY(finding.criteria) AND finding.fixed_at IS NULL AND finding.disputed_at IS NULL
        WHERE result.page_id = %s
        GROUP BY result.id
    ) AS found
    WHERE result.id = found.id AND (result.open_failures, result.open_reviews) != (found.failures, found.reviews)
"""
SET_PASSES = """
    UPDATE sites_assessmentresult SET has_passes = criterion = ANY(%s::text[])
    WHERE page_id = %s AND has_passes != (criterion = ANY(%s::text[]))
"""


# A check whose finding is disputed has run, so that its criteria are not "not tested automatically".
ADD_PASSES_OF_DISPUTES = """
    UPDATE sites_assessmentresult AS result SET has_passes = true
    WHERE page_id = %s AND NOT has_passes AND EXISTS (
        SELECT 1 FROM sites_assessmentfinding AS finding
        WHERE finding.page_id = result.page_id AND result.criterion = ANY(finding.criteria)
            AND finding.fixed_at IS NULL AND finding.disputed_at IS NOT NULL
    )
"""


def count_findings(page: AssessmentPage) -> None:
    """Update what the page's results say of its open and disputed findings. The caller has locked the page."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT_FINDINGS, [page.id])
        cursor.execute(ADD_PASSES_OF_DISPUTES, [page.id])


def set_passes(page: AssessmentPage, criteria: Collection[str]) -> None:
    """Store for which criteria a check ran on the page and found no failure. `count_findings` adds disputed ones."""
    with connection.cursor() as cursor:
        cursor.execute(SET_PASSES, [list(criteria), page.id, list(criteria)])
