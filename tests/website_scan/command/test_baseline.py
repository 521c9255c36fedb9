"""Baseline: which findings of a report are accepted, and which are new."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.website_scan.command.reports import check_result, failed_scan, judged
from tests.website_scan.fingerprint_pairs.pairs import contrast, oversized
from website_scan import catalogue
from website_scan.command.baseline import STYLED, baseline_text, read_baseline, read_place_texts
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
    """Return an accessibility report in which `images` lack a text alternative."""
    return judged(
        check_result("image-alt", "fail", HIGH, *images), url=url, type=ScanType.ACCESSIBILITY, browser=browser
    )


def accepted(path: Path, before: Sequence[Judged], now: Judged, *others: str) -> Mapping[str, str]:
    """Return the accepted checks of `now`, judged with a baseline of the reports `before`.

    `others` are further URLs of the command.
    """
    path.write_text(baseline_text(before), encoding="utf-8")
    return read_baseline(path).accept(now, [now.url, *others]).accepted


def test_findings_of_the_baseline_are_accepted_and_do_not_count_in_the_score(tmp_path: Path) -> None:
    before = judged(
        check_result("alt", "fail", HIGH, image("/a.png")),
        check_result("hsts", "warn", LOW),
        check_result("csp", "pass"),
    )
    path = tmp_path / "known"
    path.write_text(baseline_text([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert report.accepted == {"alt": IN_BASELINE, "hsts": IN_BASELINE}
    assert report.score == 100
    assert report.export["score"] is not None
    assert report.export["score"] < 100
    assert not list(Gate({"": 100}, LOW).complaints(report))


@pytest.mark.parametrize(
    ("before", "now", "is_accepted"),
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
def test_occurrences_of_places_are_counted(
    tmp_path: Path, before: list[Element], now: list[Element], is_accepted: bool
) -> None:
    assert bool(accepted(tmp_path / "known", [of_images(*before)], of_images(*now))) is is_accepted


def test_new_page_may_have_the_places_of_other_pages(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [of_images(image("/a.png"), image("/a.png"))]
    assert accepted(path, before, of_images(image("/a.png"), url=B))
    assert accepted(path, before, of_images(*[image("/a.png")] * 2, url=B))
    assert not accepted(path, before, of_images(*[image("/a.png")] * 3, url=B))
    assert not accepted(path, before, of_images(image("/b.png"), url=B))


def test_each_page_in_the_baseline_has_its_own_number_of_occurrences(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [of_images(*[image("/a.png")] * 5), of_images(image("/a.png"), url=B)]
    assert accepted(path, before, of_images(*[image("/a.png")] * 5), B)
    assert not accepted(path, before, of_images(*[image("/a.png")] * 2, url=B), A)


def test_finding_of_the_origin_is_accepted_on_new_pages_and_a_pages_own_is_not(tmp_path: Path) -> None:
    checks = (check_result("security-txt"), check_result("tls-cert-expiry"), check_result("hsts"))
    path, before = tmp_path / "known", [judged(*checks, url=A)]
    assert set(accepted(path, before, judged(*checks, url=B), A)) == {"security-txt", "tls-cert-expiry"}
    assert set(accepted(path, before, judged(*checks, url=A), B)) == {"security-txt", "tls-cert-expiry", "hsts"}


def test_preview_accepts_findings_of_the_site_and_another_site_does_not(tmp_path: Path) -> None:
    checks = (check_result("alt", "fail", HIGH, image("/a.png")), check_result("security-txt"), check_result("hsts"))
    path, before = tmp_path / "known", [judged(*checks, url=A)]
    assert len(accepted(path, before, judged(*checks, url=PREVIEW))) == 3
    assert accepted(path, before, judged(*checks, url=PREVIEW), A) == {}
    both = [judged(*checks, url=A), judged(check_result("security-txt"), url=PREVIEW)]
    assert set(accepted(path, both, judged(*checks, url=PREVIEW), A)) == {"security-txt"}
    assert accepted(path, both, judged(*checks, url="https://third.example.net/a")) == {}


def test_query_of_a_page_counts_only_if_pages_differ_in_it(tmp_path: Path) -> None:
    path, page = tmp_path / "known", "https://example.com/?p="
    before = [judged(check_result("hsts"), url=f"{page}1")]
    assert "?p" not in baseline_text(before)
    assert accepted(path, before, judged(check_result("hsts"), url=f"{page}2"))
    before.append(judged(check_result("csp"), url=f"{page}2"))
    assert accepted(path, before, judged(check_result("hsts"), url=f"{page}1"))
    assert not accepted(path, before, judged(check_result("hsts"), url=f"{page}2"))


def test_places_that_a_cut_list_may_lack_are_accepted(tmp_path: Path) -> None:
    images = [image(f"/{name}.png") for name in "abcdefghijklmnopqrstuvwxyz"]
    before, now = of_images(*images[:MOST_ROWS]), of_images(*images[1 : MOST_ROWS + 1])
    assert accepted(tmp_path / "known", [before], now)
    assert not accepted(tmp_path / "known", [of_images(*images[:3])], now)


@pytest.mark.parametrize(
    ("browser_before", "browser_now", "reasons"),
    [
        (CHROMIUM, CHROMIUM, {}),
        (None, None, {}),
        (CHROMIUM, None, {"image-alt": IN_BASELINE}),
        (None, CHROMIUM, {"image-alt": NOT_COMPARED, "color-contrast": NOT_COMPARED}),
    ],
)
def test_places_are_not_compared_if_only_one_of_both_had_a_browser_and_a_warning_is_given(
    tmp_path: Path, browser_before: str | None, browser_now: str | None, reasons: Mapping[str, str]
) -> None:
    path = tmp_path / "known"
    before = judged(check_result("hsts"), url=A), of_images(image("/a.png"), browser=browser_before)
    path.write_text(baseline_text(before))
    checks = (check_result("image-alt", "fail", HIGH, image("/b.png")), check_result("color-contrast"))
    report = judged(*checks, url=A, type=ScanType.ACCESSIBILITY, browser=browser_now)
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == reasons
    caveats = list(baseline.caveats([judged(check_result("hsts"), url=A), report]))
    assert len(caveats) == (browser_before != browser_now)
    assert all("accessibility" in caveat and "security" not in caveat and "\n" not in caveat for caveat in caveats)


def test_findings_of_a_scan_type_that_is_not_in_the_baseline_are_new(tmp_path: Path) -> None:
    report = of_images(image("/a.png"), browser=CHROMIUM)
    path = tmp_path / "known"
    path.write_text(baseline_text([judged(check_result("hsts"), url=A)]))
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == {}
    assert list(baseline.caveats([report])) == []


def test_rewritten_baseline_contains_accepted_findings(tmp_path: Path) -> None:
    before = judged(check_result("hsts"), check_result("csp"))
    path = tmp_path / "known"
    path.write_text(baseline_text([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert json.loads(baseline_text([report])) == json.loads(baseline_text([before]))


def test_baseline_has_one_sorted_line_for_each_finding() -> None:
    reports = [judged(check_result("hsts"), check_result("csp")), judged(check_result("hsts"), url=A), failed_scan()]
    written = baseline_text(reports)
    assert written == baseline_text(list(reversed(reports)))
    lines = [line for line in written.splitlines() if '"check"' in line]
    assert [json.loads(line.strip().rstrip(","))["check"] for line in lines] == ["csp", "hsts"]
    assert json.loads(lines[1].strip())["pages"] == {"/": 1, "/a": 1}
    assert "/gone" not in written


def test_line_of_an_unchanged_finding_does_not_change() -> None:
    def report(digest: str, url: str) -> Judged:
        style = Resource(f"https://cdn.test/app.{digest}.css?v={digest}")
        return judged(
            check_result("sri", "fail", HIGH, style),
            check_result("alt", "fail", HIGH, image(f"/a.{digest}.png")),
            url=url,
        )

    one, other = (baseline_text([report(digest, f"{A}?t={digest}")]) for digest in ("3f2a1b9c", "0a9b8c7d"))
    assert one == other
    assert "3f2a1b9c" not in one
    assert "//cdn.test/app.*.css" in one


def place_in(written: str) -> str:
    (entry,) = json.loads(written)["findings"]
    return str(entry["place"])


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        # Entries of a list have the same fingerprint, but different images.
        (
            [image("/a.png", "ul > li"), image("/b.png", "ul > li")],
            [image("/c.png", "ul > li"), image("/d.png", "ul > li")],
            "img",
        ),
        # The content of an element does not matter for a fault of a style sheet.
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
def test_words_of_a_place_change_only_with_its_fingerprint(one: list[Place], other: list[Place], words: str) -> None:
    first, second = (baseline_text([judged(check_result("x", "fail", HIGH, *places))]) for places in (one, other))
    assert first == second
    assert place_in(first) == words


def test_styled_kinds_are_all_subclasses_of_styled_element() -> None:
    for scan_type in ScanType:
        catalogue.checks(scan_type)  # loads all kinds
    kinds: list[type[Place]] = [StyledElement, *StyledElement.__subclasses__()]
    assert {kind.kind for kind in kinds} == STYLED


def test_rewritten_baseline_keeps_the_words_of_its_places(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert read_place_texts(path) == {}
    # Fingerprints use the ancestry, but the short selector does not contain that the image is in a list.
    before, now = (
        judged(
            check_result(
                "alt", "fail", HIGH, Element(f"img[src='{src}']", f'<img src="{src}">', ancestry="ul > li > img")
            )
        )
        for src in ("/a.png", "/b.png")
    )
    path.write_text(baseline_text([before]))
    assert baseline_text([now]) != path.read_text()
    assert baseline_text([now], words=read_place_texts(path)) == path.read_text()
    path.write_text("no baseline")
    assert read_place_texts(path) == {}


def test_accepted_outcomes_and_the_baseline_are_combined(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(baseline_text([judged(check_result("csp"))]))
    now = judged(check_result("hsts", outcome="short"), check_result("csp"), check_result("alt", "pass"))
    baseline = read_baseline(path)
    report = baseline.accept(now.with_accepted_outcomes({"hsts.short"}), [now.url])
    assert report.accepted == {"hsts": ACCEPTED, "csp": IN_BASELINE}
    assert report.score == 100
    assert not list(Gate({"": 100}, LOW).complaints(report))
    (complaint,) = Gate(fail_on=LOW).complaints(baseline.accept(now, [now.url]))
    assert complaint == "security of https://example.com/: 1 new failure (low or higher): hsts is wrong."


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "null", "\x00", "[" * 100_000, '{"version": 2}', '{"version": 3}'),
        *('{"version": 2, "origins": [], "pages": {}, "findings": [1]}', '{"version": 2, "findings": []}'),
        '{"version": 2, "origins": [], "pages": {"/": {"browser": [], "cut": []}}, "findings": []}',
        '{"version": 2, "origins": [], "pages": {}, "findings": [{"check": "", "fingerprint": "", "place": "", '
        '"pages": {}}]}',
    ],
)
def test_invalid_baseline_is_refused_with_a_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "known"
    path.write_text(content)
    with pytest.raises(WrongUsage, match=r"known (is not a baseline|was written by another version)"):
        read_baseline(path)
    with pytest.raises(WrongUsage, match="can't be read"):
        read_baseline(tmp_path / "nowhere")


def test_baseline_of_an_old_version_is_refused_with_the_command_to_rewrite_it(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"version": 1, "cut": {}, "findings": []}')
    with pytest.raises(WrongUsage, match=r"another version of website-scan; write it again with --write-baseline \S+$"):
        read_baseline(path)
