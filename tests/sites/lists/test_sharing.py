"""Shared lists: the public page, its card and its badges; visible and hidden content."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts import shared_pages
from accounts.closing.services import close_organization
from accounts.models import ActivityEvent
from infrastructure.web.cards.drawing import Card, CardGrade
from sites.lists import shared_page, sharing, views
from sites.lists.snapshots import figures
from sites.models import ListRun, ListShare, SiteList
from tests.factories import Member, key_caller
from tests.page_reading import browser_of, page_of
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import CHECKS, Looked, share_of, snapshot

SVG = "{http://www.w3.org/2000/svg}"
NEVER = f"shr_{'0' * 22}"
HOSTS = ("secret-one", "secret-two", "secret-three")
URLS = tuple(f"https://{host}.example/plan?token=abc" for host in HOSTS)
NOW = timezone.now()


def filled(member: Member, **columns: Any) -> ListRun:
    sites = [
        Looked(URLS[0], {"security": 84, "seo": 97}, "pppf", ("hidden-tag",), {"seo": "A+"}),
        Looked(URLS[1], {"security": 71, "seo": 60}, "pffp", (), {}, {"moved_to": "secret-three.example"}),
        Looked(URLS[2]),
    ]
    return snapshot(make_list(member, name="Ministries of <b>X</b>"), sites, **columns)


def path_of(share: ListShare, ending: str = "") -> str:
    return f"/list/{share.id}{ending}"


def words(response: Any) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(response.content).iter(f"{SVG}text")]


def metas(response: Any) -> dict[str, str]:
    found = page_of(response).xpath("//meta")
    return {each.get("property") or each.get("name"): each.get("content") for each in found}


def test_share_shows_the_summary_to_anybody_with_the_address(home: Member) -> None:
    run = filled(home)
    shown = Client().get(path_of(share_of(run.site_list)))
    assert shown.status_code == 200
    page = page_of(shown)
    assert page.xpath("string(//h1)").split() == ["List", "of", "3", "sites", "Ministries", "of", "<b>X</b>"]
    gauges = [" ".join(each.text_content().split()) for each in page.xpath("//li[contains(@class, 'gauge')]")]
    assert gauges[0] == "C Security Grade C, mean 77.5 Median 77.5, half between 74.25 and 80.75"
    assert gauges[1].startswith("C SEO Grade C, mean 78.5")
    adoption = [each.text for each in page.xpath("//ul[@class='adoptions']/li/span")]
    assert adoption[:2] == ["100 % of 2 sites are available over HTTPS", "50 % of 2 sites redirect to HTTPS"]
    findings = [each.text for each in page.xpath("//section[@aria-labelledby='holds']//tbody//th/a")]
    assert findings == ["No HSTS header", "No redirect from HTTP to HTTPS", "Page has no title"]
    assert "1 site could not be judged." in page.xpath("string(//p[@class='callout'])")
    assert shown["X-Robots-Tag"] == "noindex, nofollow"
    assert metas(shown)["robots"] == "noindex, nofollow"
    assert shown["Cache-Control"] == "private, no-cache"
    assert not page.xpath("//script[not(@src)]")


def test_shared_summary_contains_no_site_and_no_tag(home: Member) -> None:
    run = filled(home)
    share = share_of(run.site_list, run)
    shown = Client().get(path_of(share))
    card = shared_page.card_of(run.site_list, run, figures(run))
    badges = [Client().get(f"{path_of(share, '.svg')}?check={each}") for each in ("", *CHECKS)]
    sources = [shown.content.decode(), repr(card), *(each.content.decode() for each in badges)]
    for hidden in (*HOSTS, "hidden-tag", "token", home.organization.name, home.organization.slug, run.site_list.id):
        for source in sources:
            assert hidden not in source, hidden
    # Nor does a page of the table that is not shared.
    assert Client().get(f"{path_of(share)}?page=2").content == shown.content


def test_shared_table_has_all_sites_without_query_strings(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_page, "PAGE_SIZE", 2)
    run = filled(home)
    share = share_of(run.site_list, run, has_table=True)
    first, second = Client().get(path_of(share)), Client().get(f"{path_of(share)}?page=2")
    rows = [page_of(each).xpath("//section[@id='sites']//tbody/tr") for each in (first, second)]
    assert [len(each) for each in rows] == [2, 1]
    assert "secret-one.example/plan" in rows[0][0].text_content()
    assert "Could not be judged" in rows[0][1].text_content()
    assert "token" not in first.content.decode() + second.content.decode()
    assert page_of(first).xpath("//nav[@class='pager']/a/@href") == ["?page=2#sites"]
    assert "hidden-tag" not in first.content.decode()
    for beyond in ("0", "3", "-1", "1.5", "9" * 40, "²", "%00", ""):
        assert Client().get(f"{path_of(share)}?page={beyond}").status_code == 404


def test_share_shows_one_snapshot_or_the_latest(home: Member) -> None:
    site_list = make_list(home)
    old = snapshot(site_list, [Looked(URLS[0], {"seo": 60}, "")], at=NOW - timedelta(days=9))
    fixed, moving = share_of(site_list, old), share_of(site_list)
    snapshot(site_list, [Looked(URLS[0], {"seo": 90}, "")], at=NOW - timedelta(days=2))
    snapshot(site_list, [Looked(URLS[0], {"seo": 10}, "")], status="cancelled")
    snapshot(site_list, [], status="running", ended_at=None, entries=1)
    assert "SEO D" in metas(Client().get(path_of(fixed)))["og:title"]
    assert "SEO A" in metas(Client().get(path_of(moving)))["og:title"]


def test_share_of_a_list_without_snapshot_says_so(home: Member) -> None:
    share = share_of(make_list(home), has_table=True)
    shown = Client().get(path_of(share))
    assert "There is no snapshot yet" in shown.content.decode()
    assert words(Client().get(path_of(share, ".svg"))) == ["Website scan", "no result yet"]
    assert Client().get(metas(shown)["og:image"].removeprefix("http://localhost:8000")).status_code == 200


def test_revoked_share_responds_like_an_unknown_one(home: Member, stranger: Member) -> None:
    run, theirs = filled(home), filled(stranger)
    revoked, closed = share_of(run.site_list), share_of(theirs.site_list)
    expired = share_of(run.site_list, snapshot(run.site_list, [], at=NOW - timedelta(days=9), kept_days=8))
    sharing.delete_share(caller=key_caller(home.organization.id), list_id=run.site_list_id, share_id=revoked.id)
    close_organization(stranger.organization)
    never = Client().get(f"/list/{NEVER}")
    badge = Client().get(f"/list/{NEVER}.svg")
    assert (never.status_code, badge.status_code, words(badge)[1]) == (404, 404, "no such badge")
    for gone in (revoked.id, closed.id, expired.id, "shr_%00", "x"):
        page = Client().get(f"/list/{gone}")
        assert (page.status_code, page_of(page).findtext(".//h1")) == (404, page_of(never).findtext(".//h1"))
        assert Client().get(f"/list/{gone}.svg").content == badge.content
        assert Client().get(f"/list/{gone}/card/0123456789abcdef.png").status_code == 404


def test_shared_page_has_link_preview_with_figures(home: Member, settings: Any) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    run = filled(home)
    share = share_of(run.site_list, run)
    head = metas(Client().get(path_of(share)))
    assert head["og:title"] == "Security C, SEO C, 2 sites: Ministries of <b>X</b>"
    assert head["og:description"] == "100 % of 2 sites are available over HTTPS."
    assert head["og:url"] == f"https://scan.acme.test/list/{share.id}"
    address = head["og:image"].removeprefix("https://scan.acme.test")
    card = Client().get(address)
    assert (card["Content-Type"], card["Cache-Control"]) == ("image/png", "private, max-age=31536000, immutable")
    assert card["X-Robots-Tag"] == "noindex, nofollow"
    stale = Client().get(f"/list/{share.id}/card/0123456789abcdef.png")
    assert (stale.status_code, stale["Location"]) == (302, address)


def test_card_of_a_share_has_mean_scores_with_grades(home: Member) -> None:
    run = filled(home)
    SiteList.objects.update(name="Behörden in Köln")
    site_list = SiteList.objects.get()
    card = shared_page.card_of(site_list, run, figures(run))
    assert (card.subject, card.heading) == ("Behorden in Koln", "2 sites")
    assert card.grades == (CardGrade("Security", "C", 77), CardGrade("SEO", "C", 78))
    SiteList.objects.update(name="Министерства")
    assert shared_page.card_of(SiteList.objects.get(), run, figures(run)).subject == "List of sites"
    assert shared_page.card_of(site_list, None, None) == Card("Behorden in Koln", heading="No snapshot yet")


def test_badge_has_the_adoption_of_a_check(home: Member) -> None:
    run = filled(home)
    share = share_of(run.site_list, run)
    day = f"{run.ended_at.day} {run.ended_at:%b %Y}"  # type: ignore[union-attr]
    path = path_of(share, ".svg")
    shown = Client().get(f"{path}?check=http-to-https-redirect")
    assert words(shown) == ["50 %", "of 2 sites redirect to HTTPS", day]
    title = ElementTree.fromstring(shown.content).findtext(f"{SVG}title")
    assert (title or "").startswith("50 % of 2 sites redirect to HTTPS; last scanned on ")
    assert words(Client().get(path)) == ["Security, mean", "C 77", "SEO, mean", "C 78", day]
    assert words(Client().get(f"{path}?check=csp-present")) == ["Website scan", "no result yet"]
    unknown = Client().get(f"{path}?check=speed")
    assert (unknown.status_code, words(unknown)[1]) == (400, "no such check")


def test_badge_can_be_embedded_and_cached_for_five_minutes(home: Member) -> None:
    run = filled(home)
    path = f"{path_of(share_of(run.site_list, run), '.svg')}?check=hsts"
    shown = Client().get(path)
    assert shown["Cache-Control"] == "max-age=300"
    assert shown["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert shown["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert not shown.cookies
    again = Client().get(path, headers={"If-None-Match": shown["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    with counted() as asked:
        Client().get(path)
    assert len(asked) <= 3


def test_clients_over_the_rate_limit_get_429(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(views, "PER_MINUTE", 2)
    monkeypatch.setattr(shared_pages, "STRANGERS_PER_MINUTE", 1)
    run = filled(home)
    share = share_of(run.site_list)
    asked = Client(REMOTE_ADDR="192.0.2.1")
    assert [asked.get(path_of(share, ".svg")).status_code for _ in range(3)] == [200, 200, 429]
    assert asked.get(f"{path_of(share)}/card/0123456789abcdef.png").status_code == 429
    pages = [asked.get(path_of(share)) for _ in range(2)]
    assert [each.status_code for each in pages] == [200, 429]
    assert pages[1]["Retry-After"] == "60"
    assert Client(REMOTE_ADDR="192.0.2.7").get(path_of(share)).status_code == 200


def test_shared_page_query_count_is_constant(home: Member) -> None:
    numbers = []
    for size in (3, 60):
        sites = [Looked(f"https://{n}.example/", {"seo": n}, "fpwp", (f"tag {n}",)) for n in range(size)]
        share = share_of(make_list(home), snapshot(make_list(home), sites), has_table=True)
        ListShare.objects.filter(id=share.id).update(site_list=share.run.site_list)  # type: ignore[union-attr]
        with counted() as asked:
            assert Client().get(path_of(share)).status_code == 200
        numbers.append(len(asked))
    assert numbers[0] == numbers[1] <= 6


def test_api_creates_and_revokes_shares(home: Member, stranger: Member) -> None:
    run = filled(home)
    path = f"/v1/lists/{run.site_list_id}/shares"
    made = home.api.post(path, {"run_id": run.id, "table": True})
    assert made.status_code == 201
    body = made.json()
    assert (body["run_id"], body["table"]) == (run.id, True)
    assert body["share_url"] == f"http://localhost:8000/list/{body['id']}"
    latest = home.api.post(path, {}).json()
    assert (latest["run_id"], latest["table"]) == (None, False)
    assert {each["id"] for each in home.api.get(path).json()["shares"]} == {body["id"], latest["id"]}
    for refused in ("run_" + "0" * 22, filled(stranger).id):
        assert home.api.post(path, {"run_id": refused}).json()["code"] == "SNAPSHOT_NOT_FOUND"
    assert stranger.api.post(path, {}).json()["code"] == "LIST_NOT_FOUND"
    assert stranger.api.delete(f"{path}/{body['id']}").status_code == 404
    assert home.api.delete(f"{path}/{body['id']}").status_code == 204
    assert home.api.delete(f"{path}/{body['id']}").json()["code"] == "SHARE_NOT_FOUND"
    assert Client().get(f"/list/{body['id']}").status_code == 404
    assert [each.action for each in ActivityEvent.objects.order_by("id")][-3:] == [
        *("list.shared", "list.shared", "list.unshared"),
    ]


def test_number_of_shares_per_list_is_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MAX_SHARES", 0)
    answer = home.api.post(f"/v1/lists/{filled(home).site_list_id}/shares", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "SHARE_LIMIT")


def test_members_see_the_shared_page_as_strangers_do(home: Member) -> None:
    run = filled(home)
    shown = browser_of(home, "viewer").get(path_of(share_of(run.site_list)))
    assert shown.status_code == 200
