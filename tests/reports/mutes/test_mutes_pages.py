"""Pages of mutes: mute a finding, both scores, end a mute; permissions of roles and strangers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ActivityEvent, Membership
from reports.models import Mute, Report
from reports.mutes import services, views
from scans.models import Scan
from tests.factories import Member
from tests.page_reading import strings
from tests.reports.mutes.cast import CHECKS, URL, reported
from tests.reports.people import page_of, person, text_of
from tests.responses import ClientResponse
from website_scan.fingerprints import fingerprints

COOKIES = fingerprints("cookie-secure", CHECKS[1].places.kept, URL)
REASON = "A copy for <auditors>."


def mutes_of(member: Member) -> str:
    return f"/o/{member.organization.slug}/mutes/"


def until(days: int = 30) -> str:
    return f"{timezone.now() + timedelta(days=days):%Y-%m-%d}"


def mute(client: Client, member: Member, scan: Scan, check: str = "exposed-git", **changes: str) -> ClientResponse:
    values = {"what": "all", "path_prefix": "", "reason": REASON, "until": until()}
    return client.post(f"{mutes_of(member)}new?scan={scan.id}&check={check}", values | changes)


def apart(response: ClientResponse) -> list[str]:
    """Return the titles of the findings in the section "Muted"."""
    return strings(page_of(response), '//section[@aria-labelledby="muted"]//h4/text()')


def solid(response: ClientResponse) -> str:
    """Return the page's text without spaces, because addresses may break anywhere."""
    return text_of(response).replace(" ", "")


def in_categories(response: ClientResponse) -> list[str]:
    return strings(
        page_of(response), '//section[starts-with(@aria-labelledby, "category")]//li[@class="check is-fail"]//h4/text()'
    )


def test_a_muted_finding_stands_apart_with_both_scores(home: Member) -> None:
    scan, member = reported(home), person(home.organization)
    plain = member.get(f"/report/{scan.id}")
    assert apart(plain) == []
    (way,) = page_of(plain).xpath('//li[@id="check-exposed-git"]//a[@class="mute"]/@href')
    assert member.get(way).status_code == 200
    answer = mute(member, home, scan)
    assert (answer.status_code, answer["Location"]) == (302, f"/report/{scan.id}#muted")
    shown = member.get(f"/report/{scan.id}")
    assert apart(shown) == ["Git repository is public"]
    assert in_categories(shown) == ["Cookies without Secure"]
    said = text_of(shown)
    assert f"Score {scan.score} , and 70 (C) without muted findings ." in said
    assert "1 of these muted" in said
    by = Membership.objects.get(organization=home.organization).user.email
    end = timezone.now() + timedelta(days=31)
    told = f"until {end:%Y-%m-%d} 00:00 UTC by {by}, on all of example.com"
    assert told.replace(" ", "") in solid(shown)
    assert REASON in said
    event = ActivityEvent.objects.get(action="mute.created")
    assert (event.actor_email, event.object_name) == (by, "exposed-git on example.com")


def test_readers_of_a_shared_report_see_that_it_is_muted_but_not_by_whom_and_why(
    home: Member, stranger: Member
) -> None:
    scan, member = reported(home), person(home.organization)
    mute(member, home, scan)
    # A mute of another organization must not apply.
    own = person(stranger.organization)
    mute(own, stranger, reported(stranger), "cookie-secure")
    Report.objects.filter(scan=scan).update(shared_at=timezone.now())
    for reader in (Client(), own):
        shown = reader.get(f"/report/{scan.id}")
        assert apart(shown) == ["Git repository is public"]
        assert in_categories(shown) == ["Cookies without Secure"]
        said = text_of(shown)
        assert "70 (C) without muted findings" in said
        for secret in (REASON, "@people.test, on", "until 20", home.organization.name):
            assert secret not in said
        assert "Mute…" not in said
        sarif = reader.get(f"/report/{scan.id}/export/sarif").json()
        found = {each["ruleId"]: each["suppressions"] for each in sarif["runs"][0]["results"]}
        assert found["exposed-git"] == [{"kind": "external", "status": "accepted"}]
        assert found["cookie-secure"] == []


def test_viewers_look_and_members_mute(home: Member) -> None:
    scan, viewer, member = reported(home), person(home.organization, "viewer"), person(home.organization)
    mute(member, home, scan)
    assert "Stop muting" not in text_of(viewer.get(mutes_of(home)))
    assert "Mute…" not in text_of(viewer.get(f"/report/{scan.id}"))
    assert REASON in text_of(viewer.get(f"/report/{scan.id}"))


def test_two_tabs_in_two_organizations_do_not_meet(home: Member, stranger: Member) -> None:
    scan, member = reported(home), person(home.organization)
    Membership.objects.create(
        organization=stranger.organization, user=Membership.objects.get(organization=home.organization).user
    )
    assert mute(member, stranger, scan).status_code == 404
    mute(member, home, scan)
    (row,) = Mute.objects.all()
    member.post(f"{mutes_of(stranger)}{row.id}/end")
    row.refresh_from_db()
    assert row.ended_at is None


def test_the_list_says_what_why_and_until_when_and_ends_it(home: Member) -> None:
    scan, member = reported(home), person(home.organization)
    assert "Nothing is muted" in text_of(member.get(mutes_of(home)))
    mute(member, home, scan, until=until(5), path_prefix="/shop")
    said = solid(member.get(mutes_of(home)))
    for each in ("Git repository is not public", "below example.com/shop", REASON, "Ends soon"):
        assert each.replace(" ", "") in said
    (row,) = Mute.objects.all()
    assert member.post(f"{mutes_of(home)}{row.id}/end")["Location"] == mutes_of(home)
    assert apart(member.get(f"/report/{scan.id}")) == []
    # A second click, or a click after the back button.
    again = member.post(f"{mutes_of(home)}{row.id}/end", {"scan": scan.id}, follow=True)
    assert "This finding was no longer muted." in text_of(again)


def test_paging_shows_every_mute_once_there_and_back(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "SHOWN", 2)
    end = timezone.now() + timedelta(days=30)
    for number, days in enumerate((3, 1, 1, 2, 0)):
        values = {"check_id": "hsts", "host": f"h{number}.example.com", "reason": REASON}
        Mute.objects.create(organization=home.organization, expires_at=end + timedelta(days=days), **values)
    expected = [mute.host for mute in services.in_force(home.organization.id, timezone.now())]
    member = person(home.organization)

    def walk(path: str, rel: str) -> tuple[list[list[str]], str]:
        """Follow the links to the end; return the hosts on each page, and the last path."""
        pages = []
        while True:
            page = page_of(member.get(path))
            pages.append([host for host in expected if host in page.text_content()])
            links = page.xpath(f"//nav[@class='pager']/a[@rel='{rel}']/@href")
            if not links:
                return pages, path
            path = f"{mutes_of(home)}{links[0]}"

    there, last = walk(mutes_of(home), "next")
    assert there == [expected[:2], expected[2:4], expected[4:]]
    back, _ = walk(last, "prev")
    assert back[::-1] == there


def test_single_places_are_chosen_by_their_names(home: Member) -> None:
    scan, member = reported(home), person(home.organization)
    form = page_of(member.get(f"{mutes_of(home)}new?scan={scan.id}&check=cookie-secure"))
    one, other = COOKIES
    assert form.xpath('//input[@name="what"]/@value') == ["all", "outcome", "named", one, other]
    mute(member, home, scan, "cookie-secure", what=one)
    shown = member.get(f"/report/{scan.id}")
    assert "Cookies without Secure" in in_categories(shown)
    assert "Muted: 1 place" in text_of(shown)
    mute(member, home, scan, "cookie-secure", what="named")
    assert apart(member.get(f"/report/{scan.id}")) == ["Cookies without Secure"]
    assert sorted(Mute.objects.values_list("fingerprint", flat=True)) == sorted(COOKIES)
    assert set(Mute.objects.values_list("place", flat=True)) == set(COOKIES.values())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reason": " "}, "This field is required."),
        ({"until": "2020-01-01"}, "Choose a day from"),
        ({"until": "2120-01-01"}, "Choose a day from"),
        ({"until": "soon"}, "Enter a valid date."),
        ({"path_prefix": "shop"}, "path_prefix must begin with /"),
        ({"what": "0123456789abcdef"}, "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(home: Member, changes: dict[str, str], problem: str) -> None:
    scan, member = reported(home), person(home.organization)
    answer = mute(member, home, scan, "cookie-secure", **changes)
    assert answer.status_code == 200
    assert problem in text_of(answer)
    assert not Mute.objects.exists()


def test_a_limit_that_is_met_half_way_mutes_nothing(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_ACTIVE", 1)
    scan, member = reported(home), person(home.organization)
    answer = mute(member, home, scan, "cookie-secure", what="named")
    assert "which is the maximum" in text_of(answer)
    assert not Mute.objects.exists()


def test_the_form_says_that_all_mutes_are_in_use_before_it_is_filled(
    home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan, member = reported(home), person(home.organization)
    form = f"{mutes_of(home)}new?scan={scan.id}&check=hsts"
    assert "mutes are in use" not in text_of(member.get(form))
    monkeypatch.setattr(services, "MAX_ACTIVE", 0)
    shown = member.get(form)
    assert "All 0 mutes are in use." in text_of(shown)
    assert page_of(shown).xpath("//p[@class='callout']/a/@href") == [mutes_of(home)]


@pytest.mark.parametrize(
    "query", ["", "?scan=x&check=hsts", "?scan={id}&check=csp-present", "?scan={id}&check=nothing"]
)
def test_there_is_nothing_to_mute_where_nothing_was_found(home: Member, query: str) -> None:
    scan, member = reported(home), person(home.organization)
    assert member.get(f"{mutes_of(home)}new{query.format(id=scan.id)}").status_code == 404


def test_the_comparison_lists_it_apart(home: Member) -> None:
    before, after = reported(home, checks=CHECKS[3:]), reported(home)
    member = person(home.organization)
    mute(member, home, after)
    page = page_of(member.get(f"/report/{after.id}/diff?with={before.id}"))
    groups = {
        each.xpath("string(summary/h3/text())").strip(): each.xpath(".//li/a/text()")
        for each in page.xpath('//details[starts-with(@class, "changed")]')
    }
    assert groups["Muted"] == ["Git repository is public"]
    assert "Git repository is public" not in groups["New"]


def test_a_report_from_before_mutes_says_that_its_score_without_is_not_known(home: Member) -> None:
    scan, member = reported(home), person(home.organization)
    Report.objects.update(scoring=None)
    mute(member, home, scan)
    shown = member.get(f"/report/{scan.id}")
    assert apart(shown) == ["Git repository is public"]
    assert "its score without them is not known" in text_of(shown)


def test_one_outcome_is_chosen_by_the_title_of_the_finding(home: Member) -> None:
    checks = tuple(replace(each, outcome="short", title="HSTS lasts only 5 minutes") for each in CHECKS[2:3])
    scan, member = reported(home, checks=checks), person(home.organization)
    form = page_of(member.get(f"{mutes_of(home)}new?scan={scan.id}&check=hsts"))
    assert form.xpath('//input[@name="what"]/@value') == ["all", "outcome"]
    assert "Only “HSTS lasts only 5 minutes”" in form.text_content()
    mute(member, home, scan, "hsts", what="outcome")
    assert Mute.objects.get().outcome == "short"
    assert apart(member.get(f"/report/{scan.id}")) == ["HSTS lasts only 5 minutes"]
    assert "onallofexample.com,onlyshort" in solid(member.get(mutes_of(home)))


def test_a_check_with_one_outcome_offers_no_choice_of_it(home: Member) -> None:
    scan, member = reported(home), person(home.organization)
    form = page_of(member.get(f"{mutes_of(home)}new?scan={scan.id}&check=exposed-git"))
    assert form.xpath('//input[@name="what"]/@value') == ["all"]
