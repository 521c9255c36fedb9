"""Tests for the view models of an audit's findings."""

from __future__ import annotations

import pytest

from sites.audits.muting import NONE, MutedOn
from sites.audits.pages.findings import Finding, Place


def finding(pages: int, judged: int, places: int) -> Finding:
    """Return a finding with a number of distinct places, of which the page lists one."""
    return Finding(
        type="SEO",
        title="No image text",
        severity="high",
        status="fail",
        message="4 images have no alternative text.",
        fix={"text": "", "snippets": []},
        pages=pages,
        critical_pages=0,
        judged=judged,
        points=0.0,
        later=0.0,
        holds=False,
        places=(Place("<img>", pages, False),),
        places_total=places,
        samples=(),
        muted_on=MutedOn(NONE),
        check_id="image-alt",
        consequence="",
        anchor="",
        scan_id="",
        noun="page",
        reported_under=None,
        repeated_under=(),
    )


@pytest.mark.parametrize(
    ("pages", "judged", "places", "spread"),
    [
        (1, 1, 1, "On the only page"),
        (3, 3, 1, "Fix once, 3 pages better"),
        (3, 10, 3, "On 3 of 10 pages, 3 different places"),
    ],
)
def test_spread_counts_different_places(pages: int, judged: int, places: int, spread: str) -> None:
    assert finding(pages, judged, places).spread == spread
