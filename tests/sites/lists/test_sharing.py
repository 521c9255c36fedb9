"""Tests for shared lists and their public page, card and badges."""

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
from sites.models import ListRun, ListShare
from tests.factories import Member, key_caller
from tests.page_reading import browser_of, page_of
from tests.queries import counted
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import CHECKS, SnapshotSite, make_share, snapshot

SVG = "{http://www.w3.org/2000/svg}"
NEVER = f"shr_{'0' * 22}"
HOSTS = ("secret-one", "secret-two", "secret-three")
URLS = tuple(f"https://{host}.example/plan?token=abc" for host in HOSTS)
NOW = timezone.now()


def make_ministry_snapshot(member: Member, **columns: Any) -> ListRun:
    sites = [
        SnapshotSite(URLS[0], {"security": 84, "seo": 97}, "pppf", ("hidden-tag",), {"seo": "A+"}),
        SnapshotSite(URLS[1], {"security": 71, "seo": 60}, "pffp", (), {}, {"moved_to": "secret-three.example"}),
        SnapshotSite(URLS[2]),
    ]
    return snapshot(make_list(member, name="Ministries of <b>X</b>"), sites, **columns)


def share_path(share: ListShare, ending: str = "") -> str:
    return f"/list/{share.id}{ending}"


def svg_texts(response: Any) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(response.content).iter(f"{SVG}text")]


def meta_tags(response: Any) -> dict[str, str]:
    elements = page_of(response).xpath("//meta")
    return {element.get("property") or element.get("name"): element.get("content") for element in elements}


def test_shared_summary_is_visible_to_anybody(home: Member) -> None:
    run = make_ministry_snapshot(home)
    response = Client().get(share_path(make_share(run.site_list)))
    assert response.status_code == 200
    page = page_of(response)
    assert page.xpath("string(//h1)").split() == ["List", "of", "3", "sites", "Ministries", "of", "<b>X</b>"]
    gauges = [" ".join(element.text_content().split()) for element in page.xpath("//li[contains(@class, 'gauge')]")]
    assert gauges[0] == "C Security Grade C, mean 77.5 Median 77.5, half between 74.25 and 80.75"
    assert gauges[1].startswith("C SEO Grade C, mean 78.5")
    adoption = [element.text for element in page.xpath("//ul[@class='adoptions']/li/span")]
    assert adoption[:2] == ["100 % of 2 sites are available over HTTPS", "50 % of 2 sites redirect to HTTPS"]
    findings = [element.text for element in page.xpath("//section[@aria-labelledby='holds']//tbody//th/a")]
    assert findings == ["No HSTS header", "No redirect from HTTP to HTTPS", "Page has no title"]
    assert "1 site could not be judged." in page.xpath("string(//p[@class='callout'])")
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert meta_tags(response)["robots"] == "noindex, nofollow"
    assert response["Cache-Control"] == "private, no-cache"
    assert not page.xpath("//script[not(@src)]")


def test_shared_summary_contains_no_sites(home: Member) -> None:
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run)
    response = Client().get(share_path(share))
    card = shared_page.card_of(share, run, figures(run))
    badges = [Client().get(f"{share_path(share, '.svg')}?check={check_id}") for check_id in ("", *CHECKS)]
    sources = [response.content.decode(), repr(card), *(badge.content.decode() for badge in badges)]
    for hidden in (*HOSTS, "hidden-tag", "token", home.organization.name, home.organization.slug, run.site_list.id):
        for source in sources:
            assert hidden not in source, hidden
    # The query parameter `page` has no effect if the table is not shared.
    assert Client().get(f"{share_path(share)}?page=2").content == response.content


def test_shared_table_has_no_query_strings(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_page, "PAGE_SIZE", 2)
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run, has_table=True)
    first, second = Client().get(share_path(share)), Client().get(f"{share_path(share)}?page=2")
    rows = [page_of(response).xpath("//section[@id='sites']//tbody/tr") for response in (first, second)]
    assert [len(row) for row in rows] == [2, 1]
    assert "secret-one.example/plan" in rows[0][0].text_content()
    assert "Could not be judged" in rows[0][1].text_content()
    assert "token" not in first.content.decode() + second.content.decode()
    assert page_of(first).xpath("//nav[@class='pager']/a/@href") == ["?page=2#sites"]
    assert "hidden-tag" not in first.content.decode()
    for beyond in ("0", "3", "-1", "1.5", "9" * 40, "²", "%00", ""):
        assert Client().get(f"{share_path(share)}?page={beyond}").status_code == 404


def test_share_shows_the_latest_snapshot(home: Member) -> None:
    site_list = make_list(home)
    old = snapshot(site_list, [SnapshotSite(URLS[0], {"seo": 60}, "")], at=NOW - timedelta(days=9))
    snapshot_share, latest_share = make_share(site_list, old), make_share(site_list)
    snapshot(site_list, [SnapshotSite(URLS[0], {"seo": 90}, "")], at=NOW - timedelta(days=2))
    snapshot(site_list, [SnapshotSite(URLS[0], {"seo": 10}, "")], status="cancelled")
    snapshot(site_list, [], status="running", ended_at=None, entries=1)
    assert "SEO D" in meta_tags(Client().get(share_path(snapshot_share)))["og:title"]
    assert "SEO A" in meta_tags(Client().get(share_path(latest_share)))["og:title"]


def test_share_without_a_snapshot_has_a_message(home: Member) -> None:
    share = make_share(make_list(home), has_table=True)
    response = Client().get(share_path(share))
    assert "There is no snapshot yet" in response.content.decode()
    assert svg_texts(Client().get(share_path(share, ".svg"))) == ["Website scan", "no result yet"]
    assert Client().get(meta_tags(response)["og:image"].removeprefix("http://localhost:8000")).status_code == 200


def test_revoked_share_looks_unknown(home: Member, stranger: Member) -> None:
    run, theirs = make_ministry_snapshot(home), make_ministry_snapshot(stranger)
    revoked, closed = make_share(run.site_list), make_share(theirs.site_list)
    expired = make_share(run.site_list, snapshot(run.site_list, [], at=NOW - timedelta(days=9), kept_days=8))
    sharing.delete_share(caller=key_caller(home.organization.id), list_id=run.site_list_id, share_id=revoked.id)
    close_organization(stranger.organization)
    never = Client().get(f"/list/{NEVER}")
    badge = Client().get(f"/list/{NEVER}.svg")
    assert (never.status_code, badge.status_code, svg_texts(badge)[1]) == (404, 404, "no such badge")
    for gone in (revoked.id, closed.id, expired.id, "shr_%00", "x"):
        page = Client().get(f"/list/{gone}")
        assert (page.status_code, page_of(page).findtext(".//h1")) == (404, page_of(never).findtext(".//h1"))
        assert Client().get(f"/list/{gone}.svg").content == badge.content
        assert Client().get(f"/list/{gone}/card/0123456789abcdef.png").status_code == 404


def test_shared_page_has_a_link_preview(home: Member, settings: Any) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run)
    head = meta_tags(Client().get(share_path(share)))
    assert head["og:title"] == "Security C, SEO C, 2 sites: Ministries of <b>X</b>"
    assert head["og:description"] == "100 % of 2 sites are available over HTTPS."
    assert head["og:url"] == f"https://scan.acme.test/list/{share.id}"
    address = head["og:image"].removeprefix("https://scan.acme.test")
    card = Client().get(address)
    assert (card["Content-Type"], card["Cache-Control"]) == ("image/png", "private, max-age=31536000, immutable")
    assert card["X-Robots-Tag"] == "noindex, nofollow"
    stale = Client().get(f"/list/{share.id}/card/0123456789abcdef.png")
    assert (stale.status_code, stale["Location"]) == (302, address)


def test_share_card_shows_the_grades(home: Member) -> None:
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run)
    for name in ("Behörden in Köln", "Министерства", "Υπουργεία", "Şehirler", "Miniștri și orașe", "Города"):
        share.site_list.name = name
        card = shared_page.card_of(share, run, figures(run))
        assert (card.subject, card.heading, card.path) == (name, "2 sites", "")
        assert card.grades == (CardGrade("Security", "C", 77), CardGrade("SEO", "C", 78))
        assert shared_page.card_of(share, None, None) == Card(name, heading="No snapshot yet")


def test_card_shows_the_address_without_a_name(home: Member) -> None:
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run)
    for name in ("学校", "โรงเรียน", "Schools 🏫"):
        share.site_list.name = name
        card = shared_page.card_of(share, run, figures(run))
        assert f"{card.subject}{card.path}" == share.share_url.partition("://")[2]
        assert share.id in card.path


def test_badge_shows_the_adoption(home: Member) -> None:
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list, run)
    day = f"{run.ended_at.day} {run.ended_at:%b %Y}"  # type: ignore[union-attr]
    path = share_path(share, ".svg")
    response = Client().get(f"{path}?check=http-to-https-redirect")
    assert svg_texts(response) == ["50 %", "of 2 sites redirect to HTTPS", day]
    title = ElementTree.fromstring(response.content).findtext(f"{SVG}title")
    assert (title or "").startswith("50 % of 2 sites redirect to HTTPS; last scanned on ")
    assert svg_texts(Client().get(path)) == ["Security, mean", "C 77", "SEO, mean", "C 78", day]
    assert svg_texts(Client().get(f"{path}?check=csp-present")) == ["Website scan", "no result yet"]
    unknown = Client().get(f"{path}?check=speed")
    assert (unknown.status_code, svg_texts(unknown)[1]) == (400, "no such check")


def test_badge_is_cached_for_five_minutes(home: Member) -> None:
    run = make_ministry_snapshot(home)
    path = f"{share_path(make_share(run.site_list, run), '.svg')}?check=hsts"
    response = Client().get(path)
    assert response["Cache-Control"] == "max-age=300"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert not response.cookies
    again = Client().get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    with counted() as queries:
        Client().get(path)
    assert len(queries) <= 3


def test_public_page_has_the_limit_of_badges(home: Member) -> None:
    """Many people in a town hall share one IP address."""
    cache.clear()
    share = make_share(make_ministry_snapshot(home).site_list)
    client = Client(REMOTE_ADDR="192.0.2.1")
    statuses = {
        client.get(share_path(share)).status_code for _ in range(shared_pages.MAX_STRANGER_REQUESTS_PER_MINUTE + 5)
    }
    assert (statuses, views.REQUESTS_PER_MINUTE) == ({200}, 600)


def test_rate_limit_answers_429(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(views, "REQUESTS_PER_MINUTE", 2)
    run = make_ministry_snapshot(home)
    share = make_share(run.site_list)
    client = Client(REMOTE_ADDR="192.0.2.1")
    assert [client.get(share_path(share, ".svg")).status_code for _ in range(3)] == [200, 200, 429]
    assert client.get(f"{share_path(share)}/card/0123456789abcdef.png").status_code == 429
    page = client.get(share_path(share))
    assert (page.status_code, page["Retry-After"]) == (429, "60")
    assert Client(REMOTE_ADDR="192.0.2.7").get(share_path(share)).status_code == 200


def test_shared_page_query_count_is_constant(home: Member) -> None:
    numbers = []
    for size in (3, 60):
        sites = [SnapshotSite(f"https://{n}.example/", {"seo": n}, "fpwp", (f"tag {n}",)) for n in range(size)]
        share = make_share(make_list(home), snapshot(make_list(home), sites), has_table=True)
        ListShare.objects.filter(id=share.id).update(site_list=share.run.site_list)  # type: ignore[union-attr]
        with counted() as queries:
            assert Client().get(share_path(share)).status_code == 200
        numbers.append(len(queries))
    assert numbers[0] == numbers[1] <= 6


def test_api_creates_and_revokes_shares(home: Member, stranger: Member) -> None:
    run = make_ministry_snapshot(home)
    path = f"/v1/lists/{run.site_list_id}/shares"
    created = home.api.post(path, {"run_id": run.id, "table": True})
    assert created.status_code == 201
    body = created.json()
    assert (body["run_id"], body["table"]) == (run.id, True)
    assert body["share_url"] == f"http://localhost:8000/list/{body['id']}"
    latest = home.api.post(path, {}).json()
    assert (latest["run_id"], latest["table"]) == (None, False)
    assert {share["id"] for share in home.api.get(path).json()["shares"]} == {body["id"], latest["id"]}
    for refused in ("run_" + "0" * 22, make_ministry_snapshot(stranger).id):
        assert home.api.post(path, {"run_id": refused}).json()["code"] == "SNAPSHOT_NOT_FOUND"
    assert stranger.api.post(path, {}).json()["code"] == "LIST_NOT_FOUND"
    assert stranger.api.delete(f"{path}/{body['id']}").status_code == 404
    assert home.api.delete(f"{path}/{body['id']}").status_code == 204
    assert home.api.delete(f"{path}/{body['id']}").json()["code"] == "SHARE_NOT_FOUND"
    assert Client().get(f"/list/{body['id']}").status_code == 404
    assert [activity_event.action for activity_event in ActivityEvent.objects.order_by("id")][-3:] == [
        *("list.shared", "list.shared", "list.unshared"),
    ]


def test_shares_per_list_are_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MAX_SHARES", 0)
    answer = home.api.post(f"/v1/lists/{make_ministry_snapshot(home).site_list_id}/shares", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "SHARE_LIMIT")


def test_members_can_open_the_shared_page(home: Member) -> None:
    run = make_ministry_snapshot(home)
    response = browser_of(home, "viewer").get(share_path(make_share(run.site_list)))
    assert response.status_code == 200
