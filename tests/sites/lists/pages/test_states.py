"""Tests for the texts about the cost of list runs."""

from __future__ import annotations

import pytest

from accounts.models import Tier
from accounts.usage import Quota
from sites.lists.pages.states import Cost
from tests.factories import Member
from tests.page_reading import browser_of, text_of
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, snapshot


@pytest.mark.parametrize(
    ("sites", "pages", "types", "interval", "expected"),
    [
        (5_000, 1, 4, "", ""),
        (10_000, 1, 2, "month", ""),
        (
            *(10_000, 1, 4, ""),
            "A run uses up to 40,000 scans, but your plan has 20,000 a month. "
            "What fits: 5,000 sites, or all sites with 2 types.",
        ),
        (
            *(2_000, 1, 4, "week"),
            "Up to 5 runs in a month use up to 40,000 scans, but your plan has 20,000 a month. "
            "What fits: 1,000 sites, or all sites with 2 types, or all sites once a month.",
        ),
        (
            *(1_000, 10, 4, "quarter"),
            "A run uses up to 40,000 scans, but your plan has 20,000 a month. "
            "What fits: 500 sites, or all sites with 2 types, or all sites with 5 pages of each.",
        ),
        (
            *(30_000, 1_000, 4, ""),
            "A run uses up to 120,000,000 scans, but your plan has 20,000 a month. What fits: 5 sites.",
        ),
        (
            *(1, 10_000, 4, ""),
            "A run uses up to 40,000 scans, but your plan has 20,000 a month. "
            "What fits: all sites with 2 types, or all sites with 5,000 pages of each.",
        ),
    ],
)
def test_cost_text_explains_the_plan(sites: int, pages: int, types: int, interval: str, expected: str) -> None:
    assert Cost(sites, pages, types, interval, Quota(0, 0, 20_000, "business")).plan_text == expected


def test_pages_warn_of_a_run_beyond_the_plan(home: Member) -> None:
    Tier.objects.update(scans_per_month=8, list_entries=100, lists=9)
    browser = browser_of(home)
    site_list = make_list(home)
    path = f"/o/{home.organization.slug}/lists/{site_list.id}"
    lines = "\n".join(f"{number}.example.com" for number in range(5))
    expected = "A run uses up to 10 scans, but your plan has 8 a month. What fits: 4 sites, or all sites with 1 type."
    assert f"With these sites: {expected}" in text_of(browser.post(f"{path}/import", {"sites": lines}))
    snapshot(site_list, [SnapshotSite(f"https://{number}.example.com/") for number in range(5)])
    for page in (path, f"{path}/edit"):
        assert expected in text_of(browser.get(page))
    assert "Your plan has 8 scans a month, which are enough for 2 sites" in text_of(
        browser.get(f"/o/{home.organization.slug}/lists/new")
    )
