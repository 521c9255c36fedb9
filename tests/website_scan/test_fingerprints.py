"""Tests for fingerprints.

A fingerprint identifies a finding in other scans and on other pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.results import elements, stored_finding
from tests.website_scan.fingerprint_pairs.different import DIFFERENT
from tests.website_scan.fingerprint_pairs.pairs import PAGE, Pair, contrast, cookie, element
from tests.website_scan.fingerprint_pairs.same import SAME
from tests.website_scan.kinds_of_places import place_kinds, places_of_kind
from website_scan.fingerprints import fingerprint, fingerprints
from website_scan.generated_names import mask_generated_parts
from website_scan.performance.checks.loading import Figures
from website_scan.places import Header, Place, RedirectHop, Resource, Rows
from website_scan.report.places import occurrences_by_fingerprint
from website_scan.written_urls import split_url


def fingerprints_of_place(check_id: str, *places: Place, url: str = PAGE) -> set[str]:
    return set(fingerprints(check_id, places, url))


def pair_id(pair: Pair) -> str:
    return pair.why


def test_fingerprint_examples_are_valid() -> None:
    named = {(pair.check_id, str(pair.one), str(pair.other)) for pair in (*SAME, *DIFFERENT)}
    assert len(named) == len(SAME) + len(DIFFERENT) >= 250
    assert all(pair.is_same for pair in SAME)
    assert not any(pair.is_same for pair in DIFFERENT)
    assert all(pair.one != pair.other for pair in (*SAME, *DIFFERENT))


@pytest.mark.parametrize("pair", SAME, ids=pair_id)
def test_same_place_has_same_fingerprint(pair: Pair) -> None:
    assert fingerprints_of_place(pair.check_id, pair.one) == fingerprints_of_place(pair.check_id, pair.other)


@pytest.mark.parametrize("pair", DIFFERENT, ids=pair_id)
def test_other_places_have_other_fingerprints(pair: Pair) -> None:
    assert fingerprints_of_place(pair.check_id, pair.one) != fingerprints_of_place(pair.check_id, pair.other)


@pytest.mark.parametrize(
    ("check_id", "on_bread", "on_cake"),
    [
        ("cache-short", Resource(PAGE), Resource("https://www.example.com/shop/cake")),
        ("canonical-host", Resource("https://old.test/shop/bread"), Resource("https://old.test/shop/cake")),
        ("cache-short", Resource("https://www.example.com/app.js"), Resource("https://www.example.com/app.js")),
        ("cookie-secure", cookie("a", "www.example.com"), cookie("a", "www.example.com")),
        ("link-name", element('<a href="/cart">', "header > p"), element('<a href="/cart">', "div > header > p")),
        ("broken-links", Resource("https://twitter.com/"), Resource("https://twitter.com/")),
    ],
)
def test_template_fault_has_one_fingerprint(check_id: str, on_bread: Place, on_cake: Place) -> None:
    assert fingerprints_of_place(check_id, on_bread) == fingerprints_of_place(
        check_id, on_cake, url="https://www.example.com/shop/cake"
    )


def test_foreign_file_has_another_fingerprint() -> None:
    """Fingerprints omit only the page's own host.

    A URL on a.test has another fingerprint on b.test.
    """
    script = Resource("https://a.test/app.js")
    assert fingerprints_of_place("cache-short", script, url="https://a.test/") != fingerprints_of_place(
        "cache-short", script, url="https://b.test/"
    )


def test_finding_without_place_has_fingerprint() -> None:
    assert fingerprints_of_place("hsts") == fingerprints_of_place("hsts", RedirectHop(1, PAGE)) == {fingerprint("hsts")}
    assert fingerprints_of_place("hsts") != fingerprints_of_place("csp-present")


def test_fingerprints_have_place_names() -> None:
    names = fingerprints("link-name", [element("<a>", selector="#main > a:nth-of-type(2)")], PAGE)
    assert list(names.values()) == ["#main > a:nth-of-type(2)"]
    assert list(fingerprints("powered-by", [Header("Server", "x")], PAGE).values()) == ["Server"]


@pytest.mark.parametrize(
    ("place", "normal"),
    [
        (element('<img src="/a.3f2a1b9c.png?v=3">'), "img /a.*.png"),
        (element('<input id="mail" name="m">'), "#mail"),
        (element('<input name="q">'), "input name=q"),
        (element("<button>", "div > footer > div"), "footer button"),
        (contrast("<p>A</p>"), "p #aaaaaa on #ffffff"),
        (Resource("https://cdn.test/app.3f2a1b9c.js?v=3"), "//cdn.test/app.*.js"),
        (RedirectHop(1, PAGE), ""),
    ],
)
def test_fingerprint_uses_normal_form(place: Place, normal: str) -> None:
    assert place.normal(split_url(PAGE)) == normal
    assert fingerprints_of_place("x", place) == {fingerprint("x", normal)}


@pytest.mark.parametrize(
    ("check_id", "places", "counts"),
    [
        ("image-alt", [element("<img>", selector=f"img:nth-of-type({n})") for n in range(3)], [3]),
        ("image-alt", [element('<img src="/a.png">')] * 2, [2]),
        ("image-alt", [element(f'<img src="/{n}.png">', "main > ul > li") for n in range(12)], [12]),
        ("button-name", [element("<button>"), element("<button>", "nav"), element("<button>")], [2, 1]),
        ("color-contrast", [contrast(f"<p>{n}</p>") for n in "abcd"], [4]),
        ("cache-short", [Resource(f"/chunk-{digest}.js") for digest in ("3f2a1b9c", "8d7e6f5a")], [1]),
        ("third-party", [Resource(f"https://ads.test/pixel?{n}") for n in range(5)], [1]),
        ("cookie-secure", [cookie(f"_ga_{name}", "a.test") for name in ("3K9XZ81LQ2", "7P4MW05TB6")], [1]),
        ("lcp", [Figures(2.5, 2, 5, 3, True, None, snippet="<img>")] * 3, [1]),
        ("hsts", [], [1]),
    ],
)
def test_fingerprint_counts_elements(check_id: str, places: Sequence[Place], counts: list[int]) -> None:
    occurrences = occurrences_by_fingerprint(stored_finding(check_id, *places, url=PAGE))
    assert [len(texts) for texts in occurrences.values()] == counts
    assert {digits: texts[0] for digits, texts in occurrences.items()} == fingerprints(check_id, places, PAGE)


def test_rows_that_explain_have_no_identity() -> None:
    finding = stored_finding("total-weight", details=Rows.of([Resource("/a.js"), *elements("#a")]))
    assert list(occurrences_by_fingerprint(finding)) == [fingerprint("total-weight")]


def test_stored_fingerprints_never_change() -> None:
    """A new normal form would invalidate stored mutes and baselines."""
    places = (
        ("hsts", RedirectHop(1, PAGE), "2ae39fffef2b373d"),
        ("link-name", element('<a class="btn" href="/cart">', "header > p"), "1282c01b8f04bc65"),
        ("image-alt", element('<img src="/a.png">', "main > ul > li"), "bcc8037758fbffdc"),
        ("label", element('<input id="mail">'), "d193c4d3b17769b1"),
        ("color-contrast", contrast("<p>A</p>"), "a283c758f568ae21"),
        ("cache-short", Resource("/app.3f2a1b9c.js"), "3f9ebfa4bc9b4b54"),
        ("powered-by", Header("Server", "nginx"), "49583d7100bc37fa"),
        ("cookie-secure", cookie("session", "example.com"), "5af85dfe075e7cb5"),
    )
    assert [(check_id, *fingerprints_of_place(check_id, place)) for check_id, place, _ in places] == [
        (check_id, digits) for check_id, _, digits in places
    ]


@given(st.lists(st.sampled_from(["#a", "#b > p", "li:nth-of-type(2)", "div.css-1x2y3z"])), st.randoms())
def test_fingerprints_ignore_order_of_places(selectors: list[str], dice: Any) -> None:
    places = elements(*selectors)
    shuffled = [*places, *places]
    dice.shuffle(shuffled)
    assert fingerprints_of_place("tap-targets", *places) == fingerprints_of_place("tap-targets", *shuffled)


@given(
    st.sampled_from(place_kinds()).flatmap(lambda kind: places_of_kind(kind, st.text(max_size=300))),
    st.text(max_size=60),
)
def test_any_place_has_a_fingerprint(place: Place, url: str) -> None:
    for digits in fingerprints("x", [place], PAGE) | fingerprints("x", [place], f"https://x.test/{url}"):
        assert len(digits) == 16


@given(st.text(max_size=300))
def test_mask_generated_parts_is_idempotent(name: str) -> None:
    once = mask_generated_parts(name)
    assert mask_generated_parts(once) == once


# These place kinds describe the whole page or explain a figure.
KINDS_WITHOUT_IDENTITY = {
    "attempt",
    "busy-time",
    "caa-record",
    "canonical-target",
    "cause",
    "certificate",
    "cors",
    "criterion",
    "dns-record",
    "dnssec-key",
    "dnssec-signature",
    "estimated-load",
    "figures",
    "largest-image",
    "long-task",
    "missing-path",
    "nonces",
    "policy",
    "redirect",
    "refresh",
    "shift-figures",
    "shifted-element",
    "spf-lookup",
}


def test_listed_place_kinds_have_no_identity() -> None:
    placeless = {kind.kind for kind in place_kinds() if not kind.identity() and kind.normal is Place.normal}
    assert placeless == KINDS_WITHOUT_IDENTITY
