"""Tests for badge images and for enabling and disabling badges."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from accounts.closing.services import close_organization
from accounts.models import ActivityEvent
from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.drawing import draw as draw_card
from scans.models import Scan
from sites.badges import services, views
from sites.badges.drawing import draw_badge, text_width
from sites.models import Badge, Monitor, MonitorRun
from sites.models.stored_json import RunScore
from tests.factories import Member, finished_scan
from tests.page_reading import browser_of, page_of
from tests.populated_monitors import make_monitor
from tests.queries import counted

SVG = "{http://www.w3.org/2000/svg}"
SCORES = {"security": {"score": 92, "grade": "A"}, "seo": {"score": 100, "grade": "A+"}}
NEVER = "bdg_" + "0" * 22
URL = "https://example.com/"


def create_badge(member: Member, **columns: Any) -> str:
    """Create a monitor with a badge and return the path of the badge."""
    monitor = make_monitor(member, types=["security", "seo"], scores=SCORES, name="Secret plans", **columns)
    badge = Badge.objects.create(organization=member.organization, monitor=monitor)
    return f"/badge/{badge.id}.svg"


def svg_texts(response: Any) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(response.content).iter(f"{SVG}text")]


def test_badge_texts_fit_into_their_cells() -> None:
    drawing = draw_badge((label, "A+", 100) for label in Scan.Type.labels)
    at = 0.0
    for cell in drawing.cells:
        assert cell.x == pytest.approx(at, abs=0.2)
        assert cell.text_width >= text_width(cell.text) - 0.1
        at = cell.x + cell.width
    assert drawing.width == pytest.approx(at, abs=0.2)


def test_public_badge_shows_only_grades(home: Member) -> None:
    path = create_badge(home)
    response = Client().get(path)
    assert response.status_code == 200
    assert svg_texts(response) == ["Security", "A 92", "SEO", "A+ 100"]
    assert svg_texts(Client().get(f"{path}?type=seo")) == ["SEO", "A+ 100"]
    assert svg_texts(Client().get(f"{path}?type=performance")) == ["Performance", "no result yet"]
    root = ElementTree.fromstring(response.content)
    assert root.find(f"{SVG}title").text == "Security: grade A, 92 of 100; SEO: grade A+, 100 of 100"  # type: ignore[union-attr]
    assert root.get("role") == "img"
    for hidden in ("Secret plans", home.organization.name, "bakery", "mon_"):
        assert hidden not in response.content.decode()


def test_badge_shows_the_date_of_its_grades(home: Member) -> None:
    at = timezone.now().replace(year=2026, month=11, day=2, hour=23)
    for kind, age in (("seo", 0), ("security", 9)):
        scan = finished_scan(home, url=URL, type=kind)
        Scan.objects.filter(id=scan.id).update(completed_at=at - timedelta(days=age))
    page = Badge.objects.create(organization=home.organization, page=URL)
    assert svg_texts(Client().get(f"/badge/{page.id}.svg"))[-1] == "2 Nov 2026"
    assert svg_texts(Client().get(f"/badge/{page.id}.svg?type=security")) == ["Security", "C 71", "24 Oct 2026"]

    monitor = make_monitor(home, types=["seo"], scores={"seo": {"score": 100, "grade": "A+"}})
    scored: RunScore = {"before": None, "score": 100, "grade": "A+"}
    unscored: Any = {}
    runs: tuple[tuple[int, dict[str, RunScore]], ...] = ((1, {}), (2, {"seo": scored}), (3, {"seo": unscored}))
    for age, scores in runs:
        due = at - timedelta(days=age)
        MonitorRun.objects.create(monitor=monitor, due_at=due, not_before=due, ended_at=due, scores=scores)
    monitor_badge = Badge.objects.create(organization=home.organization, monitor=monitor)
    response = Client().get(f"/badge/{monitor_badge.id}.svg")
    assert svg_texts(response)[-1] == "31 Oct 2026"
    title = ElementTree.fromstring(response.content).findtext(f"{SVG}title")
    assert title == "SEO: grade A+, 100 of 100; last scanned on 31 October 2026"


def test_badge_is_cached_for_five_minutes(home: Member) -> None:
    path = create_badge(home)
    response = Client().get(path)
    assert response["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert response["Cache-Control"] == "max-age=300"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
    assert not response.cookies
    assert "Cookie" not in response.get("Vary", "")
    again = Client().get(path, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content, again["Cache-Control"]) == (304, b"", "max-age=300")
    with counted() as queries:
        Client().get(path)
    assert len(queries) == 1


def test_badge_link_has_a_preview(home: Member, settings: Any) -> None:
    settings.BASE_URL = "https://scan.acme.test"
    path = create_badge(home)
    link = path.removesuffix(".svg")
    metas = page_of(Client().get(link)).xpath("//meta")
    head = {meta.get("property") or meta.get("name"): meta.get("content") for meta in metas}
    assert head["og:title"] == "Security A, SEO A+: latest grades"
    assert head["twitter:card"] == "summary_large_image"
    assert head["og:image"].startswith(f"https://scan.acme.test{link}.png?v=")
    card = Client().get(f"{link}.png")
    grades = (CardGrade("Security", "A", 92), CardGrade("SEO", "A+", 100))
    assert card.content == draw_card(Card("Latest grades", grades=grades))
    assert (card["Content-Type"], card["Cache-Control"]) == ("image/png", "max-age=300")
    assert card["Cross-Origin-Resource-Policy"] == "cross-origin"
    again = Client().get(f"{link}.png", headers={"If-None-Match": card["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    Monitor.objects.update(scores={})
    assert Client().get(f"{link}.png").content == draw_card(Card("No result yet"))
    assert page_of(Client().get(link)).findtext(".//h1") == "No result yet"
    Badge.objects.all().delete()
    assert [Client().get(address).status_code for address in (link, f"{link}.png", f"/badge/{NEVER}.png")] == [404] * 3


def test_disabled_badge_looks_unknown(home: Member, stranger: Member) -> None:
    path = create_badge(home)
    theirs = create_badge(stranger)
    close_organization(stranger.organization)
    never = Client().get(f"/badge/{NEVER}.svg")
    assert (never.status_code, svg_texts(never)) == (404, ["Website scan", "no such badge"])
    Badge.objects.filter(organization=home.organization).delete()
    for gone in (path, theirs, "/badge/bdg_%00.svg", "/badge/x.svg"):
        answer = Client().get(gone)
        assert (answer.status_code, answer.content) == (404, never.content)
        assert answer["Cache-Control"] == "no-store"


def test_badge_of_an_unknown_type_is_refused(home: Member) -> None:
    answer = Client().get(f"{create_badge(home)}?type=speed")
    assert (answer.status_code, svg_texts(answer)[1]) == (400, "no such type")


def test_badge_requests_are_rate_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "REQUESTS_PER_MINUTE", 2)
    path = create_badge(home)
    assert [Client().get(path).status_code for _ in range(3)] == [200, 200, 429]
    assert Client().get(path.replace(".svg", ".png")).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.7").get(path).status_code == 200


def test_page_badge_shows_the_last_complete_scans(home: Member, stranger: Member) -> None:
    finished_scan(home, url=URL, type="seo", age=timedelta(hours=3))
    finished_scan(home, "partial", url=URL, type="security")
    finished_scan(stranger, url=URL, type="accessibility")
    made = home.api.post("/v1/badges", {"page": "https://EXAMPLE.com"})
    assert made.status_code == 201
    assert made.json()["page"] == URL
    path = f"/badge/{made.json()['id']}.svg"
    assert svg_texts(Client().get(path))[:2] == ["SEO", "C 71"]
    finished_scan(home, url=URL, type="security")
    assert svg_texts(Client().get(path))[:4] == ["Security", "C 71", "SEO", "C 71"]


def test_api_enables_and_disables_badges(home: Member) -> None:
    monitor = make_monitor(home)
    made = home.api.post("/v1/badges", {"monitor": monitor.id})
    assert made.status_code == 201
    body = made.json()
    assert body["badge_url"] == f"http://localhost:8000/badge/{body['id']}.svg"
    assert (body["monitor"], "page" in body) == (monitor.id, False)
    again = home.api.post("/v1/badges", {"monitor": monitor.id})
    assert (again.status_code, again.json()) == (200, body)
    assert home.api.get("/v1/badges").json() == {"badges": [body], "total": 1, "limit": 20, "offset": 0}
    assert home.api.delete(f"/v1/badges/{body['id']}").status_code == 204
    gone = home.api.delete(f"/v1/badges/{body['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "BADGE_NOT_FOUND")


def test_unscanned_page_cannot_have_a_badge(home: Member, stranger: Member) -> None:
    finished_scan(stranger, url=URL)
    answer = home.api.post("/v1/badges", {"page": URL})
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMS")


def test_number_of_shares_is_limited(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_BADGES", 0)
    answer = home.api.post("/v1/badges", {"monitor": make_monitor(home).id})
    assert (answer.status_code, answer.json()["code"]) == (409, "BADGE_LIMIT")


def test_member_disables_the_badge_of_a_monitor(home: Member) -> None:
    monitor = make_monitor(home, scores=SCORES)
    client = browser_of(home)
    path = f"/o/home/monitors/{monitor.id}"
    assert not page_of(client.get(path)).xpath("//section[@id='badge']//img")
    assert client.post(f"{path}/badge", {"badge": "on"})["Location"] == f"{path}#badge"
    (picture,) = page_of(client.get(path)).xpath("//section[@id='badge']//img/@src")
    assert Client().get(picture).status_code == 200
    link = picture.removesuffix(".svg")
    (markdown,) = page_of(client.get(path)).xpath("//*[@id='badge-markdown']/text()")
    assert markdown == f"[![Website scan](http://localhost:8000{picture})](http://localhost:8000{link})"
    (html,) = page_of(client.get(path)).xpath("//*[@id='badge-html']/text()")
    assert html.startswith(f'<a href="http://localhost:8000{link}"><img src="http://localhost:8000{picture}"')
    client.post(f"{path}/badge", {"badge": "off"})
    assert Client().get(picture).status_code == 404
    assert client.post(f"{path}/badge", {"badge": "maybe"}).status_code == 400
    assert [activity_event.action for activity_event in ActivityEvent.objects.order_by("id")][-2:] == [
        "badge.created",
        "badge.deleted",
    ]


def test_member_disables_the_badge_of_a_page(home: Member) -> None:
    finished_scan(home, url=URL, type="seo", age=timedelta(minutes=1))
    client = browser_of(home)
    site, switch = "/o/home/sites/example.com", "/o/home/sites/example.com/badge"
    response = client.post(switch, {"page": URL, "badge": "on"}, follow=True)
    (picture,) = page_of(response).xpath("//section[@id='badge']//img/@src")
    assert svg_texts(Client().get(picture))[:2] == ["SEO", "C 71"]
    client.post(switch, {"page": URL, "badge": "off"})
    assert not page_of(client.get(site)).xpath("//section[@id='badge']//img")
    assert client.post(switch, {"page": URL, "badge": "off"}).status_code == 404
    never = client.post(switch, {"page": "https://example.com/never", "badge": "on"}, follow=True)
    assert "page has no report yet" in never.content.decode()
    assert Badge.objects.count() == 0


def test_badge_links_to_a_visible_page(home: Member, stranger: Member) -> None:
    link = create_badge(home).removesuffix(".svg")
    badge = Badge.objects.get()
    member = browser_of(home, "viewer")
    assert member.get(link)["Location"] == f"/o/home/monitors/{badge.monitor_id}"
    for other in (Client(), browser_of(stranger)):
        response = other.get(link)
        assert page_of(response).findtext(".//h1") == "Latest grades"
        assert page_of(response).xpath("//figure//img/@alt") == ["Security A, SEO A+: latest grades"]
        for hidden in ("Secret plans", home.organization.name, "bakery", "mon_"):
            assert hidden not in response.content.decode()
    page = Badge.objects.create(organization=home.organization, page="https://example.com:8443/a?b=1")
    to = "/o/home/sites/example.com:8443?page=https%3A%2F%2Fexample.com%3A8443%2Fa%3Fb%3D1"
    assert member.get(f"/badge/{page.id}")["Location"] == to
    for unknown in (f"/badge/{NEVER}", "/badge/x", "/badge/%00"):
        assert member.get(unknown).status_code == 404


def test_badge_is_deleted_with_its_monitor(home: Member) -> None:
    path = create_badge(home, next_run_at=timezone.now())
    home.api.delete(f"/v1/monitors/{Badge.objects.get().monitor_id}")
    assert Client().get(path).status_code == 404
