"""Examples for the server that answered, at each fix that has one."""

from __future__ import annotations

import pytest

from tests.website_scan.report.test_cards import card, exported, passed
from website_scan.findings import Server
from website_scan.report.snippets import ANYWHERE, SERVERS, fixes, how_to

HSTS = 'add_header Strict-Transport-Security "max-age=31536000; includeSubDomains" always;'


def test_the_example_is_that_of_the_server_that_answered() -> None:
    found = how_to("hsts", Server.NGINX, (), has_page=True)
    assert [(each.server, each.code) for each in found.snippets] == [("nginx", HSTS)]
    assert found.others == ("Apache", "IIS", "Caddy", "Django", "Express")


@pytest.mark.parametrize("server", ["", Server.STATIC, "unheard-of"])
def test_for_another_server_the_page_of_the_check_is_linked(server: str) -> None:
    found = how_to("hsts", server, (), has_page=True)
    assert found.snippets == ()
    assert found.others == ("nginx", "Apache", "IIS", "Caddy", "Django", "Express")
    # A file has no such page, so it has all examples.
    found = how_to("hsts", server, (), has_page=False)
    assert [each.server for each in found.snippets] == ["nginx", "Apache", "IIS", "Caddy", "Django", "Express"]
    assert found.others == ()


def test_what_depends_on_no_server_is_always_there() -> None:
    assert set(ANYWHERE) <= set(SERVERS.values())
    assert [each.server for each in how_to("dmarc", "", (), has_page=True).snippets] == ["DNS"]


def test_the_fix_says_nothing_twice() -> None:
    assert how_to("hsts", Server.NGINX, (HSTS,), has_page=False).snippets == ()


def test_no_check_without_examples_has_any() -> None:
    assert how_to("nowhere", Server.NGINX, (), has_page=True).snippets == ()
    assert "nowhere" not in fixes()


def test_a_card_folds_the_example_with_its_copy_button() -> None:
    found = card(exported("hsts", fix="Send it."), server="Caddy", check_pages="/docs/checks/")
    (example,) = found.xpath("//details[@class='example']")
    assert example.get("open") is None
    assert example.xpath("summary/text()") == ["Example for Caddy"]
    (button,) = example.xpath(".//button")
    assert "Strict-Transport-Security" in button.getprevious().text_content()
    (link,) = found.xpath("//p[@class='others']/a")
    assert link.get("href") == "/docs/checks/hsts"
    assert link.text == "nginx, Apache, IIS, Django, Express"
    # A passed check needs no fix.
    assert not card(passed()).xpath("//details[@class='example']")
