"""Tests for fix examples by web server."""

from __future__ import annotations

import pytest

from tests.website_scan.report.test_cards import card, exported_finding, exported_pass
from website_scan.findings import Server
from website_scan.report.snippets import ANYWHERE, SERVERS, fixes, how_to

HSTS = 'add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;'


def test_example_is_for_web_server_of_page() -> None:
    examples = how_to("hsts", Server.NGINX, (), has_page=True)
    assert [(snippet.server, snippet.code) for snippet in examples.snippets] == [("nginx", HSTS)]
    assert examples.others == ("Apache", "IIS", "Caddy", "Django", "Express")


@pytest.mark.parametrize("server", ["", Server.STATIC, "unheard-of"])
def test_unknown_server_has_examples_on_check_page(server: str) -> None:
    examples = how_to("hsts", server, (), has_page=True)
    assert examples.snippets == ()
    assert examples.others == ("nginx", "Apache", "IIS", "Caddy", "Django", "Express")
    # Formats such as HTML files show all examples, because they cannot link to the check's page.
    examples = how_to("hsts", server, (), has_page=False)
    assert [snippet.server for snippet in examples.snippets] == ["nginx", "Apache", "IIS", "Caddy", "Django", "Express"]
    assert examples.others == ()


def test_examples_for_any_server_are_included() -> None:
    assert set(ANYWHERE) <= set(SERVERS.values())
    assert [snippet.server for snippet in how_to("dmarc", "", (), has_page=True).snippets] == ["DNS"]


def test_duplicate_example_is_left_out() -> None:
    assert how_to("hsts", Server.NGINX, (HSTS,), has_page=False).snippets == ()


def test_check_without_fixes_has_no_examples() -> None:
    assert how_to("nowhere", Server.NGINX, (), has_page=True).snippets == ()
    assert "nowhere" not in fixes()


def test_card_collapses_the_example() -> None:
    card_html = card(exported_finding("hsts", fix="Send it."), server="Caddy", check_pages="/docs/checks/")
    (example,) = card_html.xpath("//details[@class='example']")
    assert example.get("open") is None
    assert example.xpath("summary/text()") == ["Example for Caddy"]
    (button,) = example.xpath(".//button")
    assert "Strict-Transport-Security" in button.getprevious().text_content()
    (link,) = card_html.xpath("//p[@class='others']/a")
    assert link.get("href") == "/docs/checks/hsts"
    assert link.text == "nginx, Apache, IIS, Django, Express"
    # A passed check needs no fix.
    assert not card(exported_pass()).xpath("//details[@class='example']")
