"""Previews of shared reports and samples on other sites: titles, sentences, and the card with the grade."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from infrastructure.web import colours
from infrastructure.web.cards import drawing
from reports.models import Report
from reports.page.sample import sample_of
from scans.models import Scan
from tests.factories import Member, finished_scan, make_scan
from tests.reports.people import page_of, person
from tests.reports.test_sharing import switch
from tests.responses import ClientResponse

BASE = "https://scan.acme.test"


@pytest.fixture(autouse=True)
def base_url(settings: Any) -> None:
    settings.BASE_URL = BASE


def preview_of(response: ClientResponse) -> dict[str, str]:
    """Return the metadata of a page for other sites, by property or name."""
    found = page_of(response).xpath("//meta[starts-with(@property, 'og:') or starts-with(@name, 'twitter:')]")
    return {each.get("property") or each.get("name"): each.get("content") for each in found}


def card_of(response: ClientResponse) -> str:
    """Return the path of a page's card."""
    return preview_of(response)["og:image"].removeprefix(BASE)


def graded(member: Member, grade: str, score: int, **columns: Any) -> Scan:
    scan = finished_scan(member, **columns)
    Scan.objects.filter(id=scan.id).update(grade=grade, score=score)
    return scan


def shared(member: Member, *grades: tuple[str, int]) -> list[Scan]:
    scans = [graded(member, grade, score) for grade, score in grades]
    client = person(member.organization)
    assert {switch(client, each) for each in scans} == {302}
    return scans


def test_the_preview_of_a_shared_report_says_its_grade(home: Member) -> None:
    (scan,) = shared(home, ("F", 49))
    response = Client().get(f"/report/{scan.id}")
    preview = preview_of(response)
    assert preview["og:title"] == "F (49): security of example.com"
    assert page_of(response).findtext(".//title") == preview["og:title"]
    first = page_of(response).xpath("string(//ol[@class='first']/li[1]/a)")
    assert preview["og:description"] == f"Fix first: {first}."
    assert preview["og:image:alt"] == preview["og:title"]
    assert (preview["og:image:width"], preview["og:image:height"]) == ("1200", "630")
    assert preview["twitter:card"] == "summary_large_image"
    assert preview["og:url"] == f"{BASE}/report/{scan.id}"


def test_cards_differ_by_grade_and_have_its_colour(home: Member) -> None:
    pictures = []
    for scan in shared(home, ("F", 49), ("A+", 97)):
        card = Client().get(card_of(Client().get(f"/report/{scan.id}")))
        assert (card.status_code, card["Content-Type"]) == (200, "image/png")
        shown = Image.open(io.BytesIO(card.content))
        assert shown.size == (1200, 630)
        pictures.append(shown.convert("RGB"))
    # In the middle of the ring, right of the top.
    for picture, grade in zip(pictures, "FA", strict=True):
        found = picture.getpixel((1075, 200))
        wanted = tuple(int(colours.LINES[grade][n : n + 2], 16) for n in (1, 3, 5))
        assert all(abs(one - other) <= 6 for one, other in zip(found, wanted, strict=True))  # type: ignore[arg-type]


def test_a_card_is_kept_by_browsers_and_embedded_by_other_sites(home: Member) -> None:
    (scan,) = shared(home, ("B", 83))
    path = card_of(Client().get(f"/report/{scan.id}"))
    card = Client().get(path)
    assert card["Cache-Control"] == "private, max-age=31536000, immutable"
    assert card["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert card["X-Content-Type-Options"] == "nosniff"
    head = Client().head(path)
    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(card.content)))
    again = Client().get(path, headers={"If-None-Match": card["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", card["ETag"])
    assert Client().post(path).status_code == 405
    other = Client().get(f"/report/{scan.id}/card/{'0' * 16}.png")
    assert (other.status_code, other["Location"]) == (302, path)


def test_a_card_is_seen_by_those_who_see_the_report(home: Member, stranger: Member) -> None:
    scan, member = graded(home, "F", 49), person(home.organization)
    assert not preview_of(member.get(f"/report/{scan.id}"))
    switch(member, scan)
    path = card_of(Client().get(f"/report/{scan.id}"))
    assert page_of(member.get(f"/report/{scan.id}?shared=now")).xpath("//figure[@class='posted']//img/@src") == [path]
    others = (Client(), person(stranger.organization, "owner"), person(None))
    assert [each.get(path).status_code for each in others] == [200, 200, 200]
    switch(member, scan, "off")
    drawing.draw.cache_clear()
    never = path.replace(scan.id, "scan_" + "0" * 22)
    for each in others:
        answers = [each.get(address) for address in (path, never)]
        assert answers[0].status_code == answers[1].status_code
        assert answers[0].status_code in {302, 404}
        assert answers[0].get("Location", "").replace(scan.id, "") == answers[1].get("Location", "").replace(
            "scan_" + "0" * 22, ""
        )
    assert drawing.draw.cache_info().misses == 0
    kept = member.get(path)
    assert (kept.status_code, kept["Cache-Control"]) == (200, "private, no-cache")
    Report.objects.all().delete()
    assert member.get(path).status_code == 404


@pytest.mark.parametrize("status", ["queued", "scanning", "failed"])
def test_a_scan_without_a_report_has_no_card(home: Member, status: str) -> None:
    scan = make_scan(home, status=status)
    assert person(home.organization).get(f"/report/{scan.id}/card/{'0' * 16}.png").status_code == 404


@pytest.mark.parametrize("type", Scan.Type.values)
def test_samples_are_previewed_with_their_grade(db: None, type: str) -> None:
    sample = sample_of(type)
    assert sample is not None
    document = sample.export_json
    response = Client().get(f"/report/sample/{type}")
    preview = preview_of(response)
    assert preview["og:title"].startswith(f"{document['grade']} ({document['score']}): ")
    assert preview["og:title"].endswith(" of shop.example.com")
    assert preview["og:description"].startswith(("Fix first: ", "Critical: "))
    path = card_of(response)
    assert path.startswith(f"/report/sample/{type}/card/")
    card = Client().get(path)
    assert (card.status_code, card["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
    assert Client().get(path[:-6] + "xx.png")["Location"] == path
    assert Client().get(f"/report/sample/none/card/{'0' * 16}.png").status_code == 404


def test_what_a_site_says_stays_text(home: Member) -> None:
    url = "https://example.com/%22%3E%3Cscript%3E'<b>\"&?a=%22secret"
    scan = graded(home, "F", 49, url=url)
    switch(person(home.organization), scan)
    response = Client().get(f"/report/{scan.id}")
    assert preview_of(response)["og:title"] == "F (49): security of example.com/%22%3E%3Cscript%3E'<b>\"&"
    head = response.content.decode().partition("</head>")[0]
    assert "<b>" not in head
    assert "secret" not in head
    assert Client().get(card_of(response)).status_code == 200
