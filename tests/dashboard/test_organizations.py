"""Test of the page with a person's organizations."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import Membership
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
    link = "//main//td[@data-label='Monitored sites']/a"
    (unreachable,) = page_of(client.get("/organizations/")).xpath(link)
    assert unreachable.text == "1 unreachable"
    assert unreachable.get("href") == "/o/home/monitors/?state=failing"
    Membership.objects.create(user=person, organization=stranger.organization, role="viewer")
    assert len(page_of(client.get("/organizations/")).xpath(link)) == 2
