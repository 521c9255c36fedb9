"""Tests for caching the parts of a report page."""

from __future__ import annotations

from datetime import timedelta
from unittest import mock

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import Mute, Report
from reports.page import history, visible_report
from tests.factories import Member, finished_scan
from tests.reports.people import page_of, person, text_of


@pytest.fixture(autouse=True)
def _shared_report(home: Member) -> None:
    finished_scan(home)
    Report.objects.update(shared_at=timezone.now())


def path() -> str:
    return f"/report/{Report.objects.order_by('-scan__created_at')[0].scan_id}"


def another_scan(home: Member) -> None:
    """Create another finished scan of the same page."""
    finished_scan(home)


def test_cached_report_is_not_computed_again(home: Member) -> None:
    member = person(home.organization)
    another_scan(home)
    first = member.get(path())
    with (
        mock.patch.object(visible_report, "report_page", side_effect=AssertionError),
        mock.patch.object(history, "diff", side_effect=AssertionError),
    ):
        again = member.get(path())
    texts = [page_of(response).xpath("//main")[0].text_content() for response in (first, again)]
    assert texts[0] == texts[1]


def test_strangers_do_not_get_cached_member_parts(home: Member) -> None:
    member, viewer = person(home.organization), person(home.organization, "viewer")
    for _ in range(2):
        assert page_of(member.get(path())).xpath("//a[@class='mute']")
        assert not page_of(viewer.get(path())).xpath("//a[@class='mute']")
        assert not page_of(Client().get(path())).xpath("//a[@class='mute']")


def test_mutes_change_cached_reports(home: Member) -> None:
    member = person(home.organization)
    assert "We accept it" not in text_of(member.get(path()))
    ends = timezone.now() + timedelta(days=9)
    mute = Mute.objects.create(
        organization=home.organization, check_id="bad", host="example.com", reason="We accept it.", expires_at=ends
    )
    assert "We accept it." in text_of(member.get(path()))
    assert "We accept it." not in text_of(Client().get(path()))
    Mute.objects.filter(id=mute.id).update(reason="For other reasons.")
    assert "For other reasons." in text_of(member.get(path()))
    Mute.objects.filter(id=mute.id).update(ended_at=timezone.now())
    assert "For other reasons." not in text_of(member.get(path()))


def test_mute_updates_the_cached_diff(home: Member) -> None:
    another_scan(home)
    member = person(home.organization)
    assert "Still there" in changes(member)
    ends = timezone.now() + timedelta(days=9)
    for check in ("bad", "meh"):
        Mute.objects.create(
            organization=home.organization, check_id=check, host="example.com", reason="Fine.", expires_at=ends
        )
    assert ("Muted" in changes(member), "Still there" in changes(member)) == (True, False)


def changes(member: Client) -> str:
    text: str = page_of(member.get(path())).xpath("string(//div[@class='changes'])")
    return text


def test_every_filter_has_its_own_cache(home: Member) -> None:
    member = person(home.organization)

    def hidden(query: str) -> int:
        return len(page_of(member.get(f"{path()}{query}")).xpath("//li[starts-with(@class, 'check')][@hidden]"))

    assert [hidden(query) for query in ("", "?show=failed", "", "?q=nowhere")] == [0, 2, 0, 3]


def test_unshared_report_is_unavailable_at_once(home: Member) -> None:
    assert Client().get(path()).status_code == 200
    Report.objects.update(shared_at=None)
    assert Client().get(path()).status_code == 302
