"""Tests for the overview: what needs attention, what got better, and what is coming."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from dashboard.attention import limit_sentences, problems, quota_end
from sites.models import Monitor, SiteFinding, SiteState
from tests.factories import Member
from tests.page_reading import browser_of, page_of, text_of
from tests.populated_monitors import finding, make_monitor, news
from tests.processor_time import least_cpu_s, slowness
from tests.queries import counted
from tests.sites.lists.cast import make_list

SITES = 1_000


def create_sites(member: Member, number: int) -> None:
    """Create sites with monitors: every fifth has a critical finding, every third a fixed one."""
    now = timezone.now()
    common = {"type": "security", "outcome": "x", "expires_at": now + timedelta(days=9), "fingerprints": ["x"]}
    hosts = [f"h{n:04}.example.com" for n in range(number)]
    SiteState.objects.bulk_create(
        SiteState(organization=member.organization, host=host, url=f"https://{host}/", scanned_at=now, urgency=70)
        for host in hosts
    )
    SiteFinding.objects.bulk_create(
        SiteFinding(
            organization=member.organization,
            host=host,
            url=f"https://{host}/",
            check_id=f"check-{n % 5}-{n % 3}",
            severity="high" if n % 5 else "critical",
            title=f"Problem {n % 5}",
            scan_id=f"scan_{n}",
            since=now - timedelta(days=1),
            fixed_at=None if n % 3 else now,
            **common,
        )
        for n, host in enumerate(hosts)
    )
    Monitor.objects.bulk_create(
        Monitor(organization=member.organization, name=host, kind="page", pages=[f"https://{host}/"], types=["seo"],
                max_pages=1, every="day", alert={})
        for host in hosts
    )  # fmt: skip


def test_overview_begins_with_urgent_problems(home: Member) -> None:
    """Regression test (U7): the overview began with a form, and mixed fixed and new findings."""
    create_sites(home, 10)
    text = text_of(browser_of(home).get("/o/home/"))
    begin = text.index("Needs attention")
    assert begin < text.index("Critical Problem 0") < text.index("High Problem 1")
    assert text.index("High Problem 1") < text.index("Fixed this week") < text.index("This month")
    assert "h0005.example.com" in text
    assert "Monitors that notify nobody" in text
    form = page_of(browser_of(home).get("/o/home/")).xpath("//form[@id='new-scan']")[0]
    assert len(form.xpath(".//input[not(@type='hidden')]")) == 1


def test_overview_lists_outages_failed_runs_and_forced_pauses(home: Member) -> None:
    now = timezone.now()
    host = "bakery.example.com"
    SiteState.objects.create(
        organization=home.organization, host=host, url=f"https://{host}/", scanned_at=now, urgency=1,
        failing_since=now - timedelta(hours=2), error_message="Nothing answers on port 443.",
    )  # fmt: skip
    make_monitor(home, name="Shop", pages=["https://shop.example.com/"], failing_since=now - timedelta(hours=1))
    make_monitor(
        home, name="Held", pages=["https://held.example.com/"], paused_at=now - timedelta(hours=3), pause_reason="quota"
    )
    broken = make_monitor(home, name="Broken", pages=["https://broken.example.com/"])
    error = {"error_code": "INTERNAL_ERROR", "error_message": "The scan stopped."}
    broken.runs.create(due_at=now - timedelta(minutes=5), not_before=now, ended_at=now, status="failed", **error)
    site_list = make_list(home, name="Schools")
    site_list.runs.create(
        types=["seo"], pages_per_entry=1, window_hours=1, entries=1, status="failed",
        started_at=now - timedelta(minutes=10), **error,
    )  # fmt: skip
    worse = make_monitor(home, name="Slower", pages=["https://slower.example.com/"])
    changes = news(worse=[finding("Slow")])
    worse.runs.create(due_at=now - timedelta(minutes=20), not_before=now, status="done", ended_at=now, news=changes)
    (section,) = page_of(browser_of(home).get("/o/home/")).xpath("//section[@aria-labelledby='attention-title']")
    rows = [" ".join(row.text_content().split()) for row in section.xpath(".//li | h3")]
    assert rows[:10] == [
        "Unreachable",
        "Down Shop since 60 minutes ago",
        f"Down {host} since 2 hours ago Nothing answers on port 443.",
        "Runs that failed",
        "Failed Broken 5 minutes ago The scan stopped.",
        "Failed Schools 10 minutes ago The scan stopped.",
        "Paused",
        "Paused Held since 3 hours ago This month\N{RIGHT SINGLE QUOTATION MARK}s scans are used up.",
        "Worse than in the run before",
        "Slower 1 worse 20 minutes ago",
    ]


def test_overview_of_monitored_sites_does_not_say_that_reports_are_missing(home: Member) -> None:
    """Regression test: above the problems of 40 monitored sites, the overview said that there were no reports."""
    assert "has no reports yet" in text_of(browser_of(home).get("/o/home/"))
    create_sites(home, 1)
    assert "has no reports yet" not in text_of(browser_of(home).get("/o/home/"))


@pytest.mark.parametrize(("number", "has_more"), [(5, False), (6, True)])
def test_overview_says_that_more_monitors_changed(home: Member, number: int, has_more: bool) -> None:
    """Regression test: of 19 changed sites, the overview showed five and did not mention the others."""
    now = timezone.now()
    for n in range(number):
        monitor = make_monitor(home, name=f"shop {n}")
        changes = news(new=[finding("Environment file is public")])
        monitor.runs.create(due_at=now, not_before=now, status="done", ended_at=now, news=changes)
    page = page_of(browser_of(home).get("/o/home/"))
    rows = [row.text_content() for row in page.xpath("//li[@class='one-line-news']")]
    assert len(rows) == 5
    assert ("/o/home/monitors/?sort=-scanned" in page.xpath("//p[@class='hint']/a/@href")) is has_more


@pytest.mark.parametrize("number", [1, 40, SITES])
def test_overview_is_fast_for_any_number_of_sites(home: Member, number: int) -> None:
    create_sites(home, number)
    client = browser_of(home, "viewer")
    client.get("/o/home/")
    with counted() as queries:
        client.get("/o/home/")
    assert len(queries) <= 20
    assert least_cpu_s(lambda: client.get("/o/home/"), times=7) <= 0.02 * slowness()


def test_problems_of_other_organizations_are_not_shown(home: Member, stranger: Member) -> None:
    create_sites(stranger, 5)
    assert problems([home.organization.id], timezone.now()).open == ()
    assert len(problems([home.organization.id, stranger.organization.id], timezone.now()).open) > 0


def test_overview_announces_what_ends_soon(home: Member) -> None:
    soon = timezone.now() + timedelta(days=5)
    make_monitor(home, certificate_expires_at=soon, certificate_host="bakery.example.com")
    text = text_of(browser_of(home).get("/o/home/"))
    assert "Certificate bakery.example.com expires in 5 days" in text
    assert "1 of 1 monitor in your plan is used." in text


def test_quota_end_follows_the_rate_of_the_month() -> None:
    start, end = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    assert quota_end(50, 100, start, end, start + timedelta(days=10)) == start + timedelta(days=20)
    assert quota_end(20, 100, start, end, start + timedelta(days=10)) is None
    assert quota_end(50, 100, start, end, start + timedelta(days=1)) is None
    assert quota_end(100, 100, start, end, start + timedelta(days=9)) is None
    assert quota_end(1, 100_000_000, start, end, start + timedelta(days=29)) is None


def test_limit_is_announced_from_nine_tenths() -> None:
    assert limit_sentences({"monitor": (9, 10), "list": (8, 10)}) == ["9 of 10 monitors in your plan are used."]
