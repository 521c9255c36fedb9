"""Tests for the quota estimates in forms."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from accounts.models import Interval, MonthlyUsage
from accounts.usage import Quota, month_of
from sites.pages.estimates import RUNS, Cost, estimate
from sites.pages.forms import ScanForm
from tests.factories import Member
from tests.page_reading import browser_of, page_of

NEW_SCAN_PATH, NEW_MONITOR_PATH = "/o/home/scans/new", "/o/home/monitors/new"


def use_quota(home: Member, scans: int) -> None:
    MonthlyUsage.objects.create(organization=home.organization, period=month_of(timezone.now()), used=scans)


def estimate_text(client: Client, path: str, kind: str, data: dict[str, Any] | None = None) -> str:
    """Return the visible estimate text for this kind of target."""
    response = client.get(path) if data is None else client.post(path, data)
    tree = page_of(response)
    for hidden in tree.xpath("//*[@hidden]"):
        hidden.getparent().remove(hidden)
    text = re.sub(r"\s+", " ", tree.xpath(f"string(//*[@id='estimate']//*[@data-kind='{kind}'])")).strip()
    return text.replace("\N{MULTIPLICATION SIGN}", "x").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def test_scan_form_shows_the_remaining_quota(home: Member) -> None:
    use_quota(home, 40)
    client = browser_of(home, "member")
    assert (
        estimate_text(client, NEW_SCAN_PATH, "page")
        == "This uses 4 scans: 1 page x 4 types. 60 of 100 are left this month."
    )
    whole = "This uses up to 40 scans: 10 pages x 4 types. 60 of 100 are left this month."
    assert estimate_text(client, NEW_SCAN_PATH, "site") == whole


def test_estimate_uses_the_entered_values(home: Member) -> None:
    use_quota(home, 99)
    client = browser_of(home, "member")
    entered = {"scope": "site", "url": "", "type": ["seo", "security"], "max_pages": "7"}
    assert estimate_text(client, NEW_SCAN_PATH, "site", entered) == (
        "This uses up to 14 scans: 7 pages x 2 types. 1 of 100 is left this month. "
        "That may be more than are left. Once they are used up, the scan ends with the pages that it has reached."
    )
    assert estimate_text(client, NEW_SCAN_PATH, "page", entered) == (
        "This uses 2 scans: 1 page x 2 types. 1 of 100 is left this month. "
        "That is more than are left, so the scan cannot start."
    )


def test_estimate_equals_the_used_quota(home: Member, target: str) -> None:
    """Compare the form's estimate with the API's response.

    First the quota is too small, then it is enough.
    """
    for used in (97, 96):
        MonthlyUsage.objects.all().delete()
        use_quota(home, used)
        text = estimate_text(browser_of(home, "member"), NEW_SCAN_PATH, "page")
        body = {"page": target, "types": ["security", "performance", "accessibility", "seo"]}
        answer = home.api.post("/v1/audits", body)
        assert ("cannot start" in text) == (answer.json().get("code") == "QUOTA_EXCEEDED") == (used == 97)


@pytest.mark.parametrize("entered", ["", "0", "-3", "x", "²", "9" * 30, "1e3"])
def test_invalid_page_number_uses_the_default(entered: str) -> None:
    form = ScanForm(QueryDict(f"scope=site&type=seo&max_pages={entered}"), pages_per_audit=25)
    (cost,) = (cost for cost in estimate(form, Quota(0, 0, 100, "free")).costs if cost.kind == "site")
    assert cost.pages == form.default_pages == 25


def test_estimate_respects_the_page_limit() -> None:
    form = ScanForm(QueryDict("scope=site&type=seo&max_pages=1000"), pages_per_audit=25)
    assert [cost.pages for cost in estimate(form, Quota(0, 0, 100, "free")).costs] == [1, 25]


def test_monitor_form_shows_scans_per_month(home: Member) -> None:
    client = browser_of(home, "member")
    assert estimate_text(client, NEW_MONITOR_PATH, "page") == (
        "Each run uses 4 scans: 1 page x 4 types. A month of runs uses 124. "
        "Your plan has 100 scans a month; 100 are left in this one. That is more than your plan has. "
        "When the month's scans are used up, the monitor pauses until the next month."
    )
    weekly = {"scope": "pages", "pages": "a.test b.test", "type": "seo", "every": "week", "at": "x"}
    assert estimate_text(client, NEW_MONITOR_PATH, "pages", weekly) == (
        "Each run uses 2 scans: 2 pages x 1 type. A month of runs uses 10. "
        "Your plan has 100 scans a month; 100 are left in this one."
    )


def test_every_interval_has_a_monthly_count() -> None:
    assert set(RUNS) == set(Interval)
    assert Cost("page", 1, 4, RUNS[Interval.HOUR]).in_month == 4 * 24 * 31
