"""Tests for baselines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from tests.website_scan.fingerprint_pairs.pairs import contrast, oversized
from website_scan import catalogue
from website_scan.command.baseline import STYLED, baseline_text, read_baseline, read_place_texts
from website_scan.command.errors import WrongUsage
from website_scan.command.gate import ACCEPTED, BASELINE_REASON, NOT_COMPARED_REASON, CommandReport, Gate
from website_scan.findings import ScanType, Severity
from website_scan.places import MAX_STORED_PLACES, Element, Header, Place, Resource, StyledElement
from website_scan.security.checks.disclosure import PrivateAddress
from website_scan.seo.checks.mobile import CrowdedTarget

HIGH, LOW = Severity.HIGH, Severity.LOW
A, B, PREVIEW = "https://example.com/a", "https://example.com/b", "https://preview-7.example.net/a"
CHROMIUM = "Chromium 156.0"


def image(src: str = "", path: str = "main") -> Element:
    tag = f'<img src="{src}">' if src else "<img>"
    return Element(f"{path} > img", tag, ancestry=f"html > body > {path} > img")


def image_report(*images: Element, url: str = A, browser: str | None = None) -> CommandReport:
    """Return an accessibility report about images without alt text."""
    return judged_report(
        check_result("image-alt", "fail", HIGH, *images), url=url, type=ScanType.ACCESSIBILITY, browser=browser
    )


def accepted_checks(path: Path, before: Sequence[CommandReport], now: CommandReport, *others: str) -> Mapping[str, str]:
    """Return the checks of `now` that a baseline of `before` accepts.

    Their values are the reasons.

    `others` are further URLs of the command.
    """
    path.write_text(baseline_text(before), encoding="utf-8")
    return read_baseline(path).accept(now, [now.url, *others]).accepted


def test_accepted_findings_do_not_lower_the_score(tmp_path: Path) -> None:
    before = judged_report(
        check_result("alt", "fail", HIGH, image("/a.png")),
        check_result("hsts", "warn", LOW),
        check_result("csp", "pass"),
    )
    path = tmp_path / "known"
    path.write_text(baseline_text([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert report.accepted == {"alt": BASELINE_REASON, "hsts": BASELINE_REASON}
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
def test_baseline_counts_occurrences_of_a_place(
    tmp_path: Path, before: list[Element], now: list[Element], is_accepted: bool
) -> None:
    assert bool(accepted_checks(tmp_path / "known", [image_report(*before)], image_report(*now))) is is_accepted


def test_known_places_are_accepted_on_a_new_page(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [image_report(image("/a.png"), image("/a.png"))]
    assert accepted_checks(path, before, image_report(image("/a.png"), url=B))
    assert accepted_checks(path, before, image_report(*[image("/a.png")] * 2, url=B))
    assert not accepted_checks(path, before, image_report(*[image("/a.png")] * 3, url=B))
    assert not accepted_checks(path, before, image_report(image("/b.png"), url=B))


def test_baseline_counts_occurrences_per_page(tmp_path: Path) -> None:
    path, before = tmp_path / "known", [image_report(*[image("/a.png")] * 5), image_report(image("/a.png"), url=B)]
    assert accepted_checks(path, before, image_report(*[image("/a.png")] * 5), B)
    assert not accepted_checks(path, before, image_report(*[image("/a.png")] * 2, url=B), A)


def test_new_pages_accept_only_origin_findings(tmp_path: Path) -> None:
    checks = (check_result("security-txt"), check_result("tls-cert-expiry"), check_result("hsts"))
    path, before = tmp_path / "known", [judged_report(*checks, url=A)]
    assert set(accepted_checks(path, before, judged_report(*checks, url=B), A)) == {"security-txt", "tls-cert-expiry"}
    assert set(accepted_checks(path, before, judged_report(*checks, url=A), B)) == {
        "security-txt",
        "tls-cert-expiry",
        "hsts",
    }


def test_baseline_applies_to_a_preview(tmp_path: Path) -> None:
    checks = (check_result("alt", "fail", HIGH, image("/a.png")), check_result("security-txt"), check_result("hsts"))
    path, before = tmp_path / "known", [judged_report(*checks, url=A)]
    assert len(accepted_checks(path, before, judged_report(*checks, url=PREVIEW))) == 3
    assert accepted_checks(path, before, judged_report(*checks, url=PREVIEW), A) == {}
    both = [judged_report(*checks, url=A), judged_report(check_result("security-txt"), url=PREVIEW)]
    assert set(accepted_checks(path, both, judged_report(*checks, url=PREVIEW), A)) == {"security-txt"}
    assert accepted_checks(path, both, judged_report(*checks, url="https://third.example.net/a")) == {}


def test_query_matters_only_if_pages_differ_in_it(tmp_path: Path) -> None:
    path, page = tmp_path / "known", "https://example.com/?p="
    before = [judged_report(check_result("hsts"), url=f"{page}1")]
    assert "?p" not in baseline_text(before)
    assert accepted_checks(path, before, judged_report(check_result("hsts"), url=f"{page}2"))
    before.append(judged_report(check_result("csp"), url=f"{page}2"))
    assert accepted_checks(path, before, judged_report(check_result("hsts"), url=f"{page}1"))
    assert not accepted_checks(path, before, judged_report(check_result("hsts"), url=f"{page}2"))


def test_truncated_baseline_list_accepts_places(tmp_path: Path) -> None:
    images = [image(f"/{name}.png") for name in "abcdefghijklmnopqrstuvwxyz"]
    before, now = image_report(*images[:MAX_STORED_PLACES]), image_report(*images[1 : MAX_STORED_PLACES + 1])
    assert accepted_checks(tmp_path / "known", [before], now)
    assert not accepted_checks(tmp_path / "known", [image_report(*images[:3])], now)


@pytest.mark.parametrize(
    ("browser_before", "browser_now", "reasons"),
    [
        (CHROMIUM, CHROMIUM, {}),
        (None, None, {}),
        (CHROMIUM, None, {"image-alt": BASELINE_REASON}),
        (None, CHROMIUM, {"image-alt": NOT_COMPARED_REASON, "color-contrast": NOT_COMPARED_REASON}),
    ],
)
def test_baseline_warns_if_only_one_scan_had_a_browser(
    tmp_path: Path, browser_before: str | None, browser_now: str | None, reasons: Mapping[str, str]
) -> None:
    path = tmp_path / "known"
    before = judged_report(check_result("hsts"), url=A), image_report(image("/a.png"), browser=browser_before)
    path.write_text(baseline_text(before))
    checks = (check_result("image-alt", "fail", HIGH, image("/b.png")), check_result("color-contrast"))
    report = judged_report(*checks, url=A, type=ScanType.ACCESSIBILITY, browser=browser_now)
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == reasons
    caveats = list(baseline.caveats([judged_report(check_result("hsts"), url=A), report]))
    assert len(caveats) == (browser_before != browser_now)
    assert all("accessibility" in caveat and "security" not in caveat and "\n" not in caveat for caveat in caveats)


def test_findings_of_a_new_scan_type_are_new(tmp_path: Path) -> None:
    report = image_report(image("/a.png"), browser=CHROMIUM)
    path = tmp_path / "known"
    path.write_text(baseline_text([judged_report(check_result("hsts"), url=A)]))
    baseline = read_baseline(path)
    assert baseline.accept(report, [A]).accepted == {}
    assert list(baseline.caveats([report])) == []


def test_rewritten_baseline_contains_accepted_findings(tmp_path: Path) -> None:
    before = judged_report(check_result("hsts"), check_result("csp"))
    path = tmp_path / "known"
    path.write_text(baseline_text([before]))
    report = read_baseline(path).accept(before, [before.url])
    assert json.loads(baseline_text([report])) == json.loads(baseline_text([before]))


def test_baseline_has_one_sorted_line_per_finding() -> None:
    reports = [
        judged_report(check_result("hsts"), check_result("csp")),
        judged_report(check_result("hsts"), url=A),
        failed_scan(),
    ]
    written = baseline_text(reports)
    assert written == baseline_text(list(reversed(reports)))
    lines = [line for line in written.splitlines() if '"check"' in line]
    assert [json.loads(line.strip().rstrip(","))["check"] for line in lines] == ["csp", "hsts"]
    assert json.loads(lines[1].strip())["pages"] == {"/": 1, "/a": 1}
    assert "/gone" not in written


def test_unchanged_finding_keeps_its_baseline_line() -> None:
    def report(digest: str, url: str) -> CommandReport:
        style = Resource(f"https://cdn.test/app.{digest}.css?v={digest}")
        return judged_report(
            check_result("sri", "fail", HIGH, style),
            check_result("alt", "fail", HIGH, image(f"/a.{digest}.png")),
            url=url,
        )

    one, other = (baseline_text([report(digest, f"{A}?t={digest}")]) for digest in ("3f2a1b9c", "0a9b8c7d"))
    assert one == other
    assert "3f2a1b9c" not in one
    assert "//cdn.test/app.*.css" in one


def first_place(written: str) -> str:
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
        # The fault of a style sheet does not depend on the content of the element.
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
def test_place_label_belongs_to_its_fingerprint(one: list[Place], other: list[Place], words: str) -> None:
    first, second = (
        baseline_text([judged_report(check_result("x", "fail", HIGH, *places))]) for places in (one, other)
    )
    assert first == second
    assert first_place(first) == words


def test_styled_kinds_are_subclasses_of_StyledElement() -> None:
    for scan_type in ScanType:
        catalogue.checks(scan_type)  # Loading the catalogue defines all subclasses of `Place`.
    kinds: list[type[Place]] = [StyledElement, *StyledElement.__subclasses__()]
    assert {kind.kind for kind in kinds} == STYLED


def test_rewritten_baseline_keeps_the_labels_of_places(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    assert read_place_texts(path) == {}
    # The short selector does not show the list around the image, but fingerprints use it.
    before, now = (
        judged_report(
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


def test_accepted_outcomes_work_with_a_baseline(tmp_path: Path) -> None:
    path = tmp_path / "known"
    path.write_text(baseline_text([judged_report(check_result("csp"))]))
    now = judged_report(check_result("hsts", outcome="short"), check_result("csp"), check_result("alt", "pass"))
    baseline = read_baseline(path)
    report = baseline.accept(now.accept_outcomes({"hsts.short"}), [now.url])
    assert report.accepted == {"hsts": ACCEPTED, "csp": BASELINE_REASON}
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
def test_invalid_baseline_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "known"
    path.write_text(content)
    with pytest.raises(WrongUsage, match=r"known (is not a baseline|was written by another version)"):
        read_baseline(path)
    with pytest.raises(WrongUsage, match="can't be read"):
        read_baseline(tmp_path / "nowhere")


def test_outdated_baseline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text('{"version": 1, "cut": {}, "findings": []}')
    with pytest.raises(WrongUsage, match=r"another version of website-scan; write it again with --write-baseline \S+$"):
        read_baseline(path)
