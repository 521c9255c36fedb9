"""Fingerprints of findings: which findings are the same in another scan, or on another page."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scanner as engine
from scanner.catalogue import checks
from scanner.findings import ScanType
from scanner.fingerprints import OF_THE_PAGE, PLACES, fingerprint, fingerprints, occurrences
from scanner.generated_names import without_generated

ENGINE = Path(engine.__file__).parent
PAGE = "https://www.example.com/shop/bread"
Item = Mapping[str, Any]


def prints(check_id: str, *items: Item, url: str = PAGE) -> set[str]:
    return set(fingerprints(check_id, items, url))


def static(path: str, tag: str = "<a>") -> Item:
    """Return an element as the static checks name it."""
    return {"selector": path, "snippet": tag, "wcag": "1.1.1", "level": "A"}


def axe(selector: str, tag: str, ancestry: str = "html > body > main > p") -> Item:
    """Return an element as axe-core names it."""
    return {"selector": selector, "ancestry": ancestry, "snippet": tag, "why": "Because.", "wcag": "1", "level": "A"}


# Pairs of selectors of the same place.
SAME_SELECTORS = [
    ("html > body > ul > li:nth-of-type(2) > a", "html > body > ul > li:nth-of-type(7) > a"),
    ("html > body > ul > li:nth-child(2) > a", "html > body > ul > li:nth-child(31) > a"),
    ("html > body > p:nth-of-type(2)", "html > body > p"),
    ("#main > p:first-child", "#main > p:last-child"),
    ("#main > p:nth-last-of-type(2n + 1)", "#main > p"),
    ("div.css-1x2y3z > a", "div.css-9k8j7h > a"),  # emotion
    ("div.css-1x2y3z-Button", "div.css-0p9o8i-Button"),
    ("button.sc-bdVaJa.hZkTcd", "button.sc-gsnTZi.kPqRst"),  # styled-components
    ("button.e1yf1n5h0", "button.e9ab2c7d1"),
    ("a.Button_primary__3xK9a", "a.Button_primary__Zz81q"),  # CSS modules of Next.js
    ("a._primary_1x2y3_12", "a._primary_9z8y7_40"),  # CSS modules of Vite
    ("a.button-module--primary--3a1b2", "a.button-module--primary--9f8e7"),  # CSS modules of Gatsby
    ("p.svelte-abc123", "p.svelte-1k2j3h"),
    ("p.jsx-123456789", "p.jsx-987654321"),  # styled-jsx
    ("p.astro-J7PV25F6", "p.astro-XK3D9QWE"),
    ("p[_ngcontent-abc-c12]", "p[_ngcontent-xyz-c7]"),  # Angular
    ("p[data-v-7ba5bd90]", "p[data-v-f3f3eg9a]"),  # Vue
    ("p[data-astro-cid-j7pv25f6]", "p"),
    ("div.ng-tns-c12-3", "div.ng-tns-c40-0"),
    ("div.jss12", "div.jss120"),  # Material UI 4
    ("div.makeStyles-root-12", "div.makeStyles-root-7"),
    ("#\\:r1\\: > a", "#\\:r2f\\: > a"),  # React 18
    ("#_r_1_ > a", "#_r_2f_ > a"),  # React 19.2
    ("#radix-\\:r1\\: > a", "#radix-\\:r9\\: > a"),
    ("#radix-12 > a", "#radix-40 > a"),
    ("#headlessui-menu-button-3", "#headlessui-menu-button-14"),
    ("#react-select-2-input", "#react-select-5-input"),
    ("#rc-tabs-0-tab-1", "#rc-tabs-3-tab-2"),
    ("#mui-4711", "#mui-12"),
    ("#mantine-abc123xyz-target", "#mantine-k2j3h4g5f-target"),
    ("#ember123 > a", "#ember1041 > a"),
    ("#ext-gen1034", "#ext-gen1101"),
    ("#ui-id-3", "#ui-id-12"),  # jQuery UI
    ("#cdk-overlay-0", "#cdk-overlay-3"),
    ("#mat-input-3", "#mat-input-0"),
    ("#tooltip123456", "#tooltip8812"),  # Bootstrap
    ("#__BVID__12", "#__BVID__40"),
    ("#yui_3_17_2_1_1700000000000_12", "#yui_3_17_2_1_1800000000000_40"),
    ("#comment-12 > a", "#comment-40 > a"),
    ("#post-4711 > h2", "#post-9 > h2"),
    ("#menu-item-4711 > a", "#menu-item-5012 > a"),
    ("#wp-container-12", "#wp-container-3"),
    ("#form-3f2a1b9c7d", "#form-0a9b8c7d6e"),
    ("#block-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "#block-9b2504e0-4f89-11d3-9a0c-0305e82c3377"),
    ("#ad-1700000000", "#ad-1800000000"),
    ("div.swiper-slide.swiper-slide-active", "div.swiper-slide.swiper-slide-next"),
    ("li.menu-item.current-menu-item > a", "li.menu-item > a"),
    ("img.lazyload.hero", "img.hero.lazyloaded"),
    ("a.card.big", "a.big.card"),
]
# Pairs of selectors of different places.
OTHER_SELECTORS = [
    ("html > body > nav > a", "html > body > footer > a"),
    ("html > body > p", "html > body > p > a"),
    ("#main > a", "#aside > a"),
    ("#step-1 > a", "#step-2 > a"),
    ("#tab-1", "#tab-2"),
    ("#__next > a", "#__nuxt > a"),
    ("#root > a", "#app > a"),
    ("div.w-\\[32px\\]", "div.w-\\[48px\\]"),  # Tailwind
    ("div.text-\\[\\#777777\\]", "div.text-\\[\\#888888\\]"),
    ("div.grid-cols-\\[1fr_2fr\\]", "div.grid-cols-\\[2fr_1fr\\]"),
    ("p.text-gray-400", "p.text-gray-500"),
    ("p.mt-4", "p.mt-8"),
    ("div.md\\:flex", "div.lg\\:flex"),
    ("div.col-md-6", "div.col-md-4"),
    ("div.card__title", "div.card__text"),  # BEM
    ("div.card--wide", "div.card--small"),
    ("div.block__element_big", "div.block__element_red"),
    ("a.heroBanner", "a.pageFooter"),
    ("a.heroBanner2", "a.heroBanner3"),
    ("a.h264-player", "a.h265-player"),
    ("a.face2face", "a.backtoback"),
    ("a.Button_primary__3xK9a", "a.Button_danger__3xK9a"),
    ("a._primary_1x2y3_12", "a._danger_1x2y3_12"),
    ("div.css-1x2y3z-Button", "div.css-1x2y3z-Link"),
    ("#headlessui-menu-button-3", "#headlessui-dialog-3"),
    ("#radix-12 > a", "#radix-12 > button"),
    ("button.MuiButton-root", "button.MuiIconButton-root"),
    ("input[type='text']", "input[type='email']"),
]
# Start tags of the same place in static checks, where only the selector is the same.
SAME_TAGS = [
    ('<a class="btn css-1x2y3z" href="/x?session=1">', '<a class="css-zz99k1 btn" href="/y">'),
    ('<script nonce="abc" type="module">', '<script nonce="xyz" type="module">'),
    ('<p _ngcontent-abc-c12="" class="lead">', '<p _ngcontent-xyz-c9="" class="lead">'),
    ('<p data-v-7ba5bd90 class="lead">', '<p class="lead">'),
    ('<div class="swiper-slide swiper-slide-active">', '<div class="swiper-slide">'),
    ('<img class="hero" src="/a.3f2a1b9c.jpg" width="400">', '<img class="hero" src="/b.jpg" width="800">'),
    ('<a class="btn" title="12 items">', '<a class="btn" title="13 items">'),
    ('<h2 class="post-4711 type-post">', '<h2 class="type-post post-9">'),
]
OTHER_TAGS = [
    ('<p class="price">', '<p class="hint">'),
    ('<input type="text" name="first">', '<input type="text" name="last">'),
    ('<input type="text">', '<input type="email">'),
    ('<meta property="og:title">', '<meta property="og:image">'),
    ('<div role="menu">', '<div role="list">'),
    ('<p class="w-[32px]">', '<p class="w-[48px]">'),
]
SAME_ADDRESSES = [
    ("/app.3f2a1b9c.js", "/app.9e8d7c6b.js"),  # webpack
    ("/static/css/main.a1b2c3d4e5.chunk.css", "/static/css/main.0f9e8d7c6b.chunk.css"),
    ("/assets/index-BxY3k9Zq.js", "/assets/index-D3k_a-9Z.js"),  # Vite
    ("/app-5KQ2ABCD.js", "/app-7ZZ3QWER.js"),  # esbuild
    ("/static/admin.55e7cbb9ba48.css", "/static/admin.0012cbb9ba99.css"),  # Django
    ("/_next/static/AbCdEf12GhIjKl34MnOpQ/x.js", "/_next/static/Zb9dEf12GhIjKl77MnOpQ/x.js"),
    ("/_next/static/chunks/polyfills-c67a75d1b6f99dc8.js", "/_next/static/chunks/polyfills-0a7a75d1b6f99d00.js"),
    ("/static/version1700000000/app.js", "/static/version1800000000/app.js"),  # Magento
    ("/style.1700000000.css", "/style.1800000000.css"),
    ("/style.css?ver=6.4", "/style.css?ver=6.5"),
    ("/style.css?x=1&t=1700000000#top", "/style.css"),
    ("/jquery-3.7.1.min.js", "/jquery-3.6.0.min.js"),
    ("https://cdn.test/jquery@3.7.1/dist/jquery.min.js", "https://cdn.test/jquery@3.6.0/dist/jquery.min.js"),
    ("/img/logo.3f2a1b9c.png", "/img/logo.aa2a1b00.png"),
    ("/fonts/inter.8c1b2d3e.woff2", "/fonts/inter.0c9b2d3f.woff2"),
    ("https://www.example.com/app.js", "/app.js"),
    ("http://cdn.test/a.js", "https://CDN.test/a.js"),
    ("https://user:pass@cdn.test/a.js", "https://cdn.test/a.js"),
    ("/cart;jsessionid=A1B2", "/cart"),
    ("data:image/png;base64,AAAA", "data:image/png;base64,BBBB"),
    ("blob:https://www.example.com/1-2", "blob:https://www.example.com/3-4"),
    (PAGE, "/shop/bread?utm_source=mail"),
]
OTHER_ADDRESSES = [
    ("/app.js", "/vendor.js"),
    ("/app.js", "https://cdn.test/app.js"),
    ("/app.3f2a1b9c.js", "/vendor.3f2a1b9c.js"),
    ("/assets/index-homepage.js", "/assets/index-checkout.js"),
    ("/assets/Login-UserPage.js", "/assets/Login-MainPage.js"),
    ("/post/4711", "/post/4712"),
    ("/docs/4.2/", "/docs/5.1/"),
    ("/2024/11/news", "/2025/01/news"),
    ("/articles/3f2a1b9c7d", "/articles/0a9b8c7d6e"),
    ("/img/photo-300x200.jpg", "/img/photo-600x400.jpg"),
    ("/img/IMG_20231105.jpg", "/img/IMG_20231106.jpg"),
    ("/app.js", "/app.css"),
    ("/en/app.js", "/de/app.js"),
    ("https://twitter.com/", "https://facebook.com/"),
    (PAGE, "/shop/cake"),
    ("/bundle.v2.js", "/bundle.js"),
]


def _of(name: str, pairs: list[tuple[str, str]], check_id: str, **more: str) -> list[tuple[str, Item, Item]]:
    return [(check_id, {name: one, **more}, {name: other, **more}) for one, other in pairs]


def _tags(pairs: list[tuple[str, str]]) -> list[tuple[str, Item, Item]]:
    return [("link-name", static("#main > a", one), static("#main > a", other)) for one, other in pairs]


SAME: list[tuple[str, Item, Item]] = [
    *_of("selector", SAME_SELECTORS, "tap-targets"),
    *_tags(SAME_TAGS),
    *_of("url", SAME_ADDRESSES, "cache-short"),
    # axe-core's selectors change with the rest of the page, its ancestry does not.
    ("color-contrast", axe(".title", '<p class="title">A</p>'), axe(".card > .title", '<p class="title">B</p>')),
    ("image-alt", axe('img[src$="a.png"]', '<img src="/a.png">'), axe("li:nth-child(2) > img", '<img src="/b.png">')),
    ("region", axe("p", '<p>Some <a class="x" href="/">text</a></p>'), axe("p", "<p>Other text, which is cut")),
    ("server-version", {"header": "Server", "value": "nginx/1.25.3"}, {"header": "server", "value": "nginx/1.27.0"}),
    ("cookie-secure", {"cookie": "wp_3f2a1b9c7d", "host": "x"}, {"cookie": "wp_0a9b8c7d6e", "host": "x"}),
    ("cookie-secure", {"cookie": "_hjSession_123456", "host": "x"}, {"cookie": "_hjSession_654321", "host": "x"}),
    ("cookie-secure", {"cookie": "id", "host": "x", "secure": False}, {"cookie": "id", "host": "x", "secure": None}),
    ("csp-unsafe-inline", {"policy": "script-src 'nonce-a'"}, {"policy": "script-src 'nonce-b'"}),
    ("csp-allowlist-bypass", {"host": "cdn.test"}, {"host": "CDN.test"}),
    (
        "vulnerable-js-library",
        {"library": "jquery", "version": "1.8.3", "url": "/jquery-1.8.3.min.js"},
        {"library": "jquery", "version": "1.9.0", "url": "/jquery-1.9.0.min.js"},
    ),
    ("tls-legacy-protocols", {"version": "TLS 1.0", "cipher": "A"}, {"version": "TLS 1.0", "cipher": "B"}),
    ("debug-error-page", {"path": "/3f2a", "status": 404, "shows": "Django"}, {"path": "/9", "shows": "Django"}),
    ("private-ip", {"address": "10.0.3.17", "where": "the header X"}, {"address": "10.0.9.1", "where": "the header X"}),
    ("security-comments", {"line": 12, "names": "password"}, {"line": 40, "names": "password"}),
    ("exposed-git", {"path": "/.git/config", "size_bytes": 92}, {"path": "/.git/config", "size_bytes": 120}),
    ("jsonld-syntax", {"fault": "block 1: line 3 column 4"}, {"fault": "block 1: line 9 column 1"}),
    ("link-text", {"text": "Read more", "url": "/news/1"}, {"text": "read more", "url": "/news/2"}),
    ("hreflang-absolute", {"hreflang": "de", "href": "/de/a"}, {"hreflang": "DE", "href": "/de/b"}),
    ("canonical-absolute", {"source": "the link element", "url": "/a"}, {"source": "the link element", "url": "/b"}),
    ("robots-allowed", {"crawler": "Googlebot", "line": 3}, {"crawler": "Googlebot", "line": 9}),
    ("font-display", {"family": "Inter", "file": "/a.woff2"}, {"family": "Inter", "file": "/b.woff2"}),
    ("document-write", {"script": "inline script 1", "calls": 1}, {"script": "inline script 2", "calls": 4}),
    ("head-integrity", {"element": "p", "snippet": '<p id="a">'}, {"element": "p", "snippet": '<p id="b">'}),
    # Figures: their explanations change from load to load.
    ("lcp", {"median": 2.5, **static("h1")}, {"median": 4.1, **static("img")}),
    ("cls", {"selector": "#ad", "shift": 0.2}, {"selector": "#banner", "shift": 0.1}),
    ("total-weight", {"url": "/a.js", "wire_bytes": 9}, {"url": "/b.js", "wire_bytes": 8}),
    ("redirect-chain", {"hop": 1, "url": "/a"}, {"hop": 1, "url": "/b"}),
    ("ttfb", {"try": 1, "ttfb_ms": 200}, {"try": 1, "ttfb_ms": 900}),
    ("cors-credentials", {"origin": "https://3f2a.example"}, {"origin": "https://9b1c.example"}),
    ("soft-404", {"asked": "/3f2a", "status": 200}, {"asked": "/9b1c", "status": 200}),
]
OTHER: list[tuple[str, Item, Item]] = [
    *_of("selector", OTHER_SELECTORS, "tap-targets"),
    *_tags(OTHER_TAGS),
    *_of("url", OTHER_ADDRESSES, "cache-short"),
    ("color-contrast", axe(".a", '<p class="price">'), axe(".a", '<p class="hint">')),
    ("image-alt", axe("img", '<img class="logo">'), axe("img", '<img class="hero">')),
    ("image-alt", axe("img", '<img><p class="x">'), axe("img", '<input type="image">')),
    ("color-contrast", axe("p", "<p>", "html > body > main > p"), axe("p", "<p>", "html > body > footer > p")),
    ("color-contrast", axe("#f", "<p>", "html > iframe >>> html > p"), axe("#f", "<p>", "html > div >>> p")),
    ("powered-by", {"header": "X-Powered-By", "value": "PHP"}, {"header": "X-AspNet-Version", "value": "PHP"}),
    ("cookie-secure", {"cookie": "session", "host": "x"}, {"cookie": "cart", "host": "x"}),
    ("cookie-secure", {"cookie": "session", "host": "a.test"}, {"cookie": "session", "host": "b.test"}),
    ("csp-allowlist-bypass", {"host": "cdn.test"}, {"host": "cdn2.test"}),
    ("vulnerable-js-library", {"library": "jquery", "url": "/a.js"}, {"library": "lodash", "url": "/a.js"}),
    ("tls-legacy-protocols", {"version": "TLS 1.0", "cipher": "A"}, {"version": "TLS 1.1", "cipher": "A"}),
    ("tls-weak-ciphers", {"cipher": "RC4-MD5", "weakness": "RC4"}, {"cipher": "RC4-SHA", "weakness": "RC4"}),
    ("private-ip", {"address": "10.0.3.17", "where": "the header X"}, {"address": "10.0.3.17", "where": "a comment"}),
    ("exposed-git", {"path": "/.git/config"}, {"path": "/.git/HEAD"}),
    ("security-comments", {"line": 12, "names": "password"}, {"line": 12, "names": "api key"}),
    ("mixed-content", {"element": "img", "url": "http://x.test/a"}, {"element": "script", "url": "http://x.test/a"}),
    ("insecure-form", {"action": "http://x.test/a"}, {"action": "http://x.test/b"}),
    ("link-text", {"text": "Read more", "url": "/a"}, {"text": "Click here", "url": "/a"}),
    ("hreflang-absolute", {"hreflang": "de", "href": "/a"}, {"hreflang": "de-at", "href": "/a"}),
    ("jsonld-vocabulary", {"name": "the type Prodcut"}, {"name": "the property prize"}),
    ("rich-result-required", {"missing": "Product lacks name"}, {"missing": "Product lacks offers"}),
    ("rendered-metadata", {"name": "title", "raw": "a"}, {"name": "robots", "raw": "a"}),
    ("http-version", {"origin": "https://a.test"}, {"origin": "https://b.test"}),
    ("robots-allowed", {"crawler": "Googlebot"}, {"crawler": "Bingbot"}),
    ("head-integrity", {"element": "p", "snippet": "<p>"}, {"element": "div", "snippet": "<div>"}),
    (
        "localhost-links",
        {"element": "a", "attribute": "href", "value": "http://localhost/a"},
        {"element": "a", "attribute": "href", "value": "http://localhost/b"},
    ),
]


@pytest.mark.parametrize(("check_id", "one", "other"), SAME)
def test_the_same_place_has_the_same_fingerprint(check_id: str, one: Item, other: Item) -> None:
    assert prints(check_id, one) == prints(check_id, other)


@pytest.mark.parametrize(("check_id", "one", "other"), OTHER)
def test_another_place_has_another_fingerprint(check_id: str, one: Item, other: Item) -> None:
    assert prints(check_id, one) != prints(check_id, other)


@pytest.mark.parametrize(
    ("check_id", "on_bread", "on_cake"),
    [
        ("cache-short", {"url": PAGE}, {"url": "https://www.example.com/shop/cake"}),
        ("canonical-host", {"url": "https://old.test/shop/bread"}, {"url": "https://old.test/shop/cake"}),
        ("cache-short", {"url": "https://www.example.com/app.js"}, {"url": "https://www.example.com/app.js"}),
        ("cookie-secure", {"cookie": "a", "host": "www.example.com"}, {"cookie": "a", "host": "www.example.com"}),
        ("link-name", static("#main > li:nth-of-type(2) > a"), static("#main > li:nth-of-type(9) > a")),
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
    found = fingerprints("link-name", [static("#main > a:nth-of-type(2)", '<a class="css-1x2y3z">')], PAGE)
    assert list(found.values()) == ["#main > a:nth-of-type(2)"]
    assert list(fingerprints("powered-by", [{"header": "Server", "value": "x"}], PAGE).values()) == ["Server"]
    assert list(fingerprints("region", [axe("h1", "<h1>")], PAGE).values()) == ["h1"]


@pytest.mark.parametrize(
    ("check_id", "items", "counts"),
    [
        ("image-alt", [static(f"main > img:nth-of-type({n})", "<img>") for n in range(3)], [3]),
        (
            "image-alt",
            [static("main > img:nth-child(1)"), static("nav > img"), static("main > img:nth-child(9)")],
            [2, 1],
        ),
        ("color-contrast", [axe(f"p:nth-child({n})", "<p>") for n in range(4)], [4]),
        ("cache-short", [{"url": f"/chunk-{digest}.js"} for digest in ("3f2a1b9c", "8d7e6f5a")], [1]),
        ("third-party", [{"url": f"https://ads.test/pixel?{n}"} for n in range(5)], [1]),
        ("cookie-secure", [{"cookie": f"_ga_{name}", "host": "a.test"} for name in ("3K9XZ81LQ2", "7P4MW05TB6")], [1]),
        ("lcp", [static("main > img")] * 3, [1]),
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
        ("link-name", static("#main > li:nth-of-type(2) > a", '<a class="btn css-1x2y3z">'), "82e4fb1652f5e28e"),
        ("color-contrast", axe(".a > p", '<p class="lead">'), "983eebee32dd6ec8"),
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


def test_findings_of_the_page_are_checks_of_ours() -> None:
    assert {each.id for scan_type in ScanType for each in checks(scan_type)} >= OF_THE_PAGE


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
