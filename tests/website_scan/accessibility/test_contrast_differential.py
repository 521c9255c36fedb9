"""Compare colour contrasts with those of axe-core alone, text by text, on all corpora.

axe-core judges one text of each kind, and the other texts have its result (axe_contrast.js).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.field.corpus import Case, cases, type_of
from tests.targets.gallery import blog_site, council_site, library_site
from tests.targets.museum import museum_site
from tests.targets.server import Answer, Site
from tests.targets.shop import shop_site
from tests.targets.templated import page_paths, templated_site
from tests.targets.typical import SITES
from tests.website_scan.accessibility.contrast_results import ALONE, contrasts, differences
from tests.website_scan.accessibility.corpus import FILES, PAGES
from tests.website_scan.accessibility.random_styles import random_page
from website_scan.findings import ScanType

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("differential")]

MUSEUM = ("/", "/visit", "/tickets", "/exhibitions", "/collection", "/calendar", "/shop", "/contact", "/news")
SITES_WITH_PAGES: dict[str, tuple[Callable[[], Site], tuple[str, ...]]] = {
    "museum": (museum_site, MUSEUM),
    "museum-without-faults": (lambda: museum_site(()), MUSEUM),
    "shop": (shop_site, ("/", "/cart")),
    "library": (library_site, ("/",)),
    "council": (council_site, ("/", "/news.html")),
    "blog": (blog_site, ("/",)),
    "templated": (lambda: templated_site(4), tuple(page_paths(4))),
    "typical": (lambda: Site({f"/{number}": Answer(site.page) for number, site in enumerate(SITES)}), ()),
}
LEAVES_ITS_PAGE = "B11-leads-elsewhere"
ACCESSIBILITY_CASES = [
    case
    for case in cases(needs_browser=True)
    if case.name != LEAVES_ITS_PAGE
    and any(type_of(expected.check) is ScanType.ACCESSIBILITY for expected in case.expected)
]
# A browser has enough time for a part on a slow machine.
PARTS_OF_CORPUS = 5
RANDOM_PAGES = 100
# Pairs of texts that differ in one thing only, so that one of them fails or is unsure and the other one passes.
GROUND = "<p style='background: #fff; color: #767676'>"
OVER = "content: ''; position: absolute; inset: 0; background: #eee"
PAIRS = {
    "colour": "<p style='color: #767676'>Green tea</p><p style='color: #999'>Black tea</p>",
    "font-size": "<p style='color: #888; font-size: 24px'>Green tea</p><p style='color: #888'>Black tea</p>",
    "font-weight": "<p style='color: #888; font-size: 19px; font-weight: 700'>Green</p>"
    "<p style='color: #888; font-size: 19px'>Black</p>",
    "background": f"{GROUND}Green tea</p><p style='background: #ddd; color: #767676'>Black tea</p>",
    "opacity": f"<div style='isolation: isolate'>{GROUND}Green tea</p></div>"
    f"<div style='isolation: isolate; opacity: .7'>{GROUND}Black tea</p></div>",
    "blend-mode": "<div style='background: #888; color: #555'>"
    "<p style='background: #fff; isolation: isolate'>Green tea</p>"
    "<p style='background: #fff; mix-blend-mode: multiply'>Black tea</p></div>",
    "one-letter": "<p style='color: #999'>Green tea</p><p style='color: #999'>B</p>",
    "only-signs": "<p style='color: #999'>5 €</p><p style='color: #999'>€ €</p>",
    "covered": f"{GROUND}Green tea</p><div style='position: relative'>{GROUND}Black tea</p>"
    "<div style='position: absolute; inset: 0; background: #eee'></div></div>",
    "outside": f"{GROUND}Tea</p><p style='background: #fff; color: #767676; width: 20px; white-space: nowrap'>Tea</p>",
    "pseudo-element": f"<style>.b::after {{ {OVER} }}</style>"
    f"<div style='position: relative'>{GROUND}Green tea</p></div>"
    f"<div class=b style='position: relative'>{GROUND}Black tea</p></div>",
    "gradient": f"{GROUND}Green tea</p><p style='background: linear-gradient(#fff, #888); color: #767676'>Tea</p>",
    "text-shadow": f"{GROUND}Tea</p><p style='background: #fff; color: #767676; text-shadow: 0 0 4px #000'>Tea</p>",
    "wide-screens": "<style>@media (min-width: 701px) { .b { color: #999 !important } }</style>"
    f"{GROUND}Green tea</p>"
    "<p class=b style='background: #fff; color: #767676'>Black tea</p>",
}


def markup(body: str) -> str:
    return f"<!doctype html><html lang=en><head><title>Tea</title></head><body><main>{body}</main></body></html>"


def assert_same(site: Site, paths: Iterable[str]) -> None:
    base = site.url_as("localhost") if site.is_https else site.url
    assert differences([base + path for path in paths]) == {}


@pytest.mark.parametrize("name", SITES_WITH_PAGES)
def test_contrasts_of_a_site_are_those_of_axe_alone(name: str) -> None:
    build, paths = SITES_WITH_PAGES[name]
    with build() as site:
        assert_same(site, paths or tuple(site.routes))


@pytest.mark.parametrize("part", range(PARTS_OF_CORPUS))
def test_contrasts_of_the_corpus_are_those_of_axe_alone(part: int) -> None:
    files = {path: Answer(body, headers={"Content-Type": kind}) for path, (kind, body) in FILES.items()}
    pages = {f"/{name}": Answer(PAGES[name]) for name in list(PAGES)[part::PARTS_OF_CORPUS]}
    with Site({**files, **pages}) as site:
        assert_same(site, tuple(pages))


@pytest.mark.parametrize("case", ACCESSIBILITY_CASES, ids=lambda case: case.name)
def test_contrasts_of_field_cases_are_those_of_axe_alone(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with case.served(monkeypatch) as site:
        assert_same(site, dict.fromkeys(expected.url for expected in case.expected))


def test_contrasts_of_random_pages_are_those_of_axe_alone() -> None:
    pages = {f"/{seed}": Answer(random_page(seed)) for seed in range(RANDOM_PAGES)}
    with Site(pages) as site:
        assert_same(site, pages)


@pytest.fixture(scope="module")
def pairs() -> Iterator[list[str]]:
    pages = {f"/{name}": Answer(markup(body)) for name, body in PAIRS.items()}
    with Site(pages) as site:
        yield [site.url + path for path in pages]


def test_similar_texts_with_different_contrasts_have_own_results(pairs: list[str]) -> None:
    assert differences(pairs) == {}
    on_desktops = {url: runs[-1] for url, runs in contrasts(pairs, ALONE).items()}
    assert [url for url, texts in on_desktops.items() if len(set(map(str, texts.values()))) < 2] == []


# Code of axe_contrast.js, with a replacement that makes keys of different texts the same.
FAULTS = {
    "colour": ("TEXT.map((name) => style[name]).join('|')", "''"),
    "font-size": ("TEXT.map((name) => style[name]).join('|')", "style.color"),
    "background": ("numberOf([image, backgroundColor, ", "numberOf([image, "),
    "opacity": ("numberOf([image, backgroundColor, opacity, mixBlendMode]", "numberOf([image, backgroundColor]"),
    "blend-mode": ("numberOf([image, backgroundColor, opacity, mixBlendMode]", "numberOf([image, backgroundColor]"),
    "one-letter": ("text.length === 1 || ", ""),
    "only-signs": (" || hasOnlySigns(text)", ""),
    "pseudo-element": ("pseudoAreas.set(node, Math.max(own, ", "pseudoAreas.set(node, Math.max(0, "),
    "outside": ("!surrounds(element, rects)", "false"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_comparison_notices_a_wrong_key(pairs: list[str], name: str) -> None:
    found = differences([url for url in pairs if url.endswith(f"/{name}")], FAULTS[name])
    assert len(found) == 1


def test_axe_judges_one_text_of_each_kind() -> None:
    """The texts that pass are left out, except one."""
    body = "".join(f"<p>Tea {number} from Uji" for number in range(50))
    with Site({"/": Answer(markup(body))}) as site:
        (runs,) = contrasts([site.url]).values()
        (all_runs,) = contrasts([site.url], ALONE).values()
    assert [len(texts) for texts in runs] == [1, 1]
    assert [len(texts) for texts in all_runs] == [50, 50]
