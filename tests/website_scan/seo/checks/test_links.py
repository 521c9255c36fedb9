from __future__ import annotations

import pytest

from tests.website_scan.cast import body, head, message, outcome, page, rows, verdict
from tests.website_scan.seo.cast import judge, message_with_places
from website_scan.outcomes import Verdict
from website_scan.seo.checks import links as checks
from website_scan.seo.evidence import LinkAnswer, LinkAnswers

HOST = "https://site.example.com"


def judge_anchors(markup: str) -> Verdict:
    html_page = page(body(markup))
    return judge(checks.crawlable_anchors, html_page)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>Text", "n/a"),
        ("<template><a onclick=x()>a</a></template>", "n/a"),
        ("<a href=/a>a</a>", "pass"),
        ("<a href='  /a\n'>a</a>", "pass"),
        ("<a href='#'>a</a>", "pass"),
        ("<a href='#top' onclick=x()>a</a>", "pass"),
        ("<a href='?page=2'>a</a>", "pass"),
        ("<a href=/a onclick=track()>a</a>", "pass"),
        ("<a>A placeholder</a>", "pass"),
        ("<a id=top></a>", "pass"),
        ("<a name=top></a>", "pass"),
        ("<a name=top href=''></a>", "pass"),
        ("<a role=button onclick=x()>a</a>", "pass"),
        ("<a role=button href='javascript:void(0)'>a</a>", "pass"),
        ("<a href='mailto:a@site.example.com'>a</a>", "pass"),
        ("<a href='tel:+49 30 1234'>a</a>", "pass"),
        ("<a href='whatsapp://send?text=a'>a</a>", "pass"),
        ("<a href='data:text/plain,a'>a</a>", "pass"),
        ("<svg><a xlink:href=/a><text>a</text></a></svg>", "pass"),
        ("<a href=/shop routerlink=/shop>a</a>", "pass"),
        ("<a href='javascript:window.print()'>Print</a>", "pass"),
        ("<a href='javascript:history.back()'>Back</a>", "pass"),
        ("<a href='javascript:void window.history.go(-1)'>Back</a>", "pass"),
        ("<a href='javascript:(function(){alert(1)})()'>Drag me to your bookmarks</a>", "pass"),
        ("<a href='javascript:(() => 1)()'>Drag me to your bookmarks</a>", "pass"),
        ("<a onclick='go(\"/a\")'>a</a>", "uncrawlable"),
        ("<a id=x onclick='location=\"/a\"'>a</a>", "uncrawlable"),
        ("<a routerLink=/shop>a</a>", "uncrawlable"),
        ("<a data-href=/shop>a</a>", "uncrawlable"),
        ("<a href=''>a</a>", "pass"),
        ("<a href>a</a>", "pass"),
        ("<a href='javascript:void(0)'>a</a>", "uncrawlable"),
        ("<a href='JavaScript:;' id=x>a</a>", "uncrawlable"),
        ("<a href='java&#10;script:go(1)'>a</a>", "uncrawlable"),
        ("<a href='javascript:location.href=\"/a\"'>a</a>", "uncrawlable"),
        # Links with names and page numbers lead to other pages, unlike icons.
        ("<a href='javascript:void(0);' class=page-link>2</a>", "uncrawlable"),
        ("<a href='javascript:;'>About Us</a>", "uncrawlable"),
        ("<a href='javascript:;'><img src=a.png alt='About Us'></a>", "uncrawlable"),
        ("<a href='javascript:;'><img src=a.png></a>", "uncrawlable"),
        ("<a href='javascript:;'><span>About <i>Us</i></span></a>", "uncrawlable"),
        ("<a href='javascript:;'><span class=icon>About us</span></a>", "uncrawlable"),
        ("<a href='javascript:;'><i class=material-icons>home</i> About</a>", "uncrawlable"),
        # A name for screen readers does not turn an icon into a page link.
        ("<a href='javascript:;'><i></i></a>", "pass"),
        ("<a href='javascript:;' aria-label='About Us'><i></i></a>", "pass"),
        ("<a href='javascript:;' title='About Us'><i></i></a>", "pass"),
        ("<a href='javascript:;'><svg><title>About Us</title></svg></a>", "pass"),
        ("<a href='javascript:;'><i></i><span class='sr-only'>About Us</span></a>", "pass"),
        ("<a href='javascript:;'><i></i><b class='a visually-hidden'>About Us</b></a>", "pass"),
        ("<a href='javascript:;'><img src=a.png width=16 height=16></a>", "pass"),
        ("<a href='javascript:;'><img src=a.png width=16 height=16 alt='Close'></a>", "pass"),
        ("<a href='javascript:;'><img src=a.png width=16 alt='Close'></a>", "uncrawlable"),
        # A ligature of an icon font counts as an icon.
        ("<a href='javascript:;'><i class=material-icons>shopping_cart</i></a>", "pass"),
        ("<a href='javascript:;'><span class='material-symbols-outlined'>menu</span></a>", "pass"),
        ("<a href='javascript:;'><mat-icon>close</mat-icon></a>", "pass"),
        ("<a href='javascript:;'><i class='icon'>arrow_back</i> &times;</a>", "pass"),
        ("<a href='javascript:void(0)' onclick='openPage(\"prices\")'>Prices</a>", "uncrawlable"),
        ("<a href='javascript:void(0)' onclick='location=\"/prices\"'>Prices</a>", "uncrawlable"),
        ("<a href='javascript:openPage(7)' data-toggle=tab>Prices</a>", "uncrawlable"),
        ("<a href='javascript:void(0)' data-toggle=dropdown>Components</a>", "pass"),
        ("<a href='javascript:;' aria-expanded=false>Messages</a>", "pass"),
        ("<a href='javascript:void(0)' onclick='toggle_div(\"submenu\")'>Menu</a>", "pass"),
        ("<a href='javascript:void(0)' onclick='scrollToDownload()'>Download</a>", "pass"),
        ("<a href='javascript:void(0)' title='collapse all docs'>[<span>&#x2212;</span>]</a>", "pass"),
        ("<a href='javascript:void(0)' class=icon><i class='fe fe-heart'></i></a>", "pass"),
        ("<a href='file:///C:/a.html'>a</a>", "uncrawlable"),
        ("<a href='http://'>a</a>", "uncrawlable"),
        ("<a href='https://[broken'>a</a>", "uncrawlable"),
        ("<a href='http://a b/'>a</a>", "uncrawlable"),
        ("<svg><a xlink:href='javascript:x()'><text>a</text></a></svg>", "uncrawlable"),
        ("<a href=/a>a</a><a href=''>b</a>", "pass"),
    ],
)
def test_crawlable_anchors_check_verdict(markup: str, expected: str) -> None:
    finding = judge_anchors(markup)
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "uncrawlable" else expected)


def test_anchors_message_quotes_links() -> None:
    text = message_with_places(judge_anchors("<a href=/a>a</a><a href='javascript:go(7)'>Our prices</a>"))
    assert "1 of 2 links" in text
    assert '<a href="javascript:go(7)"> “Our prices” runs a script' in text


def test_anchors_message_quotes_link_without_text() -> None:
    finding = judge_anchors("<a href=/a>a</a><a href='javascript:go(7)' aria-label=Prices></a>")
    assert (
        message_with_places(finding)
        == '1 of 2 links cannot be followed by crawlers, such as <a href="javascript:go(7)">.'
    )
    (row,) = rows(finding)
    assert row["reason"] == "runs a script instead of naming a URL"
    finding = judge_anchors("<a href='javascript:go(7)' aria-label=Prices></a><a href='javascript:go(8)'>Prices</a>")
    assert '<a href="javascript:go(8)"> “Prices” runs a script' in message_with_places(finding)
    assert len(rows(finding)) == 2


def judge_link_text(markup: str, lang: str = "en") -> Verdict:
    html_page = page(f"<!doctype html><html lang={lang}><title>A</title><body>{markup}")
    return judge(checks.link_text, html_page)


@pytest.mark.parametrize(
    ("markup", "lang", "expected"),
    [
        ("<a href=/a>Our prices</a>", "en", "pass"),
        ("<a href=/a>Read more</a>", "en", "generic"),
        ("<a href=/a> READ\n more … »</a>", "en", "generic"),
        ("<a href=/a>[click <b>here</b>]</a>", "en", "generic"),
        ("<a href=/a>Read more about shoes</a>", "en", "pass"),
        ("<a href=/a aria-label='Read more about shoes'>Read more</a>", "en", "pass"),
        ("<a href=/a aria-labelledby=t>Read more</a><h2 id=t>Shoes</h2>", "en", "pass"),
        ("<a href=/a>Read more<span class=sr-only> about shoes</span></a>", "en", "pass"),
        ("<a href=/a aria-label='more'>Our prices</a>", "en", "generic"),
        ("<a href=/a><img src=a.png alt='Shoes'></a>", "en", "pass"),
        ("<a href=/a><img src=a.png alt='Click here'></a>", "en", "generic"),
        ("<a href=/a>Read more<img src=a.png alt='of shoes'></a>", "en", "pass"),
        ("<a href=/a><img src=a.png></a>", "en", "pass"),  # An accessibility check reports links without a name.
        ("<a href=/a>Go</a>", "en", "pass"),  # Go is a programming language.
        ("<a href=/a hidden>Read more</a><a href=/b>Prices</a>", "en", "pass"),
        ("<a href=/a rel=nofollow>Read more</a><a href=/b>Prices</a>", "en", "pass"),
        ("<a href=#more>More</a><a href=/b>Prices</a>", "en", "pass"),
        ("<a href=/shop/shoes#more>More</a><a href=/b>Prices</a>", "en", "pass"),  # The link leads to the page itself.
        ("<a href=#more>More</a>", "en", "n/a"),
        ("<a href='javascript:more()'>More</a>", "en", "n/a"),
        ("<a href='mailto:a@b.example'>here</a>", "en", "n/a"),
        ("<a href=/a>hier</a>", "de", "generic"),
        ("<a href=/a>Hier</a>", "de-AT", "generic"),
        ("<a href=/a>Mehr erfahren</a>", "de", "generic"),
        ("<a href=/a>Mehr erfahren</a>", "en", "generic"),  # The declared language is often a default of the software.
        ("<a href=/a lang=de>Hier</a>", "en", "generic"),
        ("<a href=/a>Hier</a>", "en", "pass"),
        ("<div lang=sv><a href=/a>Mer</a></div>", "en", "generic"),
        ("<a href=/a>Mer</a>", "fr", "pass"),  # The French word “mer” means “sea”.
        ("<a href=/a>En savoir plus</a>", "fr", "generic"),
        ("<a href=/a>Plus d\u2019infos</a>", "fr", "generic"),
        ("<a href=/a>La Suite</a>", "fr", "pass"),  # La Suite is the name of a hotel.
        ("<a href=/a>aquí</a>", "es", "generic"),
        ("<a href=/a>Leggi tutto</a>", "it", "generic"),
        ("<a href=/a>Saiba mais</a>", "pt-BR", "generic"),
        ("<a href=/a>Lees meer</a>", "nl", "generic"),
        ("<a href=/a>Czytaj więcej</a>", "pl", "generic"),
        ("<a href=/a>Läs mer</a>", "sv", "generic"),
        ("<a href=/a>Læs mere</a>", "da", "generic"),
        ("<a href=/a>her</a>", "nb", "generic"),
        ("<a href=/a>こちら</a>", "ja", "generic"),
        ("<a href=/a>詳しくはこちら</a>", "xx", "generic"),
        ("<a href=/a>подробнее</a>", "ru", "generic"),
        ("<a href=/a>here</a>", "''", "generic"),
        (f"<a href=/a>{'Read more ' * 50}</a>", "en", "pass"),
    ],
)
def test_link_text_check_verdict(markup: str, lang: str, expected: str) -> None:
    finding = judge_link_text(markup, lang)
    assert outcome(finding) == expected
    assert verdict(finding) == ("warn" if expected == "generic" else expected)


def test_link_text_message_quotes_url() -> None:
    text = message_with_places(judge_link_text("<a href=/a>Prices</a><a href=/b>here</a>"))
    assert text == f"1 of 2 links to other pages has a generic text: “here” to {HOST}/b."


def answer(status: int | None, is_broken: bool | None, *, is_internal: bool = True, error: str = "") -> LinkAnswer:
    return LinkAnswer(f"{HOST}/a" if is_internal else "https://other.example/a", is_internal, status, is_broken, error)


FINE, GONE, UNCLEAR = answer(200, False), answer(404, True), answer(403, None)
BROKEN_EXTERNAL_LINK = answer(None, True, is_internal=False, error="other.example does not resolve to an address.")


@pytest.mark.parametrize(
    ("answers", "expected", "expected_text"),
    [
        (LinkAnswers(), "n/a", "no link to check"),
        (LinkAnswers((UNCLEAR,), 1), "n/a", "shows whether"),
        (LinkAnswers((FINE,), 130, 2), "pass", "1 of 132 links checked"),
        (LinkAnswers((FINE, UNCLEAR), 2), "pass", "1 without a clear answer"),
        (LinkAnswers((FINE, UNCLEAR), 1, 1, resolves_other_sites=False), "pass", "external links could not be checked"),
        (LinkAnswers((UNCLEAR,), 0, 1, resolves_other_sites=False), "n/a", "external links could not be checked"),
        (
            LinkAnswers((FINE, GONE), 2),
            "internal",
            f"1 internal link is broken (2 of 2 links checked): {HOST}/a (404)",
        ),
        (LinkAnswers((GONE, BROKEN_EXTERNAL_LINK), 1, 1), "internal", "1 internal link and 1 external link are broken"),
        (
            LinkAnswers((GONE, BROKEN_EXTERNAL_LINK), 1, 1),
            "internal",
            f"{HOST}/a (404); https://other.example/a (other",
        ),
        (LinkAnswers((FINE, BROKEN_EXTERNAL_LINK), 1, 1), "external", "does not resolve"),
        (LinkAnswers((GONE,), 9, stopped="Status 429, too many requests."), "internal", "because of status 429"),
    ],
)
def test_broken_links_check_verdict(answers: LinkAnswers, expected: str, expected_text: str) -> None:
    finding = checks.broken_links(answers)
    assert outcome(finding) == expected
    assert verdict(finding) == {"internal": "fail", "external": "warn"}.get(expected, expected)
    assert expected_text in message_with_places(finding)


def judge_localhost_links(markup: str, url: str = f"{HOST}/shop/shoes", head_markup: str = "") -> Verdict:
    html_page = page(head(head_markup, markup), url=url)
    return judge(checks.localhost_links, html_page)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=/a>a</a><img src=b.png>", "pass"),
        ("<a href=https://localhost.example.com/>a</a>", "pass"),
        ("<a href=https://127.0.0.1.example.com/>a</a>", "pass"),
        ("<a href=https://local.example.com/>a</a>", "pass"),
        ("<a href='/r?to=http://localhost/'>a</a>", "pass"),
        ("<a href='https://a.example/#http://localhost/'>a</a>", "pass"),
        ("<p>Open http://localhost:3000 in your browser", "pass"),
        ("<code>&lt;a href='http://localhost'></code>", "pass"),
        # The text is an instruction for developers, not a broken link.
        ("<a href=http://localhost:3000/>http://localhost:3000</a>", "pass"),
        ("<a href=http://192.168.1.1>192.168.1.1 log-in</a>", "pass"),
        ("<a href=https://172.15.0.1/>a</a>", "pass"),
        ("<a href=https://11.0.0.1/>a</a>", "pass"),
        ("<a href=http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/>a</a>", "pass"),
        ("<a href='mailto:root@localhost'>a</a>", "pass"),
        ("<meta property=og:description content='http is not localhost'>", "pass"),
        ("<meta name=description content='http://localhost/'>", "pass"),
        ("<img srcset='/a.png 1x, /b.png 2x'>", "pass"),
        ("<template><a href=http://localhost/>a</a></template>", "pass"),
        ("<a href=http://localhost:3000/>Prices</a>", "private"),
        ("<a href=//localhost/>Prices</a>", "private"),
        ("<a href=' http://LOCALHOST/'>Prices</a>", "private"),
        ("<a href=http://app.localhost/>Prices</a>", "private"),
        ("<a href=http://127.0.0.1:8000/>Prices</a>", "private"),
        ("<a href=http://127.1/>Prices</a>", "private"),
        ("<a href=http://0x7f000001/>Prices</a>", "private"),
        ("<a href=http://0.0.0.0:8000/>Prices</a>", "private"),
        ("<a href=http://10.1.2.3/>Prices</a>", "private"),
        ("<a href=http://172.31.0.1/>Prices</a>", "private"),
        ("<a href=https://192.168.0.5/>Prices</a>", "private"),
        ("<a href=http://169.254.169.254/>Prices</a>", "private"),
        ("<a href=http://[::1]/>Prices</a>", "private"),
        ("<a href=http://[::ffff:10.0.0.1]/>Prices</a>", "private"),
        ("<a href=http://[fd00::1]/>Prices</a>", "private"),
        ("<a href=http://nas.local/>Prices</a>", "private"),
        ("<a href=https://shop.test/>Prices</a>", "private"),
        ("<a href=file:///C:/prices.pdf>Prices</a>", "private"),
        ("<img src='C:\\prices.png'>", "private"),
        ("<img src=http://localhost/a.png>", "private"),
        ("<img srcset='/a.png 1x, http://localhost/b.png 2x'>", "private"),
        ("<script src=http://localhost:35729/livereload.js></script>", "private"),
        ("<form action=http://localhost/send></form>", "private"),
        ("<object data=http://localhost/a.pdf></object>", "private"),
        ("<video poster=http://localhost/a.png></video>", "private"),
        ("<svg><image xlink:href=http://localhost/a.png /></svg>", "private"),
    ],
)
def test_localhost_links_check_verdict(markup: str, expected: str) -> None:
    finding = judge_localhost_links(markup)
    assert outcome(finding) == expected
    assert verdict(finding) == ("fail" if expected == "private" else expected)


@pytest.mark.parametrize(
    "head_markup",
    [
        "<link rel=canonical href=http://localhost:8000/>",
        "<link rel=stylesheet href=http://127.0.0.1/a.css>",
        "<meta property=og:image content=http://localhost:3000/a.png>",
        "<meta name=twitter:image content=http://localhost:3000/a.png>",
        "<base href=http://localhost:3000/>",
    ],
)
def test_local_url_in_head_fails(head_markup: str) -> None:
    assert verdict(judge_localhost_links("<a href=/a>a</a>", head_markup=head_markup)) == "fail"


def test_localhost_links_message_quotes_url() -> None:
    assert '<a href="http://localhost:3000/prices">' in message_with_places(
        judge_localhost_links("<a href=http://localhost:3000/prices>Prices</a>")
    )


@pytest.mark.parametrize("url", ["http://localhost:8000/", "http://127.0.0.1:8000/", "http://[::1]:8000/"])
def test_localhost_links_are_allowed_on_local_host(url: str) -> None:
    assert verdict(judge_localhost_links("<a href=http://localhost:8000/a>a</a>", url)) == "n/a"


def judge_nofollow(markup: str, *headers: tuple[str, str], head_markup: str = "") -> Verdict:
    html_page = page(head(head_markup, markup), *headers)
    return judge(checks.internal_nofollow, html_page)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=/a>a</a>", "pass"),
        ("<p>Text", "n/a"),
        ("<a href=https://other.example/ rel=nofollow>a</a>", "n/a"),
        ("<a href=#a rel=nofollow>a</a>", "n/a"),
        ("<a href=/a rel='noopener noreferrer'>a</a>", "pass"),
        ("<a href=/a rel='nofollow ugc'>a</a>", "pass"),
        ("<a href=/a rel='sponsored nofollow'>a</a>", "pass"),
        ("<a href='/a?sort=price' rel=nofollow>a</a>", "pass"),
        ("<a href='?replytocom=7#respond' rel=nofollow>a</a>", "pass"),
        ("<a href=/log-in rel=nofollow>a</a>", "pass"),
        ("<a href=/de/cart/ rel=nofollow>a</a>", "pass"),
        ("<a href=/logout rel=nofollow>a</a>", "pass"),
        ("<a href=/a rel=nofollow>a</a>", "links"),
        ("<a href=/a rel='NoFollow noopener'>a</a>", "links"),
        ("<a href=https://www.site.example.com/a rel=nofollow>a</a>", "links"),
        ("<map><area href=/a rel=nofollow></map>", "links"),
    ],
)
def test_internal_nofollow_check_verdict(markup: str, expected: str) -> None:
    finding = judge_nofollow(markup)
    assert outcome(finding) == expected
    assert verdict(finding) == ("warn" if expected == "links" else expected)


def test_robots_nofollow_counts() -> None:
    link = "<a href=/a>a</a>"
    finding = judge_nofollow(link, head_markup="<meta name=robots content='index, nofollow'>")
    assert (verdict(finding), outcome(finding)) == ("warn", "page")
    assert message(finding) == 'The rule nofollow in <meta name="robots"> applies to 1 internal link.'
    assert outcome(judge_nofollow(link, ("X-Robots-Tag", "none"))) == "page"
    assert verdict(judge_nofollow(link, ("X-Robots-Tag", "bingbot: nofollow"))) == "pass"
    assert verdict(judge_nofollow("<p>Text", ("X-Robots-Tag", "none"))) == "n/a"


def test_message_separates_followed_links() -> None:
    login = "<a href=/log-in rel=nofollow>a</a><a href='/a?sort=price' rel=nofollow>b</a>"
    text = message(judge(checks.internal_nofollow, page(body(f"{login}<a href=/b>b</a>"))))
    assert (
        text == "1 internal link can be followed by crawlers;"
        " 2 internal links with nofollow need not be followed, such as log-ins."
    )
    text = message(judge(checks.internal_nofollow, page(body(login))))
    assert text.startswith("2 internal links with nofollow, but only to pages that need no crawling")
