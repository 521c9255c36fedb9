from __future__ import annotations

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from website_scan.page.fetch import SiteProtected, fetch_page, page_references, parse_document
from website_scan.security.evidence import LoadedScripts
from website_scan.security.probes.libraries import MAX_FETCHED_SCRIPTS, loaded_scripts

JS = {"Content-Type": "text/javascript"}


def load_scripts(site: Site) -> LoadedScripts:
    with loopback_network() as network:
        page = fetch_page(target(f"{site.url}/"), network)
        return loaded_scripts(page, page_references(parse_document(page)), network)


def test_beginnings_of_scripts_are_fetched() -> None:
    html = "<script src=/a.js></script><script src=/gone.js></script><script src=/jquery-3.7.1.js></script>"
    html += "<script src=https://cdn.example.net/b.js></script>"
    with Site({"/": Answer(html), "/a.js": Answer("/*! A */" + "x" * 200_000, headers=JS)}) as site:
        texts = {script.url.rpartition("/")[2]: script.text for script in load_scripts(site).scripts}
    assert texts["a.js"].startswith("/*! A */")
    assert len(texts["a.js"]) == 64 * 1024
    assert {name: text for name, text in texts.items() if name != "a.js"} == {
        "gone.js": "",
        "jquery-3.7.1.js": "",  # The URL already contains the library and its version.
        "b.js": "",
    }
    assert sorted(site.paths()) == ["/", "/a.js", "/gone.js"]


def test_unreachable_script_has_no_text() -> None:
    with Site({"/": Answer("<script src=http://127.0.0.1:1/a.js></script>")}) as site:
        assert [(script.url, script.text) for script in load_scripts(site).scripts] == [("http://127.0.0.1:1/a.js", "")]


def test_number_of_requests_is_limited() -> None:
    html = "".join(f"<script src=/{number}.js></script>" for number in range(500))
    with Site({"/": Answer(html)}) as site:
        assert len(load_scripts(site).scripts) == 40
        assert len(site.paths()) == 1 + MAX_FETCHED_SCRIPTS


def test_library_probe_stops_after_status_429() -> None:
    routes = {"/": Answer("<script src=/a.js></script>"), "/a.js": Answer(status=429)}
    with Site(routes) as site, pytest.raises(SiteProtected):
        load_scripts(site)
