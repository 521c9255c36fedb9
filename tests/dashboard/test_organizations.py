"""Test of the page with a person's organizations."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import Membership
from sites.models import SiteState
from tests.factories import Member, browser_of, person_of
from tests.page_reading import page_of
from tests.populated_monitors import make_monitor


def test_page_counts_unreachable_monitors(home: Member, stranger: Member) -> None:
    now = timezone.now()
    monitors = [make_monitor(member) for member in (home, home, home, stranger)]
    for monitor in monitors[1:]:
        monitor.failing_since = now
    monitors[2].paused_at = now
    for monitor in monitors:
        monitor.save()
    person = person_of(home, "viewer", "viewer@people.test")
    client = browser_of(person)
    link = "//main//td[@data-label='Monitors']/a"
    (unreachable,) = page_of(client.get("/organizations/")).xpath(link)
    assert unreachable.text == "1 unreachable"
    assert unreachable.get("href") == "/o/home/monitors/?state=failing"
    Membership.objects.create(user=person, organization=stranger.organization, role="viewer")
    assert len(page_of(client.get("/organizations/")).xpath(link)) == 2


def test_page_counts_sites_with_urgent_problems(home: Member, stranger: Member) -> None:
    now = timezone.now()
    for member, host, critical, high in (
        (home, "a.example", 1, 2),
        (home, "b.example", 0, 1),
        (home, "c.example", 0, 0),
        (stranger, "d.example", 1, 0),
    ):
        SiteState.objects.create(
            organization=member.organization,
            host=host,
            url=f"https://{host}/",
            scanned_at=now,
            urgency=0,
            critical=critical,
            high=high,
        )
    client = browser_of(person_of(home, "viewer", "viewer@people.test"))
    (cell,) = page_of(client.get("/organizations/")).xpath("//main//td[@data-label='Sites']")
    assert " ".join(cell.text_content().split()) == "1 critical 1 high of 3 sites"
    links = [link.get("href") for link in cell.xpath("a")]
    assert links == ["/o/home/sites/?state=critical", "/o/home/sites/?state=high"]
    for link in links:
        assert client.get(link).status_code == 200
