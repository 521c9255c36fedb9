from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from website_scan.page.fetch import SiteProtected, fetch_page, page_references, parse_document
from website_scan.security.evidence import LoadedScripts
from website_scan.security.probes.libraries import MAX_READ, loaded_scripts

JS = {"Content-Type": "text/javascript"}


def read(site: Site) -> LoadedScripts:
    with loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        return loaded_scripts(page, page_references(parse_document(page)), network)


def test_the_beginnings_of_the_sites_own_scripts_are_read() -> None:
    html = "<script src=/a.js></script><script src=/gone.js></script><script src=/jquery-3.7.1.js></script>"
    html += "<script src=https://cdn.example.net/b.js></script>"
    with Site({"/": Answer(html), "/a.js": Answer("/*! A */" + "x" * 200_000, headers=JS)}) as site:
        found = {each.url.rpartition("/")[2]: each.text for each in read(site).scripts}
    assert found["a.js"].startswith("/*! A */")
    assert len(found["a.js"]) == 64 * 1024
    assert {name: text for name, text in found.items() if name != "a.js"} == {
        "gone.js": "",
        "jquery-3.7.1.js": "",  # its URL names the library
        "b.js": "",
    }
    assert sorted(site.paths()) == ["/", "/a.js", "/gone.js"]


def test_a_script_that_cannot_be_reached_is_there_without_a_text() -> None:
    with Site({"/": Answer("<script src=http://127.0.0.1:1/a.js></script>")}) as site:
        assert [(each.url, each.text) for each in read(site).scripts] == [("http://127.0.0.1:1/a.js", "")]


def test_a_page_of_scripts_is_read_within_bounds() -> None:
    html = "".join(f"<script src=/{number}.js></script>" for number in range(500))
    with Site({"/": Answer(html)}) as site:
        assert len(read(site).scripts) == 40
        assert len(site.paths()) == 1 + MAX_READ


def test_a_site_that_has_enough_says_so() -> None:
    routes = {"/": Answer("<script src=/a.js></script>"), "/a.js": Answer(status=429)}
    with Site(routes) as site, pytest.raises(SiteProtected):
        read(site)
