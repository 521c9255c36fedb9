"""Places that are the same, although the pages show them differently."""

from __future__ import annotations

from tests.website_scan.fingerprint_pairs.pairs import (
    PAGE,
    Pair,
    classes,
    contrast,
    cookie,
    crawler,
    element,
    elements,
    ids,
    library,
    oversized,
    paths,
    places,
    requested,
    styled,
    urls,
)
from website_scan.performance.checks.blocking import WritingScript
from website_scan.performance.checks.fonts import WaitingFont
from website_scan.performance.checks.loading import Figures, ShiftedElement
from website_scan.performance.checks.server import Attempt
from website_scan.places import Header, RedirectHop
from website_scan.security.checks.csp import BypassHost, PolicyRow
from website_scan.security.checks.disclosure import DebugOutput, PrivateAddress, SecretComment
from website_scan.security.checks.headers import CorsRow
from website_scan.security.checks.transport import AcceptedVersion
from website_scan.seo.checks.indexability import CanonicalLink, MissingPath
from website_scan.seo.checks.international import RelativeEntry
from website_scan.seo.checks.links import GenericLink
from website_scan.seo.checks.mobile import CrowdedTarget
from website_scan.seo.checks.structured_data import BrokenBlock

SAME: list[Pair] = [
    *classes("classes are for looks, and builds generate them", [
        ("css-1x2y3z", "css-9k8j7h"),  # emotion
        ("css-1x2y3z-Button", "css-0p9o8i-Button"),
        ("sc-bdVaJa hZkTcd", "sc-gsnTZi kPqRst"),  # styled-components
        ("Button_primary__3xK9a", "Button_primary__Zz81q"),  # CSS modules of Next.js
        ("_primary_1x2y3_12", "_primary_9z8y7_40"),  # of Vite
        ("button-module--primary--3a1b2", "button-module--primary--9f8e7"),  # of Gatsby
        ("svelte-abc123", "svelte-1k2j3h"),
        ("jsx-123456789", "jsx-987654321"),  # styled-jsx
        ("astro-J7PV25F6", "astro-XK3D9QWE"),
        ("ng-tns-c12-3 ng-star-inserted", "ng-tns-c40-0"),
        ("jss12", "jss120"),  # Material UI 4
        ("makeStyles-root-12", "makeStyles-root-7"),
        ("MuiButton-root Mui-focusVisible", "MuiButton-root"),
        ("mt-4 md:flex", "mt-8 lg:grid"),  # Tailwind
        ("w-[32px]", "w-[48px]"),
        ("col-md-6", "col-md-4"),  # Bootstrap
        ("", "added"),
        ("big card", "card big"),
    ]),
    *classes("a state or a variant of a test", [
        ("swiper-slide swiper-slide-active", "swiper-slide swiper-slide-next"),
        ("slick-slide slick-cloned", "slick-slide slick-current"),
        ("owl-item active", "owl-item cloned"),
        ("menu-item current-menu-item", "menu-item"),
        ("is-open", "is-closed"),
        ("lazyload", "lazyloaded"),
        ("aos-init aos-animate", "aos-init"),
        ("variant-a", "variant-b"),
        ("exp-1234-on", "exp-1234-off"),
    ]),
    *elements(True, "frameworks mark their own elements", "button-name", [
        ('<button _ngcontent-abc-c12="">', '<button _ngcontent-xyz-c7="">'),
        ('<button _nghost-abc-c12="">', "<button>"),
        ("<button data-v-7ba5bd90>", "<button data-v-f3f3eg9a>"),
        ("<button data-astro-cid-j7pv25f6>", "<button>"),
        ('<button data-reactid=".0.1.2">', '<button data-reactid=".0.1.7">'),
        ('<button data-hydration-key="3f2a">', '<button data-hydration-key="9b1c">'),
        ('<button wire:id="Abc123" x-data="{}">', '<button wire:id="Xyz987" x-data="{}">'),
    ]),
    *ids(True, "a library generates the ID", [
        (":r1:", ":r2f:"),  # React 18
        ("«r1»", "«r2f»"),  # React 19.1
        ("_r_1_", "_r_2f_"),  # React 19.2
        ("radix-:r1:", "radix-:r9:"),
        ("radix-12", "radix-40"),
        ("headlessui-listbox-input-3", "headlessui-listbox-input-14"),
        ("react-select-2-input", "react-select-5-input"),
        ("react-aria-12", "react-aria-13"),
        ("rc_select_0", "rc_select_3"),
        ("mui-4711", "mui-12"),
        ("mantine-abc123xyz-target", "mantine-k2j3h4g5f-target"),
        ("downshift-0-input", "downshift-4-input"),
        ("ember123", "ember1041"),
        ("ext-gen1034", "ext-gen1101"),
        ("ui-id-3", "ui-id-12"),  # jQuery UI
        ("select2-3", "select2-9"),
        ("cdk-overlay-0", "cdk-overlay-3"),
        ("mat-input-3", "mat-input-0"),
        ("el-id-1024-5", "el-id-8812-9"),  # Element Plus
        ("__BVID__12", "__BVID__40"),  # BootstrapVue
        ("tooltip123456", "tooltip8812"),
        ("yui_3_17_2_1_1700000000000_12", "yui_3_17_2_1_1800000000000_40"),
        ("form-3f2a1b9c7d", "form-0a9b8c7d6e"),
        ("field-3f2504e0-4f89-11d3-9a0c-0305e82c3301", "field-9b2504e0-4f89-11d3-9a0c-0305e82c3377"),
        ("ad-1700000000", "ad-1800000000"),
    ]),
    *ids(True, "a CMS numbers its content", [
        ("comment-12", "comment-40"),
        ("post-4711", "post-9"),
        ("menu-item-4711", "menu-item-5012"),
        ("wp-block-12", "wp-block-3"),
        ("node-17", "node-18"),
        ("product-4711", "product-4712"),
        ("elementor-element-12", "elementor-element-90"),
    ]),
    *ids(True, "the number of a record in the name of a field", [
        ("qty_4711", "qty_9822"),
        ("items[4711][qty]", "items[9822][qty]"),
        ("csrf_3f2a1b9c7d", "csrf_0a9b8c7d6e"),
        ("cart[3f2504e0-4f89-11d3-9a0c-0305e82c3301]", "cart[9b2504e0-4f89-11d3-9a0c-0305e82c3377]"),
    ], attribute="name"),
    *elements(True, "the order of attributes means nothing", "x", [
        ('<img src="/a.png" width="3" class="b">', '<img class="b" width="3" src="/a.png">'),
        ('<input name="q" type="text">', '<input type="text" name="q">'),
        ('<button type="button" class="x">', '<button class="x" type="button">'),
        ('<a title="Cart" href="/cart">', '<a href="/cart" title="Cart">'),
    ]),
    *elements(True, "an ID tells more than anything else", "x", [
        ('<input id="mail" name="a">', '<input name="b" id="mail">'),
        ('<div id="nav">', '<section id="nav">'),
        ('<a id="cart" href="/a">3 items</a>', '<a id="cart" href="/b">4 items</a>'),
        ('<button id="buy">Buy</button>', '<button id="buy">Kaufen</button>'),
    ]),
    *elements(True, "a name tells more than type, label and looks", "label", [
        ('<input name="q" type="text">', '<input name="q" type="search" placeholder="Find">'),
        ('<select name="size" class="a">', '<select class="b" name="size" required>'),
        ('<textarea name="text" rows="3">', '<textarea name="text" rows="9">'),
        ('<iframe name="map" src="/a">', '<iframe name="map" src="/b">'),
        ('<meta name="viewport" content="a">', '<meta content="b" name="viewport">'),
    ]),
    *elements(True, "a label or text whose numbers changed", "x", [
        ('<button aria-label="Cart, 3 items">', '<button aria-label="Cart, 12 items">'),
        ('<button title="Page 2 of 7">', '<button title="Page 3 of 9">'),
        ("<button>Comments (3)</button>", "<button>Comments (47)</button>"),
        ("<summary>More  than\n 5</summary>", "<summary>More than 6</summary>"),
        ("<button><b>Buy</b> now</button>", "<button>\n  <strong>Buy</strong> now\n</button>"),
        ("<th>Sales 2025</th>", "<th>Sales 2026</th>"),
        ('<label for="mail">E-mail</label>', '<label for="mail">E-Mail-Adresse</label>'),
        ("<button>Fish &amp; chips</button>", "<button>Fish &#38; chips</button>"),
    ]),
    *elements(True, "the source without digest, query and host", "image-alt", [
        ('<img src="/hero.3f2a1b9c.jpg">', '<img src="/hero.0a9b8c7d.jpg" width="800">'),
        ('<img src="/hero.jpg?v=1">', '<img src="/hero.jpg?v=2">'),
        ('<img src="https://www.example.com/hero.jpg">', '<img src="/hero.jpg">'),
        ('<img src="/_next/image?url=%2Fhero.jpg&amp;w=640">', '<img src="/_next/image?url=%2Fhero.jpg&amp;w=1080">'),
        ('<img src="/_next/image?url=%2Fhero.3f2a1b9c.jpg&amp;q=75">', '<img src="/hero.0a9b8c7d.jpg">'),
        ('<img src="/cdn-cgi/image/width=80,quality=75/hero.jpg">', '<img src="/cdn-cgi/image/width=640/hero.jpg">'),
        ('<img src="/_ipx/w_200/hero.jpg">', '<img src="/_ipx/w_400&amp;f_webp/hero.jpg">'),
        ('<img src="https://r.test/image/upload/w_30,c_fit/v1700000000/a.jpg">',
         '<img src="https://r.test/image/upload/w_90/v1800000000/a.jpg">'),
        ('<img src="data:image/gif;base64,R0l" data-src="/hero.jpg">', '<img data-src="/hero.jpg" src="/hero.jpg">'),
        ('<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,BBBB">'),
        ('<img src="https://cdn.test/images/campaign/3f2a1b…">', '<img src="https://cdn.test/images/campaign/99ef…">'),
        ('<img src="/hero.jpg" alt="DSC_0001.JPG">', '<img src="/hero.jpg" alt="image">'),
        ('<video src="/film.mp4?t=1">', '<video src="/film.mp4">'),
    ]),
    *elements(True, "the same link", "link-name", [
        ('<a href="/cart?session=1">', '<a href="/cart">'),
        ('<a href="/cart;jsessionid=A1B2">', '<a href="/cart">'),
        ('<a href="/shop/bread?page=2">', '<a href="/shop/bread?page=3">'),
        ('<a href="#top">', '<a href="#top" class="up">'),
        ('<a href="mailto:a@b.test?subject=1">', '<a href="mailto:a@b.test">'),
        ('<a href="javascript:open(1)">', '<a href="#">'),
        ('<a href="/cart" target="_blank" rel="noopener">', '<a href="/cart">'),
        ('<a href="https://x.test/?utm_source=a">', '<a href="https://X.test/?fbclid=IwAR0">'),
    ]),
    *elements(True, "a nonce or token", "x", [
        ('<script nonce="abc" src="/a.js">', '<script nonce="xyz" src="/a.js">'),
        ('<form action="/pay" data-token="3f2a">', '<form action="/pay" data-token="9b1c">'),
        ('<iframe src="/embed?nonce=1">', '<iframe src="/embed?nonce=2">'),
    ]),
    *paths(True, "a wrapper was added, removed or moved", '<img src="/a.png">', [
        ("main", "div > main"),
        ("main", "div > div > main > section"),
        ("main > div", "section > main"),
        ("", "main"),
        ("main", "aside"),
        ("header > div", "div > header"),
        ("form", "main > form > fieldset"),
        ("main > ul", "main > div > ul"),
        ("nav > ul > li", "nav > div > ul > li"),
    ]),
    *paths(True, "a wrapper around an element without a name", "<button>", [
        ("main", "div > main"),
        ("main", ""),
        ("main > p", "main > div > section > p"),
        ("footer", "div > footer > div"),
        ("header > nav", "nav"),
        ("main > ul > li", "main > ol > li > span"),
        ("article > header", "article"),
        ("form > fieldset", "form"),
    ]),
    *[
        Pair(
            True,
            "entries of a list are of one kind, whatever data they show",
            "image-alt",
            element(one, path),
            element(other, path),
        )
        for path in ("main > ul > li", "main > table > tbody > tr > td", "main > article", "div > ol > li > a")
        for one, other in (
            ('<img src="/products/1.jpg">', '<img src="/products/2.jpg">'),
            ('<a href="/news/1">', '<a href="/news/2">'),
            ("<button>Buy bread</button>", "<button>Buy cake</button>"),
            ('<a aria-label="Bread" href="/1">', '<a aria-label="Cake" href="/2">'),
        )
    ],
    *[
        Pair(
            True,
            "a rule of a style sheet is at fault, whatever the text",
            check,
            kind(one),
            kind(other),
        )
        for check, kind in (("color-contrast", contrast), ("link-in-text-block", contrast), ("target-size", styled))
        for one, other in (
            ('<a href="/news/1">Bread</a>', '<a href="/news/2">Cake</a>'),
            ("<p>Written today</p>", "<p>Written yesterday</p>"),
            ('<span class="a">1 €</span>', '<span class="b">2 €</span>'),
        )
    ],
    *places(True, "the position among siblings", "tap-targets", [
        (CrowdedTarget("html > body > ul > li:nth-of-type(2) > a"), CrowdedTarget("html > body > ul > li > a")),
        (CrowdedTarget("html > body > p:nth-child(2) > a"), CrowdedTarget("html > body > p > a")),
        (CrowdedTarget("#main > p:first-child > a"), CrowdedTarget("html > body > div > p > a")),
        (CrowdedTarget("html > body > nav > a:nth-of-type(3)"), CrowdedTarget("#app > nav > div > a")),
        (CrowdedTarget("#\\:r1\\:"), CrowdedTarget("#\\:r2f\\:")),
    ]),
    *places(True, "axe-core's selector changes with the rest of the page", "image-alt", [
        (element('<img src="/a.png">', selector='img[src$="a.png"]'), element('<img src="/a.png">', selector="p img")),
        (element("<img>", selector=".hero > img"), element("<img>", selector="img:nth-child(4)")),
    ]),
    *places(True, "the picture that was loaded", "image-oversized", [
        (oversized("#a > img", "/a.3f2a1b9c.png"), oversized("body > img", "/a.9e8d7c6b.png?w=3")),
    ]),
    *urls(True, "a digest, version or time that a build puts into the name", [
        ("/app.3f2a1b9c.js", "/app.9e8d7c6b.js"),  # webpack
        ("/static/css/main.a1b2c3d4e5.chunk.css", "/static/css/main.0f9e8d7c6b.chunk.css"),
        ("/assets/index-BxY3k9Zq.js", "/assets/index-D3k_a-9Z.js"),  # Vite
        ("/app-5KQ2ABCD.js", "/app-7ZZ3QWER.js"),  # esbuild
        ("/static/admin.55e7cbb9ba48.css", "/static/admin.0012cbb9ba99.css"),  # Django
        ("/assets/application-3f2a1b9c7d6e5f4a3b2c.css", "/assets/application-0a9b8c7d6e5f4a3b2c1d.css"),  # Rails
        ("/_next/static/AbCdEf12GhIjKl34MnOpQ/x.js", "/_next/static/Zb9dEf12GhIjKl77MnOpQ/x.js"),
        ("/_next/static/chunks/polyfills-c67a75d1b6f99dc8.js", "/_next/static/chunks/polyfills-0a7a75d1b6f99d00.js"),
        ("/_nuxt/entry.3f2a1b9c.js", "/_nuxt/entry.0a9b8c7d.js"),
        ("/static/version1700000000/app.js", "/static/version1800000000/app.js"),  # Magento
        ("/style.1700000000.css", "/style.1800000000.css"),
        ("/jquery-3.7.1.min.js", "/jquery-3.6.0.min.js"),
        ("https://cdn.test/jquery@3.7.1/dist/jquery.min.js", "https://cdn.test/jquery@3.6.0/dist/jquery.min.js"),
        ("/img/logo.3f2a1b9c.png", "/img/logo.aa2a1b00.png"),
        ("/fonts/inter.8c1b2d3e.woff2", "/fonts/inter.0c9b2d3f.woff2"),
    ]),
    *urls(True, "query, session, scheme, credentials or the own host", [
        ("/style.css?ver=6.4", "/style.css?ver=6.5"),  # WordPress
        ("/style.css?x=1&t=1700000000#top", "/style.css"),
        ("https://www.example.com/app.js", "/app.js"),
        ("http://cdn.test/a.js", "https://CDN.test/a.js"),
        ("https://user:pass@cdn.test/a.js", "https://cdn.test/a.js"),
        ("/cart;jsessionid=A1B2", "/cart"),
        ("data:image/png;base64,AAAA", "data:image/png;base64,BBBB"),
        ("blob:https://www.example.com/1-2", "blob:https://www.example.com/3-4"),
        (PAGE, "/shop/bread?utm_source=mail"),
        ("/_next/image?url=%2Fhero.jpg&w=640", "/_next/image?url=%2Fhero.jpg&w=1080"),
    ]),
    *places(True, "a session, experiment or visitor in a cookie's name", "cookie-secure", [
        (cookie("wp_3f2a1b9c7d", "x"), cookie("wp_0a9b8c7d6e", "x")),
        (cookie("_hjSession_123456", "x"), cookie("_hjSession_654321", "x")),
        (cookie("wp_in_3f2a1b9c7d6e5f4a3b2c", "x"), cookie("wp_in_0a9b8c7d6e5f4a3b", "x")),
        (cookie("id", "x"), cookie("id", ".X", secure=True)),
        (cookie("_ga_3K9XZ81LQ2", "x"), cookie("_ga_7P4MW05TB6", "x")),
    ]),
    *places(True, "measured or accidental details", "x", [
        (Header("Server", "nginx/1.25.3"), Header("server", "nginx/1.27.0")),
        (PolicyRow("script-src 'nonce-a'"), PolicyRow("script-src 'nonce-b'")),
        (BypassHost("cdn.test"), BypassHost("CDN.test")),
        (library("jquery", "/jquery-1.8.3.min.js"), library("jquery", "/jquery-1.9.0.min.js")),
        (AcceptedVersion("TLS 1.0", "A"), AcceptedVersion("TLS 1.0", "B")),
        (DebugOutput("/3f2a", 404, "Django"), DebugOutput("/9", 500, "Django")),
        (PrivateAddress("10.0.3.17", "the header X"), PrivateAddress("10.0.9.1", "the header X")),
        (SecretComment(12, "password"), SecretComment(40, "password")),
        (requested("/.git/config", 92), requested("/.git/config", 120)),
        (BrokenBlock("block 1: line 3 column 4"), BrokenBlock("block 1: line 9 column 1")),
        (GenericLink("Read more", "/news/1"), GenericLink("read more", "/news/2")),
        (RelativeEntry("de", "/de/a"), RelativeEntry("DE", "/de/b")),
        (CanonicalLink("the link element", "/a", "/a"), CanonicalLink("the link element", "/b", "/b")),
        (crawler("Googlebot", 3), crawler("Googlebot", 9)),
        (WaitingFont("Inter", None, "/a.woff2"), WaitingFont("Inter", None, "/b.woff2")),
        (WritingScript("inline script 1", 1), WritingScript("inline script 2", 4)),
        (Attempt(1, 200), Attempt(1, 900)),
        (MissingPath("/3f2a", 200), MissingPath("/9b1c", 200)),
    ]),
    *[
        Pair(True, "it explains a figure, and changes from load to load", check, one, other)
        for check, one, other in (
            (
                "lcp",
                Figures(2.5, 2, 5, 3, True, None, snippet="<h1>"),
                Figures(4.1, 2, 5, 3, True, None, snippet="<img>"),
            ),
            ("cls", ShiftedElement("#ad", 0.2), ShiftedElement("#banner", 0.1)),
            ("redirect-chain", RedirectHop(1, "/a"), RedirectHop(1, "/b")),
            (
                "cors-credentials",
                CorsRow("https://3f2a.example", None, None),
                CorsRow("https://9b1c.example", None, None),
            ),
        )
    ],
]  # fmt: skip
