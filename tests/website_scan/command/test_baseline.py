"""The baseline: findings that are already known, and findings that are news."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.website_scan.command.reports import failed, found, judged
from tests.website_scan.fingerprint_pairs.pairs import contrast, oversized
from website_scan import catalogue
from website_scan.command.baseline import STYLED, baseline_of, read_baseline, words_in
from website_scan.command.errors import WrongUsage
from website_scan.command.judged import ACCEPTED, IN_BASELINE, NOT_COMPARED, Gate, Judged
from website_scan.findings import ScanType, Severity
from website_scan.places import MOST_ROWS, Element, Header, Place, Resource, StyledElement
from website_scan.security.checks.disclosure import PrivateAddress
from website_scan.seo.checks.mobile import CrowdedTarget

HIGH, LOW = Severity.HIGH, Severity.LOW
A, B, PREVIEW = "https://example.com/a", "https://example.com/b", "https://preview-7.example.net/a"
CHROMIUM = "Chromium 156.0"


def image(src: str = "", path: str = "main") -> Element:
    tag = f'<img src="{src}">' if src else "<img>"
    return Element(f"{path} > img", tag, ancestry=f"html > body > {path} > img")


def of_images(*images: Element, url: str = A, browser: str | None = None) -> Judged:
    """Return a report of accessibility in which these images lack a text alternative."""
    return judged(found("image-alt", "fail", HIGH, *images), url=url, type=ScanType.ACCESSIBILITY, browser=browser)


def accepted(path: Path, before: Sequence[Judged], now: Judged, *others: str) -> Mapping[str, str]:
    """Return what a run on the page, and maybe on other URLs, accepts by a baseline of these reports."""
    path.write_text(baseline_of(before), encoding="utf-8")
    return read_baseline(path).accept(now, [now.url, *others]).accepted


def test_what_is_in_the_baseline_is_no_news_and_does_not_count(tmp_path: Path) -> None:
    before = judged(found("alt", "fail", HIGH, image("/a.png")), found("hsts", "warn", LOW), found("csp", "pass"))
    path = tmp_path / "known"
    path.write_text(baseline_of([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert report.accepted == {"alt": IN_BASELINE, "hsts": IN_BASELINE}
    assert report.score == 100
    assert report.document["score"] is not None
    assert report.document["score"] < 100
    assert not list(Gate({"": 100}, LOW).complaints(report))


@pytest.mark.parametrize(
    ("before", "now", "is_known"),
    [
        ([image("/a.png")], [image("/a.png")], True),
        ([image("/a.png")], [image("/a.png"), image("/b.png")], False),
        ([image("/a.png")], [image("/b.png")], False),
        ([image("/a.png")], [image("/a.png")] * 2, False),
        ([image()], [image()] * 11, False),
        ([image()] * 11, [image()] * 3, True),
        ([image("/a.png", "main > ul > li")] * 3, [image("/b.png", "main > ul > li")] * 3, True),
        ([image("/a.png", "main > ul > li")] * 3, [image("/b.png", "main > ul > li")] * 4, False),
        ([image("/a.png"), image("/b.png")], [image("/b.png"), image("/a.png", "div > main")], True),
    ],
)
def test_places_are_counted(tmp_path: Path, before: list[Element], now: list[Element], is_known: bool) -> None:
    assert bool(accepted(tmp_path / "known", [of_images(*before)], of_images(*now))) is is_known


def test_a_page_that_was_not_judged_shares_the_templates_of_the_others(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [of_images(image("/a.png"), image("/a.png"))]
    assert accepted(path, before, of_images(image("/a.png"), url=B))
    assert accepted(path, before, of_images(*[image("/a.png")] * 2, url=B))
    assert not accepted(path, before, of_images(*[image("/a.png")] * 3, url=B))
    assert not accepted(path, before, of_images(image("/b.png"), url=B))


def test_each_page_that_was_judged_has_its_own_number(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [of_images(*[image("/a.png")] * 5), of_images(image("/a.png"), url=B)]
    assert accepted(path, before, of_images(*[image("/a.png")] * 5), B)
    assert not accepted(path, before, of_images(*[image("/a.png")] * 2, url=B), A)


def test_a_finding_of_the_origin_is_known_on_every_page_and_one_of_a_page_on_its_own(tmp_path: Path) -> None:
    checks = (found("security-txt"), found("tls-cert-expiry"), found("hsts"))
    path, before = tmp_path / "known", [judged(*checks, url=A)]
    assert set(accepted(path, before, judged(*checks, url=B), A)) == {"security-txt", "tls-cert-expiry"}
    assert set(accepted(path, before, judged(*checks, url=A), B)) == {"security-txt", "tls-cert-expiry", "hsts"}


def test_a_preview_has_the_findings_of_the_site_and_another_site_its_own(tmp_path: Path) -> None:
    checks = (found("alt", "fail", HIGH, image("/a.png")), found("security-txt"), found("hsts"))
    path, before = tmp_path / "known", [judged(*checks, url=A)]
    assert len(accepted(path, before, judged(*checks, url=PREVIEW))) == 3
    assert accepted(path, before, judged(*checks, url=PREVIEW), A) == {}
    both = [judged(*checks, url=A), judged(found("security-txt"), url=PREVIEW)]
    assert set(accepted(path, both, judged(*checks, url=PREVIEW), A)) == {"security-txt"}
    assert accepted(path, both, judged(*checks, url="https://third.example.net/a")) == {}


def test_queries_of_pages_count_only_where_nothing_else_tells_them_apart(tmp_path: Path) -> None:
    path, page = tmp_path / "known", "https://example.com/?p="
    before = [judged(found("hsts"), url=f"{page}1")]
    assert "?p" not in baseline_of(before)
    assert accepted(path, before, judged(found("hsts"), url=f"{page}2"))
    before.append(judged(found("csp"), url=f"{page}2"))
    assert accepted(path, before, judged(found("hsts"), url=f"{page}1"))
    assert not accepted(path, before, judged(found("hsts"), url=f"{page}2"))


def test_places_that_a_full_list_may_have_left_out_are_no_news(tmp_path: Path) -> None:
    images = [image(f"/{name}.png") for name in "abcdefghijklmnopqrstuvwxyz"]
    before, now = of_images(*images[:MOST_ROWS]), of_images(*images[1 : MOST_ROWS + 1])
    assert accepted(tmp_path / "known", [before], now)
    assert not accepted(tmp_path / "known", [of_images(*images[:3])], now)


@pytest.mark.parametrize(
    ("was", "now", "reasons"),
    [
        (CHROMIUM, CHROMIUM, {}),
        (None, None, {}),
        (CHROMIUM, None, {"image-alt": IN_BASELINE}),
        (None, CHROMIUM, {"image-alt": NOT_COMPARED, "color-contrast": NOT_COMPARED}),
    ],
)
def test_without_the_browser_of_the_baseline_places_are_no_news_and_a_sentence_says_so(
    tmp_path: Path, was: str | None, now: str | None, reasons: Mapping[str, str]
) -> None:
    path = tmp_path / "known"
    before = judged(found("hsts"), url=A), of_images(image("/a.png"), browser=was)
    path.write_text(baseline_of(before))
    checks = (found("image-alt", "fail", HIGH, image("/b.png")), found("color-contrast"))
    report = judged(*checks, url=A, type=ScanType.ACCESSIBILITY, browser=now)
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == reasons
    caveats = list(baseline.caveats([judged(found("hsts"), url=A), report]))
    assert len(caveats) == (was != now)
    assert all("accessibility" in each and "security" not in each and "\n" not in each for each in caveats)


def test_a_type_that_was_not_judged_is_all_news(tmp_path: Path) -> None:
    report = of_images(image("/a.png"), browser=CHROMIUM)
    path = tmp_path / "known"
    path.write_text(baseline_of([judged(found("hsts"), url=A)]))
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == {}
    assert list(baseline.caveats([report])) == []


def test_what_was_accepted_before_stays_in_a_baseline_that_is_written_again(tmp_path: Path) -> None:
    before = judged(found("hsts"), found("csp"))
    path = tmp_path / "known"
    path.write_text(baseline_of([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert json.loads(baseline_of([report])) == json.loads(baseline_of([before]))


def test_a_baseline_reads_in_a_diff_and_is_the_same_twice() -> None:
    reports = [judged(found("hsts"), found("csp")), judged(found("hsts"), url=A), failed()]
    written = baseline_of(reports)
    assert written == baseline_of(list(reversed(reports)))
    lines = [line for line in written.splitlines() if '"check"' in line]
    assert [json.loads(line.strip().rstrip(","))["check"] for line in lines] == ["csp", "hsts"]
    assert json.loads(lines[1].strip())["pages"] == {"/": 1, "/a": 1}
    assert "/gone" not in written


def test_an_unchanged_finding_does_not_change_its_line() -> None:
    def report(digest: str, url: str) -> Judged:
        style = Resource(f"https://cdn.test/app.{digest}.css?v={digest}")
        return judged(found("sri", "fail", HIGH, style), found("alt", "fail", HIGH, image(f"/a.{digest}.png")), url=url)

    one, other = (baseline_of([report(digest, f"{A}?t={digest}")]) for digest in ("3f2a1b9c", "0a9b8c7d"))
    assert one == other
    assert "3f2a1b9c" not in one
    assert "//cdn.test/app.*.css" in one


def place_in(written: str) -> str:
    (entry,) = json.loads(written)["findings"]
    return str(entry["place"])


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        # Entries of a list share a fingerprint, not a picture.
        (
            [image("/a.png", "ul > li"), image("/b.png", "ul > li")],
            [image("/c.png", "ul > li"), image("/d.png", "ul > li")],
            "img",
        ),
        # Content does not tell which element a style sheet makes faulty.
        (
            [StyledElement("a:nth-child(1)", '<a href="/a">', ancestry="html > body > nav > a")],
            [StyledElement("a:nth-child(2)", '<a href="/b">', ancestry="html > body > nav > a")],
            "a",
        ),
        (
            [CrowdedTarget("a:nth-child(1)", '<a href="/a">', ancestry="html > body > a")],
            [CrowdedTarget("a:nth-child(2)", '<a href="/b">', ancestry="html > body > a")],
            "a",
        ),
        (
            [contrast("<p>Bread</p>"), contrast("<p>Milk</p>")],
            [contrast("<p>Bread</p>"), contrast("<p>Tea</p>")],
            "p #aaaaaa on #ffffff",
        ),
        (
            [oversized("a > img", "/a.3f2a1b9c.png")],
            [oversized("b > img", "https://example.com/a.9e8d7c6b.png")],
            "img /a.*.png",
        ),
        ([Header("X-Powered-By", "PHP/8.1")], [Header("x-powered-by", "PHP/8.2")], "x-powered-by"),
        ([PrivateAddress("10.0.0.1", "Line 3")], [PrivateAddress("10.0.0.1", "Line 14")], "line *"),
    ],
)
def test_the_words_for_a_place_endure_as_its_fingerprint(one: list[Place], other: list[Place], words: str) -> None:
    first, second = (baseline_of([judged(found("x", "fail", HIGH, *places))]) for places in (one, other))
    assert first == second
    assert place_in(first) == words


def test_all_kinds_of_elements_that_a_style_sheet_makes_faulty_are_known() -> None:
    for scan_type in ScanType:
        catalogue.checks(scan_type)  # loads all kinds
    kinds: list[type[Place]] = [StyledElement, *StyledElement.__subclasses__()]
    assert {each.kind for each in kinds} == STYLED


def test_a_replaced_baseline_hands_its_words_on(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert words_in(path) == {}
    # A selector that is only as long as it must be does not show that the image is the entry of a list.
    before, now = (
        judged(found("alt", "fail", HIGH, Element(f"img[src='{src}']", f'<img src="{src}">', ancestry="ul > li > img")))
        for src in ("/a.png", "/b.png")
    )
    path.write_text(baseline_of([before]))
    assert baseline_of([now]) != path.read_text()
    assert baseline_of([now], words=words_in(path)) == path.read_text()
    path.write_text("no baseline")
    assert words_in(path) == {}


def test_an_accepted_outcome_and_a_baseline_count_together(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(baseline_of([judged(found("csp"))]))
    now = judged(found("hsts", outcome="short"), found("csp"), found("alt", "pass"))
    baseline = read_baseline(path)
    report = baseline.accept(now.accepting_outcomes({"hsts.short"}), [now.url])
    assert report.accepted == {"hsts": ACCEPTED, "csp": IN_BASELINE}
    assert report.score == 100
    assert not list(Gate({"": 100}, LOW).complaints(report))
    (complaint,) = Gate(fail_on=LOW).complaints(baseline.accept(now, [now.url]))
    assert complaint == "security of https://example.com/: 1 new failure (low or higher): hsts is wrong."


@pytest.mark.parametrize(
    "written",
    [
        *("", "[]", "{}", "null", "\x00", "[" * 100_000, '{"version": 2}', '{"version": 3}'),
        *('{"version": 2, "origins": [], "pages": {}, "findings": [1]}', '{"version": 2, "findings": []}'),
        '{"version": 2, "origins": [], "pages": {"/": {"browser": [], "cut": []}}, "findings": []}',
        '{"version": 2, "origins": [], "pages": {}, "findings": [{"check": "", "fingerprint": "", "place": "", '
        '"pages": {}}]}',
    ],
)
def test_what_is_no_baseline_is_told_in_a_sentence(tmp_path: Path, written: str) -> None:
    path = tmp_path / "known"
    path.write_text(written)
    with pytest.raises(WrongUsage, match=r"known (is not a baseline|was written by another version)"):
        read_baseline(path)
    with pytest.raises(WrongUsage, match="can't be read"):
        read_baseline(tmp_path / "nowhere")


def test_a_baseline_of_the_former_kind_is_refused_with_the_command_that_writes_it_anew(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"version": 1, "cut": {}, "findings": []}')
    with pytest.raises(WrongUsage, match=r"another version of website-scan; write it again with --write-baseline \S+$"):
        read_baseline(path)
