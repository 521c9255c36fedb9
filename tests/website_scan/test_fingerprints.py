"""Fingerprints of findings: which findings are the same in another scan, or on another page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import website_scan as engine
from tests.website_scan.fingerprint_pairs.different import DIFFERENT
from tests.website_scan.fingerprint_pairs.pairs import GREY, PAGE, Item, Pair, element
from tests.website_scan.fingerprint_pairs.same import SAME
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.fingerprints import OF_THE_PAGE, PLACES, STYLED, fingerprint, fingerprints, normal_places, occurrences
from website_scan.generated_names import without_generated

ENGINE = Path(engine.__file__).parent


def prints(check_id: str, *items: Item, url: str = PAGE) -> set[str]:
    return set(fingerprints(check_id, items, url))


def told(pair: Pair) -> str:
    return pair.why


def test_the_table_has_enough_pairs_and_none_twice() -> None:
    named = {(each.check_id, str(each.one), str(each.other)) for each in (*SAME, *DIFFERENT)}
    assert len(named) == len(SAME) + len(DIFFERENT) >= 250
    assert all(each.is_same for each in SAME)
    assert not any(each.is_same for each in DIFFERENT)
    assert all(each.one != each.other for each in (*SAME, *DIFFERENT))


@pytest.mark.parametrize("pair", SAME, ids=told)
def test_the_same_place_has_the_same_fingerprint(pair: Pair) -> None:
    assert prints(pair.check_id, pair.one) == prints(pair.check_id, pair.other)


@pytest.mark.parametrize("pair", DIFFERENT, ids=told)
def test_another_place_has_another_fingerprint(pair: Pair) -> None:
    assert prints(pair.check_id, pair.one) != prints(pair.check_id, pair.other)


@pytest.mark.parametrize(
    ("check_id", "on_bread", "on_cake"),
    [
        ("cache-short", {"url": PAGE}, {"url": "https://www.example.com/shop/cake"}),
        ("canonical-host", {"url": "https://old.test/shop/bread"}, {"url": "https://old.test/shop/cake"}),
        ("cache-short", {"url": "https://www.example.com/app.js"}, {"url": "https://www.example.com/app.js"}),
        ("cookie-secure", {"cookie": "a", "host": "www.example.com"}, {"cookie": "a", "host": "www.example.com"}),
        ("link-name", element('<a href="/cart">', "header > p"), element('<a href="/cart">', "div > header > p")),
        ("broken-links", {"url": "https://twitter.com/"}, {"url": "https://twitter.com/"}),
    ],
)
def test_a_fault_of_the_template_is_the_same_on_all_pages(check_id: str, on_bread: Item, on_cake: Item) -> None:
    assert prints(check_id, on_bread) == prints(check_id, on_cake, url="https://www.example.com/shop/cake")


def test_another_host_has_its_own_pages() -> None:
    """On a.test the URL is the page's own, on b.test another site's; fingerprints only drop the page's own host."""
    item = {"url": "https://a.test/app.js"}
    assert prints("cache-short", item, url="https://a.test/") != prints("cache-short", item, url="https://b.test/")


def test_a_finding_without_a_place_is_the_check_itself() -> None:
    assert prints("hsts") == prints("hsts", {"status": 200}) == {fingerprint("hsts")}
    assert prints("hsts") != prints("csp-present")


def test_a_place_is_told_as_the_evidence_names_it() -> None:
    found = fingerprints("link-name", [element("<a>", selector="#main > a:nth-of-type(2)")], PAGE)
    assert list(found.values()) == ["#main > a:nth-of-type(2)"]
    assert list(fingerprints("powered-by", [{"header": "Server", "value": "x"}], PAGE).values()) == ["Server"]


@pytest.mark.parametrize(
    ("check_id", "item", "place"),
    [
        ("image-alt", element('<img src="/a.3f2a1b9c.png?v=3">'), "img /a.*.png"),
        ("label", element('<input id="mail" name="m">'), "#mail"),
        ("label", element('<input name="q">'), "input name=q"),
        ("button-name", element("<button>", "div > footer > div"), "footer button"),
        ("color-contrast", element("<p>A</p>", why=GREY), "p #aaaaaa on #ffffff"),
        ("cache-short", {"url": "https://cdn.test/app.3f2a1b9c.js?v=3"}, "//cdn.test/app.*.js"),
        ("hsts", {"status": 200}, ""),
    ],
)
def test_a_stored_place_is_what_endures_of_it(check_id: str, item: Item, place: str) -> None:
    assert normal_places(check_id, [item], PAGE) == {fingerprint(check_id, place): place}


@pytest.mark.parametrize(
    ("check_id", "items", "counts"),
    [
        ("image-alt", [element("<img>", selector=f"img:nth-of-type({n})") for n in range(3)], [3]),
        ("image-alt", [element('<img src="/a.png">')] * 2, [2]),
        ("image-alt", [element(f'<img src="/{n}.png">', "main > ul > li") for n in range(12)], [12]),
        ("button-name", [element("<button>"), element("<button>", "nav"), element("<button>")], [2, 1]),
        ("color-contrast", [element(f"<p>{n}</p>", why=GREY) for n in "abcd"], [4]),
        ("cache-short", [{"url": f"/chunk-{digest}.js"} for digest in ("3f2a1b9c", "8d7e6f5a")], [1]),
        ("third-party", [{"url": f"https://ads.test/pixel?{n}"} for n in range(5)], [1]),
        ("cookie-secure", [{"cookie": f"_ga_{name}", "host": "a.test"} for name in ("3K9XZ81LQ2", "7P4MW05TB6")], [1]),
        ("lcp", [element("<img>")] * 3, [1]),
        ("hsts", [], [1]),
    ],
)
def test_elements_of_a_kind_are_counted_and_what_comes_and_goes_by_itself_is_not(
    check_id: str, items: list[Item], counts: list[int]
) -> None:
    found = occurrences(check_id, items, PAGE)
    assert [len(texts) for texts in found.values()] == counts
    assert {each: texts[0] for each, texts in found.items()} == fingerprints(check_id, items, PAGE)


def test_fingerprints_are_kept_outside_of_reports_and_must_not_change() -> None:
    """Changing a normal form invalidates all mutes and baselines that name such a place."""
    items = (
        ("hsts", {"status": 1}, "2ae39fffef2b373d"),
        ("link-name", element('<a class="btn" href="/cart">', "header > p"), "1282c01b8f04bc65"),
        ("image-alt", element('<img src="/a.png">', "main > ul > li"), "bcc8037758fbffdc"),
        ("label", element('<input id="mail">'), "d193c4d3b17769b1"),
        ("color-contrast", element("<p>A</p>", why=GREY), "a283c758f568ae21"),
        ("cache-short", {"url": "/app.3f2a1b9c.js"}, "3f9ebfa4bc9b4b54"),
        ("powered-by", {"header": "Server"}, "49583d7100bc37fa"),
        ("cookie-secure", {"cookie": "session", "host": "example.com"}, "5af85dfe075e7cb5"),
    )
    assert [(each, *prints(each, item)) for each, item, _ in items] == [(each, kept) for each, _, kept in items]


@given(st.lists(st.sampled_from(["#a", "#b > p", "li:nth-of-type(2)", "div.css-1x2y3z"])), st.randoms())
def test_order_and_repetition_do_not_matter(selectors: list[str], dice: Any) -> None:
    items = [{"selector": each} for each in selectors]
    shuffled = [*items, *items]
    dice.shuffle(shuffled)
    assert prints("tap-targets", *items) == prints("tap-targets", *shuffled)


@given(
    st.dictionaries(
        st.sampled_from(sorted({name for group in PLACES for name in group})),
        st.one_of(st.text(max_size=300), st.integers(), st.none(), st.booleans()),
    ),
    st.text(max_size=60),
)
def test_whatever_a_site_sends_has_a_fingerprint(item: Item, url: str) -> None:
    for check_id in ("link-name", "lcp"):
        for found in fingerprints(check_id, [item], PAGE) | fingerprints(check_id, [item], f"https://x.test/{url}"):
            assert len(found) == 16


@given(st.text(max_size=300))
def test_a_name_without_what_was_generated_stays_as_it_is(name: str) -> None:
    once = without_generated(name)
    assert without_generated(once) == once


def test_the_checks_with_rules_of_their_own_are_checks_of_ours() -> None:
    assert {each.id for scan_type in ScanType for each in checks(scan_type)} >= OF_THE_PAGE | STYLED


# Keys of evidence that is about the page as a whole, and of a dictionary that is not evidence.
TELLS_NO_PLACE = [
    {"access-control-allow-credentials", "access-control-allow-origin", "origin"},
    {"asked", "status"},
    {"at_s", "duration_ms"},
    {"canonical", "page"},
    {"canonical", "robots", "title"},
    {"document_seconds", "not_counted", "requests", "seconds", "wire_bytes"},
    {"fields", "url"},
    {"host_ms", "largest", "least", "loads", "median", "stable"},
    {"level", "wcag"},
    {"level", "seconds", "wcag"},
    {"nonces_seen_twice"},
    {"policy"},
    {"proof"},
    {"record", "type"},
    {"seconds"},
    {"ttfb_ms", "try"},
]


def test_every_item_of_evidence_names_its_place_or_is_known_to_name_none() -> None:
    placeless = [names for names in _evidence_names() if not any(names >= set(group) for group in PLACES)]
    assert [names for names in placeless if names not in TELLS_NO_PLACE] == []


def _evidence_names() -> Iterator[set[str]]:
    """Yield the keys of all literal dictionaries in checks. Keys from `{**…}` are yielded with their own dictionary."""
    for path in ENGINE.glob("*/checks/*.py"):
        functions = [each for each in ast.parse(path.read_text("utf-8")).body if isinstance(each, ast.FunctionDef)]
        for node in (node for each in functions for node in ast.walk(each)):
            if isinstance(node, ast.Dict) and node.keys:
                names = [each.value for each in node.keys if isinstance(each, ast.Constant)]
                if len(names) == len(node.keys) and all(isinstance(each, str) for each in names):
                    yield set(map(str, names))
