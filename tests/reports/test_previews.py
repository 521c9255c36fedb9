"""Tests for link previews of shared reports and samples."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.test import Client
from PIL import Image

from infrastructure.web import colours
from infrastructure.web.cards import drawing
from reports.models import Report
from reports.page.sample import find_sample
from scans.models import Scan
from tests.factories import Member, finished_scan, make_scan
from tests.reports.people import page_of, person
from tests.reports.test_sharing import set_sharing
from tests.responses import ClientResponse

BASE = "https://scan.acme.test"


@pytest.fixture(autouse=True)
def base_url(settings: Any) -> None:
    settings.BASE_URL = BASE


def preview_of(response: ClientResponse) -> dict[str, str]:
    """Return the preview metadata of a page by name."""
    elements = page_of(response).xpath("//meta[starts-with(@property, 'og:') or starts-with(@name, 'twitter:')]")
    return {element.get("property") or element.get("name"): element.get("content") for element in elements}


def card_of(response: ClientResponse) -> str:
    """Return the URL path of a page's card."""
    return preview_of(response)["og:image"].removeprefix(BASE)


def scan_with_grade(member: Member, grade: str, score: int, **columns: Any) -> Scan:
    scan = finished_scan(member, **columns)
    Scan.objects.filter(id=scan.id).update(grade=grade, score=score)
    return scan


def shared_scans(member: Member, *grades: tuple[str, int]) -> list[Scan]:
    scans = [scan_with_grade(member, grade, score) for grade, score in grades]
    client = person(member.organization)
    assert {set_sharing(client, scan) for scan in scans} == {302}
    return scans


def test_shared_preview_has_grade_and_finding(home: Member) -> None:
    (scan,) = shared_scans(home, ("F", 49))
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


def test_cards_have_the_colour_of_the_grade(home: Member) -> None:
    pictures = []
    for scan in shared_scans(home, ("F", 49), ("A+", 97)):
        card = Client().get(card_of(Client().get(f"/report/{scan.id}")))
        assert (card.status_code, card["Content-Type"]) == (200, "image/png")
        image = Image.open(io.BytesIO(card.content))
        assert image.size == (1200, 630)
        pictures.append(image.convert("RGB"))
    # This pixel is in the coloured ring around the grade, right of its top.
    for picture, grade in zip(pictures, "FA", strict=True):
        pixel = picture.getpixel((1075, 200))
        expected = tuple(int(colours.LINES[grade][n : n + 2], 16) for n in (1, 3, 5))
        assert all(abs(actual - target) <= 6 for actual, target in zip(pixel, expected, strict=True))  # type: ignore[arg-type]


def test_other_sites_can_embed_the_card(home: Member) -> None:
    (scan,) = shared_scans(home, ("B", 83))
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


def test_readers_of_the_report_can_get_the_card(home: Member, stranger: Member) -> None:
    scan, member = scan_with_grade(home, "F", 49), person(home.organization)
    assert not preview_of(member.get(f"/report/{scan.id}"))
    set_sharing(member, scan)
    path = card_of(Client().get(f"/report/{scan.id}"))
    assert page_of(member.get(f"/report/{scan.id}?shared=now")).xpath("//figure[@class='posted']//img/@src") == [path]
    others = (Client(), person(stranger.organization, "owner"), person(None))
    assert [client.get(path).status_code for client in others] == [200, 200, 200]
    set_sharing(member, scan, "off")
    drawing.draw.cache_clear()
    missing_path = path.replace(scan.id, "scan_" + "0" * 22)
    for client in others:
        responses = [client.get(card_path) for card_path in (path, missing_path)]
        assert responses[0].status_code == responses[1].status_code
        assert responses[0].status_code in {302, 404}
        assert responses[0].get("Location", "").replace(scan.id, "") == responses[1].get("Location", "").replace(
            "scan_" + "0" * 22, ""
        )
    assert drawing.draw.cache_info().misses == 0
    member_response = member.get(path)
    assert (member_response.status_code, member_response["Cache-Control"]) == (200, "private, no-cache")
    Report.objects.all().delete()
    assert member.get(path).status_code == 404


@pytest.mark.parametrize("status", ["queued", "scanning", "failed"])
def test_scan_without_a_report_has_no_card(home: Member, status: str) -> None:
    scan = make_scan(home, status=status)
    assert person(home.organization).get(f"/report/{scan.id}/card/{'0' * 16}.png").status_code == 404


@pytest.mark.parametrize("type", Scan.Type.values)
def test_sample_previews_contain_the_grade(db: None, type: str) -> None:
    sample = find_sample(type)
    assert sample is not None
    export = sample.export_json
    response = Client().get(f"/report/sample/{type}")
    preview = preview_of(response)
    assert preview["og:title"].startswith(f"{export['grade']} ({export['score']}): ")
    assert preview["og:title"].endswith(" of shop.example.com")
    assert preview["og:description"].startswith(("Fix first: ", "Critical: "))
    path = card_of(response)
    assert path.startswith(f"/report/sample/{type}/card/")
    card = Client().get(path)
    assert (card.status_code, card["Cache-Control"]) == (200, "public, max-age=31536000, immutable")
    assert Client().get(path[:-6] + "xx.png")["Location"] == path
    assert Client().get(f"/report/sample/none/card/{'0' * 16}.png").status_code == 404


def test_preview_omits_the_query_of_the_url(home: Member) -> None:
    url = "https://example.com/%22%3E%3Cscript%3E'<b>\"&?a=%22secret"
    scan = scan_with_grade(home, "F", 49, url=url)
    set_sharing(person(home.organization), scan)
    response = Client().get(f"/report/{scan.id}")
    assert preview_of(response)["og:title"] == "F (49): security of example.com/%22%3E%3Cscript%3E'<b>\"&"
    head = response.content.decode().partition("</head>")[0]
    assert "<b>" not in head
    assert "secret" not in head
    assert Client().get(card_of(response)).status_code == 200
