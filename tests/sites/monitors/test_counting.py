"""Elements of a kind are counted: one more is in the timeline, and in a message where alerts ask for it."""

from __future__ import annotations

import pytest

from tests.factories import Member
from tests.sites.monitors.test_outcome import watch
from tests.sites.monitors.watching import Judged, finding
from website_scan.findings import HIGH, MEDIUM, Severity
from website_scan.result import CheckResult

pytestmark = pytest.mark.django_db


def images(count: int, severity: Severity = HIGH) -> tuple[CheckResult, ...]:
    return (finding("image-alt", severity, *(f"main > img:nth-of-type({each})" for each in range(1, count + 1))),)


@pytest.mark.parametrize(("severity", "messages"), [(HIGH, 1), (MEDIUM, 0)])
def test_fourth_image_is_in_timeline_and_in_messages_of_that_alert(
    owner: Member, site: Judged, severity: Severity, messages: int
) -> None:
    home = watch(owner, site)
    site.usual = images(3, severity)
    home.look()
    assert home.look() == []
    site.usual = images(4, severity)
    assert len(home.look()) == messages
    (worse,) = home.run.news["worse"]
    assert (worse["said"], worse["pages"][0]["places"]) == ("1 new place", ["main > img:nth-of-type(4)"])
    assert home.run.is_told == bool(messages)
    assert home.look() == []
    assert home.run.news == {}


def test_pages_with_new_elements_at_a_place_form_one_group(owner: Member, site: Judged) -> None:
    home = watch(owner, site, "/", "/shop")
    site.usual = images(1)
    home.look()
    site.of = {"/": images(2), "/shop": images(4)}
    (body,) = home.look()
    (worse,) = body["data"]["worse"]
    assert (worse["pages_affected"], len(worse["fingerprints"])) == (2, 1)
