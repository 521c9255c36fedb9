"""Tests for element crops and the filmstrip on the report page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from reports.models import Report
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.reports.people import page_of, person
from tests.results import check_of, elements, stored_finding
from website_scan.browser.evidence import Box, BrowserLoad, Frame, Load, PagePicture
from website_scan.exhibits.pictures import MAX_CROPS_PER_CHECK, pictures
from website_scan.findings import HIGH, ScanType
from website_scan.report.illustrations import (
    NO_ILLUSTRATIONS,
    create_illustrations,
    extract_frame,
    illustrations_in_file,
)
from website_scan.result import CheckResult, Pictures
from website_scan.stored_data import PicturePlaces

PLACES: PicturePlaces = {
    "of": "page",
    "size": [412, 2000],
    "crops": {"image-alt": {"0": [10, 1900, 60, 3000], "2": [400, 0, 12, 20]}},
    "frames": [(0, [], 5), (340, ["First paint", "Largest paint"], 6)],
}
FILM = b"firstsecond"


CHECK = stored_finding("image-alt", *elements("#<b>", "img", "i"))


def check_result(selectors: list[str], id: str = "image-alt") -> CheckResult:
    return check_of(id, "Name", "Title", "fail", HIGH, HIGH, "Message", places=elements(*selectors))


def load(boxes: dict[str, Box], *frames: Frame) -> BrowserLoad:
    nothing = Load(None, None, (), None, 0.0, 0.0, ())
    return BrowserLoad(
        "Chromium 150",
        nothing,
        first_screen=PagePicture(b"screen", 412, 823, {"#hero": Box(1, 2, 3, 4)}),
        page_picture=PagePicture(b"page", 412, 2000, boxes),
        frames=frames,
    )


def test_crops_are_stored_by_place_number() -> None:
    result = pictures(ScanType.ACCESSIBILITY, load({"img": Box(1, 2, 30, 40)}), [check_result(["p", "img"])])
    assert result is not None
    assert result.page == b"page"
    assert result.places["crops"] == {"image-alt": {"1": [1, 2, 30, 40]}}


def test_number_of_crops_of_a_finding_is_limited() -> None:
    selectors = [f"#n{number}" for number in range(20)]
    result = pictures(
        ScanType.ACCESSIBILITY, load(dict.fromkeys(selectors, Box(1, 2, 30, 40))), [check_result(selectors)]
    )
    assert result is not None
    assert len(result.places["crops"]["image-alt"]) == MAX_CROPS_PER_CHECK


def test_ambiguous_selectors_have_no_crop() -> None:
    prefix = "x" * 400
    boxes = {f"{prefix} > a": Box(1, 2, 30, 40), f"{prefix} > b": Box(5, 6, 30, 40)}
    assert pictures(ScanType.ACCESSIBILITY, load(boxes), [check_result([prefix[:299] + "…"])]) is None


def test_only_performance_scans_have_a_filmstrip() -> None:
    page_load = load({}, Frame(0, (), b"a"), Frame(90, ("First paint",), b"bc"))
    performance = pictures(ScanType.PERFORMANCE, page_load, [check_result(["#hero"], "lcp")])
    assert performance is not None
    assert (performance.page, performance.film) == (None, b"abc")
    assert performance.places["of"] == "screenshot"
    assert performance.places["frames"] == [(0, [], 1), (90, ["First paint"], 2)]
    seo = pictures(ScanType.SEO, page_load, [check_result(["#hero"])])
    assert seo is not None
    assert seo.film is None
    assert pictures(ScanType.SECURITY, load({}), []) is None
    assert pictures(ScanType.SECURITY, None, []) is None


def test_crop_has_a_margin() -> None:
    illustrations = create_illustrations(PLACES, screenshot="/s", page="/p", frame=lambda number: f"/{number}")
    crops = illustrations.crops(CHECK)
    assert illustrations.url == "/p"
    assert sorted(crops) == [0, 2]
    for crop in crops.values():
        left, top, width, height = crop.view
        assert left >= 0 <= top
        assert left + width <= 412
        assert top + height <= 2000
        assert width >= 140
    assert [frame.marks for frame in illustrations.frames] == [(), ("First paint", "Largest paint")]
    assert illustrations.frames[1].alt == "The screen after 0.34 s: first paint and largest paint"


def test_repeated_element_has_one_crop() -> None:
    twice = stored_finding("image-alt", *elements("i", "b", "i"))
    illustrations = create_illustrations(PLACES, screenshot="/s", page="/p", frame=str)
    assert sorted(illustrations.crops(twice)) == [0]


def test_frames_are_extracted_from_the_film() -> None:
    assert [extract_frame(FILM, PLACES, number) for number in range(3)] == [b"first", b"second", None]
    assert extract_frame(None, PLACES, 0) is None
    assert extract_frame(FILM, None, 0) is None


def test_report_file_embeds_pictures() -> None:
    illustrations = illustrations_in_file(PLACES, screenshot=None, page=b"page", film=FILM, prefix="report-1-")
    assert (illustrations.id, illustrations.url) == ("report-1-picture", "data:image/webp;base64,cGFnZQ==")
    assert illustrations.frames[0].url == "data:image/jpeg;base64,Zmlyc3Q="
    assert illustrations_in_file(None, screenshot=None, page=None, film=None, prefix="") is NO_ILLUSTRATIONS


def scan_with_pictures(member: Member) -> Scan:
    scan = make_scan(member, type="performance")
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, pictures=Pictures(b"RIFF....WEBP", FILM, {**PLACES, "crops": {}})))
    return scan


@pytest.mark.django_db
def test_pictures_expire_with_their_report(home: Member, stranger: Member) -> None:
    scan = scan_with_pictures(home)
    member = person(home.organization)
    sources = page_of(member.get(f"/report/{scan.id}")).xpath("//ol[@class='film']//img/@src")
    assert len(sources) == 2
    for source, content, kind in (
        (sources[1], b"second", "image/jpeg"),
        (f"/report/{scan.id}/page.webp", b"RIFF....WEBP", "image/webp"),
    ):
        response = member.get(source)
        assert (response.content, response["Content-Type"]) == (content, kind)
        assert response["Cache-Control"] == "private, no-cache"
        assert member.get(source, headers={"If-None-Match": response["ETag"]}).status_code == 304
        assert person(stranger.organization).get(source).status_code == 404
        assert Client().get(source).status_code == 302
    assert member.get(f"/report/{scan.id}/film/2.jpg").status_code == 404
    Report.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert member.get(sources[1]).status_code == 404
    assert member.get(f"/report/{scan.id}/page.webp").status_code == 404
