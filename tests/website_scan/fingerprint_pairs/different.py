"""Pairs of places that look the same but have different fingerprints."""

from __future__ import annotations

from tests.website_scan.fingerprint_pairs.pairs import (
    PAGE,
    RED,
    Pair,
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
    urls,
)
from website_scan.performance.checks.network import PreconnectedOrigin
from website_scan.places import Header
from website_scan.security.checks.content import EmbeddedFile
from website_scan.security.checks.csp import BypassHost
from website_scan.security.checks.disclosure import PrivateAddress, SecretComment
from website_scan.security.checks.transport import AcceptedVersion, HttpForm, WeakCipher
from website_scan.seo.checks.indexability import MisplacedMetadata
from website_scan.seo.checks.international import RelativeEntry
from website_scan.seo.checks.links import GenericLink, PrivateReference, UncrawlableLink
from website_scan.seo.checks.mobile import CrowdedTarget
from website_scan.seo.checks.rendering import ChangedMetadata
from website_scan.seo.checks.structured_data import MissingProperty, UnknownName

DIFFERENT: list[Pair] = [
    *elements(False, "another source", "image-alt", [
        ('<img src="/a.png">', '<img src="/b.png">'),
        ('<img src="/logo.svg">', '<img src="/logo-dark.svg">'),
        ('<img src="/a.png">', '<img src="https://cdn.test/a.png">'),
        ('<img src="/_next/image?url=%2Fa.jpg&amp;w=640">', '<img src="/_next/image?url=%2Fb.jpg&amp;w=640">'),
        ('<img src="/a.png">', "<img>"),
        ('<img src="/a.png">', '<input type="image" src="/a.png">'),
        ('<img src="/cdn-cgi/image/width=80/a.jpg">', '<img src="/cdn-cgi/image/width=80/b.jpg">'),
        ('<iframe src="/map">', '<iframe src="/film">'),
        ('<object data="/a.pdf">', '<object data="/b.pdf">'),
        ('<img src="/en/logo.png">', '<img src="/de/logo.png">'),
        ('<img src="data:," data-src="/a.png">', '<img src="data:," data-src="/b.png">'),
        ('<img data-src="/a.png">', '<img data-lazy-src="/b.png">'),
    ]),
    *elements(False, "another target of a link", "link-name", [
        ('<a href="/cart">', '<a href="/account">'),
        ('<a href="https://twitter.test/x">', '<a href="https://facebook.test/x">'),
        ('<a href="#top">', '<a href="#menu">'),
        ('<a href="mailto:a@b.test">', '<a href="mailto:c@b.test">'),
        ('<a href="tel:+4912">', '<a href="tel:+4913">'),
        ('<a href="/docs/4.2/">', '<a href="/docs/5.1/">'),
        ('<a href="/step-1">', '<a href="/step-2">'),
        ('<area href="/cart">', '<a href="/cart">'),
    ]),
    *ids(False, "people gave them other IDs", [
        ("mail", "phone"),
        ("step-1", "step-2"),
        ("tab-1", "tab-2"),
        ("billing_street", "shipping_street"),
        ("field1", "field2"),
        ("h264", "h265"),
        ("heroBanner2", "heroBanner3"),
        ("q", "Q"),
        ("iso8859", "utf8mb4"),
    ]),
    *ids(False, "people gave them other names", [
        ("first", "last"),
        ("address[street]", "address[city]"),
        ("option1", "option2"),
        ("user.name", "user.mail"),
        ("q", "s"),
        ("items[0][qty]", "items[0][price]"),
    ], attribute="name"),
    *elements(False, "another label or text", "x", [
        ('<button aria-label="Search">', '<button aria-label="Menu">'),
        ('<button aria-label="Search">', '<div aria-label="Search">'),
        ('<input placeholder="Name">', '<input placeholder="Street">'),
        ('<input title="Name">', '<input title="Street">'),
        ('<img alt="photo">', '<img alt="image">'),
        ("<button>Buy</button>", "<button>Sell</button>"),
        ("<summary>Delivery</summary>", "<summary>Returns</summary>"),
        ("<th>Price</th>", "<th>Size</th>"),
        ('<label for="a">X</label>', '<label for="b">X</label>'),
        ("<legend>Delivery</legend>", "<legend>Payment</legend>"),
        ("<button>Einkaufen</button>", "<button>Buy</button>"),
    ]),
    *elements(False, "another kind of element", "x", [
        ("<p>", "<div>"),
        ("<ul>", "<ol>"),
        ('<div role="menu">', '<div role="list">'),
        ('<input type="text">', '<input type="email">'),
        ('<input type="image">', "<img>"),
        ('<meta property="og:title">', '<meta property="og:image">'),
        ('<link rel="icon">', '<link rel="manifest">'),
        ('<meta http-equiv="refresh">', '<meta http-equiv="content-type">'),
        ('<span itemprop="name">', '<span itemprop="price">'),
        ('<my-menu>', '<my-dialog>'),
        ('<input id="radix-1">', '<input id="mui-1">'),
        ('<input id="comment-1">', '<input id="post-1">'),
    ]),
    *paths(False, "another part of the page", "<button>", [
        ("main", "footer"),
        ("header", "footer"),
        ("nav", "main"),
        ("aside", "main"),
        ("dialog", "main"),
        ("header > nav", "footer > nav > div > aside"),
        ("nav", "header"),
    ]),
    *paths(False, "within a frame or shadow content", '<img src="/a.png">', [
        ("main > iframe >>> html > body", "main"),
        ("main > iframe >>> html > body", "main > my-card >>> div"),
    ]),
    *[
        Pair(
            False,
            "entries of a menu are written by people",
            "link-name",
            element('<a href="/a">', path),
            element('<a href="/b">', path),
        )
        for path in ("nav > ul > li", "header > ul > li", "footer > div > ul > li", "header > nav > ul > li")
    ],
    *[
        Pair(
            False,
            "the ID or name of an entry is its own",
            "label",
            element(one, "main > ul > li"),
            element(other, "main > ul > li"),
        )
        for one, other in (
            ('<input id="bread">', '<input id="cake">'),
            ('<input name="bread">', '<input name="cake">'),
        )
    ],
    Pair(
        False,
        "an entry is not an element of the page",
        "image-alt",
        element('<img src="/a.png">', "main > ul > li"),
        element('<img src="/a.png">'),
    ),
    *places(False, "other colours take another fix", "color-contrast", [
        (contrast("<p>A</p>"), contrast("<p>A</p>", why=RED)),
        (contrast("<a>A</a>"), contrast("<a>A</a>", why="")),
        (contrast("<p>A</p>", "footer"), contrast("<p>A</p>")),
        (contrast("<p>A</p>"), contrast("<a>A</a>")),
        (contrast('<p id="a">A</p>'), contrast('<p id="b">A</p>')),
    ]),
    *places(False, "another element by its selector", "tap-targets", [
        (CrowdedTarget("html > body > nav > a"), CrowdedTarget("html > body > footer > a")),
        (CrowdedTarget("html > body > p"), CrowdedTarget("html > body > p > a")),
        (CrowdedTarget("#buy"), CrowdedTarget("#sell")),
        (CrowdedTarget("#step-1"), CrowdedTarget("#step-2")),
        (CrowdedTarget("html > body > button"), CrowdedTarget("html > body > a")),
    ]),
    *places(False, "another picture was loaded", "image-oversized", [
        (oversized("html > body > img", "/a.png"), oversized("html > body > img", "/b.png")),
    ]),
    *urls(False, "another file, page or host", [
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
        ("/_next/image?url=%2Fa.jpg&w=640", "/_next/image?url=%2Fb.jpg&w=640"),
    ]),
    *places(False, "another header, cookie, host or record", "x", [
        (Header("X-Powered-By", "PHP"), Header("X-AspNet-Version", "PHP")),
        (cookie("session", "x"), cookie("cart", "x")),
        (cookie("session", "a.test"), cookie("session", "b.test")),
        (BypassHost("cdn.test"), BypassHost("cdn2.test")),
        (library("jquery", "/a.js"), library("lodash", "/a.js")),
        (AcceptedVersion("TLS 1.0", "A"), AcceptedVersion("TLS 1.1", "A")),
        (WeakCipher("RC4-MD5", "weak"), WeakCipher("RC4-SHA", "weak")),
        (PrivateAddress("10.0.3.17", "the header X"), PrivateAddress("10.0.3.17", "a comment")),
        (requested("/.git/config"), requested("/.git/HEAD")),
        (SecretComment(12, "password"), SecretComment(12, "api key")),
        (EmbeddedFile("img", "http://x.test/a"), EmbeddedFile("script", "http://x.test/a")),
        (HttpForm("http://x.test/a", False), HttpForm("http://x.test/b", False)),
        (GenericLink("Read more", "/a"), GenericLink("Click here", "/a")),
        (RelativeEntry("de", "/a"), RelativeEntry("de-at", "/a")),
        (UnknownName("the type Prodcut"), UnknownName("the property prize")),
        (MissingProperty("Product lacks name"), MissingProperty("Product lacks offers")),
        (ChangedMetadata("title", "a", ""), ChangedMetadata("robots", "a", "")),
        (PreconnectedOrigin("https://a.test"), PreconnectedOrigin("https://b.test")),
        (crawler("Googlebot"), crawler("Bingbot")),
        (MisplacedMetadata("p", "<p>"), MisplacedMetadata("div", "<div>")),
        (PrivateReference("a", "href", "http://localhost/a"),
         PrivateReference("a", "href", "http://localhost/b")),
        (UncrawlableLink("Read more", '<a onclick="a()">', "is a script"),
         UncrawlableLink("Order", '<a onclick="b()">', "is a script")),
    ]),
]  # fmt: skip
