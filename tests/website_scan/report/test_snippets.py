"""Examples of a fix for the page's web server."""

from __future__ import annotations

import pytest

from tests.website_scan.report.test_cards import card, exported, passed
from website_scan.findings import Server
from website_scan.report.snippets import ANYWHERE, SERVERS, fixes, how_to

HSTS = 'add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;'


def test_example_is_for_the_pages_web_server() -> None:
    examples = how_to("hsts", Server.NGINX, (), has_page=True)
    assert [(snippet.server, snippet.code) for snippet in examples.snippets] == [("nginx", HSTS)]
    assert examples.others == ("Apache", "IIS", "Caddy", "Django", "Express")


@pytest.mark.parametrize("server", ["", Server.STATIC, "unheard-of"])
def test_examples_for_an_unknown_server_are_on_the_checks_page(server: str) -> None:
    examples = how_to("hsts", server, (), has_page=True)
    assert examples.snippets == ()
    assert examples.others == ("nginx", "Apache", "IIS", "Caddy", "Django", "Express")
    # Without a page of the check, as in an HTML file, all examples are included.
    examples = how_to("hsts", server, (), has_page=False)
    assert [snippet.server for snippet in examples.snippets] == ["nginx", "Apache", "IIS", "Caddy", "Django", "Express"]
    assert examples.others == ()


def test_examples_for_any_server_are_always_included() -> None:
    assert set(ANYWHERE) <= set(SERVERS.values())
    assert [snippet.server for snippet in how_to("dmarc", "", (), has_page=True).snippets] == ["DNS"]


def test_example_that_the_fix_contains_is_left_out() -> None:
    assert how_to("hsts", Server.NGINX, (HSTS,), has_page=False).snippets == ()


def test_check_without_fixes_has_no_examples() -> None:
    assert how_to("nowhere", Server.NGINX, (), has_page=True).snippets == ()
    assert "nowhere" not in fixes()


def test_card_folds_the_example_with_a_copy_button() -> None:
    card_html = card(exported("hsts", fix="Send it."), server="Caddy", check_pages="/docs/checks/")
    (example,) = card_html.xpath("//details[@class='example']")
    assert example.get("open") is None
    assert example.xpath("summary/text()") == ["Example for Caddy"]
    (button,) = example.xpath(".//button")
    assert "Strict-Transport-Security" in button.getprevious().text_content()
    (link,) = card_html.xpath("//p[@class='others']/a")
    assert link.get("href") == "/docs/checks/hsts"
    assert link.text == "nginx, Apache, IIS, Django, Express"
    # A passed check needs no fix.
    assert not card(passed()).xpath("//details[@class='example']")
