"""Tests for dashboard pages that create, list and end mutes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from msgspec.structs import replace

from accounts.models import ActivityEvent, Membership
from reports.models import Mute, Report
from reports.mutes import services, views
from scans.models import Scan
from tests.factories import Member
from tests.page_reading import strings
from tests.reports.mutes.cast import CHECKS, URL, finished_scan_with
from tests.reports.people import page_of, person, text_of
from tests.responses import ClientResponse
from website_scan.fingerprints import fingerprints

COOKIES = fingerprints("cookie-secure", CHECKS[1].places.kept, URL)
REASON = "A copy for <auditors>."


def mutes_path(member: Member) -> str:
    return f"/o/{member.organization.slug}/mutes/"


def until(days: int = 30) -> str:
    return f"{timezone.now() + timedelta(days=days):%Y-%m-%d}"


def mute(client: Client, member: Member, scan: Scan, check: str = "exposed-git", **changes: str) -> ClientResponse:
    values = {"what": "all", "path_prefix": "", "reason": REASON, "until": until()}
    return client.post(f"{mutes_path(member)}new?scan={scan.id}&check={check}", values | changes)


def muted_titles(response: ClientResponse) -> list[str]:
    """Return the titles of the findings in the section "Muted"."""
    return strings(page_of(response), '//section[@aria-labelledby="muted"]//h4/text()')


def text_without_spaces(response: ClientResponse) -> str:
    """Return the page's text without spaces.

    URLs may contain zero-width spaces.
    """
    return text_of(response).replace(" ", "")


def failed_titles(response: ClientResponse) -> list[str]:
    """Return the titles of failed checks that are not muted."""
    return strings(
        page_of(response), '//section[starts-with(@aria-labelledby, "category")]//li[@class="check is-fail"]//h4/text()'
    )


def test_muted_finding_is_listed_separately(home: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    unmuted_page = member.get(f"/report/{scan.id}")
    assert muted_titles(unmuted_page) == []
    (mute_link,) = page_of(unmuted_page).xpath('//li[@id="check-exposed-git"]//a[@class="mute"]/@href')
    assert member.get(mute_link).status_code == 200
    response = mute(member, home, scan)
    assert (response.status_code, response["Location"]) == (302, f"/report/{scan.id}#muted")
    muted_page = member.get(f"/report/{scan.id}")
    assert muted_titles(muted_page) == ["Git repository is public"]
    assert failed_titles(muted_page) == ["Cookies without Secure"]
    text = text_of(muted_page)
    assert f"Score {scan.score} , and 70 (C) without muted findings ." in text
    assert "1 of these muted" in text
    by = Membership.objects.get(organization=home.organization).user.email
    end = timezone.now() + timedelta(days=31)
    scope_text = f"until {end:%Y-%m-%d} 00:00 UTC by {by}, on all of example.com"
    assert scope_text.replace(" ", "") in text_without_spaces(muted_page)
    assert REASON in text
    event = ActivityEvent.objects.get(action="mute.created")
    assert (event.actor_email, event.object_name) == (by, "exposed-git on example.com")


def test_shared_report_hides_who_muted_a_finding(home: Member, stranger: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    mute(member, home, scan)
    # This mute of another organization must not apply.
    stranger_client = person(stranger.organization)
    mute(stranger_client, stranger, finished_scan_with(stranger), "cookie-secure")
    Report.objects.filter(scan=scan).update(shared_at=timezone.now())
    for reader in (Client(), stranger_client):
        page = reader.get(f"/report/{scan.id}")
        assert muted_titles(page) == ["Git repository is public"]
        assert failed_titles(page) == ["Cookies without Secure"]
        text = text_of(page)
        assert "70 (C) without muted findings" in text
        for secret in (REASON, "@people.test, on", "until 20", home.organization.name):
            assert secret not in text
        assert "Mute…" not in text
        sarif = reader.get(f"/report/{scan.id}/export/sarif").json()
        suppressions = {result["ruleId"]: result["suppressions"] for result in sarif["runs"][0]["results"]}
        assert suppressions["exposed-git"] == [{"kind": "external", "status": "accepted"}]
        assert suppressions["cookie-secure"] == []


def test_only_members_may_change_mutes(home: Member) -> None:
    scan, viewer, member = finished_scan_with(home), person(home.organization, "viewer"), person(home.organization)
    mute(member, home, scan)
    assert "Stop muting" not in text_of(viewer.get(mutes_path(home)))
    assert "Mute…" not in text_of(viewer.get(f"/report/{scan.id}"))
    assert REASON in text_of(viewer.get(f"/report/{scan.id}"))


def test_mute_pages_refuse_foreign_objects(home: Member, stranger: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    Membership.objects.create(
        organization=stranger.organization, user=Membership.objects.get(organization=home.organization).user
    )
    assert mute(member, stranger, scan).status_code == 404
    mute(member, home, scan)
    (row,) = Mute.objects.all()
    member.post(f"{mutes_path(stranger)}{row.id}/end")
    row.refresh_from_db()
    assert row.ended_at is None


def test_mute_list_can_end_a_mute(home: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    assert "Nothing is muted" in text_of(member.get(mutes_path(home)))
    mute(member, home, scan, until=until(5), path_prefix="/shop")
    text = text_without_spaces(member.get(mutes_path(home)))
    for expected in ("Git repository is not public", "below example.com/shop", REASON, "Ends soon"):
        assert expected.replace(" ", "") in text
    (row,) = Mute.objects.all()
    assert member.post(f"{mutes_path(home)}{row.id}/end")["Location"] == mutes_path(home)
    assert muted_titles(member.get(f"/report/{scan.id}")) == []
    # A second click or the back button may submit the form twice.
    again = member.post(f"{mutes_path(home)}{row.id}/end", {"scan": scan.id}, follow=True)
    assert "This finding was no longer muted." in text_of(again)


def test_pagination_lists_each_mute_once(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "PAGE_SIZE", 2)
    end = timezone.now() + timedelta(days=30)
    for number, days in enumerate((3, 1, 1, 2, 0)):
        values = {"check_id": "hsts", "host": f"h{number}.example.com", "reason": REASON}
        Mute.objects.create(organization=home.organization, expires_at=end + timedelta(days=days), **values)
    expected = [mute.host for mute in services.list_mutes_in_force(home.organization.id, timezone.now())]
    member = person(home.organization)

    def walk(path: str, rel: str) -> tuple[list[list[str]], str]:
        """Follow the `rel` links.

        Returns the hosts on each page and the path of the last page.
        """
        pages = []
        while True:
            page = page_of(member.get(path))
            pages.append([host for host in expected if host in page.text_content()])
            links = page.xpath(f"//nav[@class='pager']/a[@rel='{rel}']/@href")
            if not links:
                return pages, path
            path = f"{mutes_path(home)}{links[0]}"

    forwards, last_path = walk(mutes_path(home), "next")
    assert forwards == [expected[:2], expected[2:4], expected[4:]]
    backwards, _ = walk(last_path, "prev")
    assert backwards[::-1] == forwards


def test_single_places_can_be_muted(home: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    form = page_of(member.get(f"{mutes_path(home)}new?scan={scan.id}&check=cookie-secure"))
    first, second = COOKIES
    assert form.xpath('//input[@name="what"]/@value') == ["all", "outcome", "named", first, second]
    mute(member, home, scan, "cookie-secure", what=first)
    page = member.get(f"/report/{scan.id}")
    assert "Cookies without Secure" in failed_titles(page)
    assert "Muted: 1 place" in text_of(page)
    mute(member, home, scan, "cookie-secure", what="named")
    assert muted_titles(member.get(f"/report/{scan.id}")) == ["Cookies without Secure"]
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
def test_invalid_form_field_shows_its_error(home: Member, changes: dict[str, str], problem: str) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    response = mute(member, home, scan, "cookie-secure", **changes)
    assert response.status_code == 200
    assert problem in text_of(response)
    assert not Mute.objects.exists()


def test_no_mute_is_created_beyond_the_limit(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_ACTIVE_MUTES", 1)
    scan, member = finished_scan_with(home), person(home.organization)
    response = mute(member, home, scan, "cookie-secure", what="named")
    assert "which is the maximum" in text_of(response)
    assert not Mute.objects.exists()


def test_form_warns_of_a_reached_mute_limit(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    form = f"{mutes_path(home)}new?scan={scan.id}&check=hsts"
    assert "mutes are in use" not in text_of(member.get(form))
    monkeypatch.setattr(services, "MAX_ACTIVE_MUTES", 0)
    page = member.get(form)
    assert "All 0 mutes are in use." in text_of(page)
    assert page_of(page).xpath("//p[@class='callout']/a/@href") == [mutes_path(home)]


@pytest.mark.parametrize(
    "query", ["", "?scan=x&check=hsts", "?scan={id}&check=csp-present", "?scan={id}&check=nothing"]
)
def test_only_findings_can_be_muted(home: Member, query: str) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    assert member.get(f"{mutes_path(home)}new{query.format(id=scan.id)}").status_code == 404


def test_comparison_lists_muted_findings_separately(home: Member) -> None:
    before, after = finished_scan_with(home, checks=CHECKS[3:]), finished_scan_with(home)
    member = person(home.organization)
    mute(member, home, after)
    page = page_of(member.get(f"/report/{after.id}/diff?with={before.id}"))
    groups = {
        group.xpath("string(summary/h3/text())").strip(): group.xpath(".//li/a/text()")
        for group in page.xpath('//details[starts-with(@class, "changed")]')
    }
    assert groups["Muted"] == ["Git repository is public"]
    assert "Git repository is public" not in groups["New"]


def test_page_explains_an_unknown_score(home: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    Report.objects.update(scoring=None)
    mute(member, home, scan)
    page = member.get(f"/report/{scan.id}")
    assert muted_titles(page) == ["Git repository is public"]
    assert "its score without them is not known" in text_of(page)


def test_form_describes_the_outcome(home: Member) -> None:
    checks = tuple(replace(check, outcome="short", title="HSTS lasts only 5 minutes") for check in CHECKS[2:3])
    scan, member = finished_scan_with(home, checks=checks), person(home.organization)
    form = page_of(member.get(f"{mutes_path(home)}new?scan={scan.id}&check=hsts"))
    assert form.xpath('//input[@name="what"]/@value') == ["all", "outcome"]
    assert "Only “HSTS lasts only 5 minutes”" in form.text_content()
    mute(member, home, scan, "hsts", what="outcome")
    assert Mute.objects.get().outcome == "short"
    assert muted_titles(member.get(f"/report/{scan.id}")) == ["HSTS lasts only 5 minutes"]
    assert "onallofexample.com,onlyshort" in text_without_spaces(member.get(mutes_path(home)))


def test_check_with_one_outcome_is_muted_as_a_whole(home: Member) -> None:
    scan, member = finished_scan_with(home), person(home.organization)
    form = page_of(member.get(f"{mutes_path(home)}new?scan={scan.id}&check=exposed-git"))
    assert form.xpath('//input[@name="what"]/@value') == ["all"]
