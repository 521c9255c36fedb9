"""Tests for the check pages."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from xml.etree import ElementTree

import pytest
from django.test import Client
from lxml import html

from documentation.check_pages import search
from scans.check_catalogue import entries
from website_scan import catalogue
from website_scan.catalogue import checks
from website_scan.command.listing import EVIDENCE
from website_scan.findings import ScanType
from website_scan.report.snippets import SERVERS, fixes

CATALOGUE = {check.id: check for scan_type in ScanType for check in checks(scan_type)}
SECTIONS = ["What it finds", "Why it matters", "How it is judged", "How to fix it", "Sources"]
SNIPPETS = sorted(
    {
        (snippet.server, snippet.code)
        for snippets_of_check in fixes().values()
        for fix in snippets_of_check
        for snippet in fix.snippets
    }
)


def main_element(path: str) -> html.HtmlElement:
    response = Client().get(path)
    assert response.status_code == 200, path
    return html.fromstring(response.content.decode()).find(".//main")


def page_text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_check_states_its_reason_in_one_sentence() -> None:
    for check in CATALOGUE.values():
        assert 25 < len(check.why) < 160, check.id
        assert re.fullmatch(r"(?:[A-Z]|[a-z]+\(\) ).*\.", check.why), check.id
        assert not check.judged or check.judged.endswith("."), check.id


def test_check_page_has_no_empty_sections() -> None:
    assert entries().keys() == CATALOGUE.keys()
    for check in CATALOGUE.values():
        page = main_element(f"/docs/checks/{check.id}")
        assert page_text(page.find(".//h1")) == check.name
        sections = [page_text(heading) for heading in page.iter("h2")]
        assert [section for section in sections if section in SECTIONS] == SECTIONS, check.id
        for heading in page.xpath(".//h2|.//h3"):
            following = heading.getnext()
            assert following is not None, (check.id, heading.text)
            assert following.tag not in ("h1", "h2"), (check.id, heading.text)
            assert page_text(following), (check.id, heading.text)
        text = page_text(page)
        for expected in (
            check.id,
            check.found,
            check.why,
            " ".join(check.own_fix.text.replace("`", "").split()),
            check.category.name,
        ):
            assert expected in text, (check.id, expected)


def test_check_page_explains_the_judgement() -> None:
    text = page_text(main_element("/docs/checks/lcp"))
    assert "Passes up to 2.5 s, warns up to 4.0 s" in text
    assert "It is left out if no browser is installed." in text
    assert "which has the weight 45 (15 without a browser) of 101" in text
    assert "At most 79: A critical check failed." in text
    assert "its result may vary from scan to scan" in text
    text = page_text(main_element("/docs/checks/cookie-secure"))
    assert "It needs no browser." in text
    assert "vary from scan to scan" not in text


def test_check_page_shows_the_category_weight() -> None:
    """The category weights of a scan type need not add up to 100."""
    weights = {check.category: check.category.weight for check in checks(ScanType.SEO)}
    text = page_text(main_element("/docs/checks/title"))
    assert f"{weights[CATALOGUE['title'].category]} of {sum(weights.values())}." in text


def test_check_page_lists_deviations() -> None:
    text = page_text(main_element("/docs/checks/referrer-policy"))
    assert "Where it differs from other tools" in text
    assert "no policy at all passes" in text
    # These deviations apply to a whole category, or to a prefix of checks.
    assert "count a weakness only if every policy has it" in page_text(main_element("/docs/checks/csp-syntax"))
    assert "require the structure of the whole file" in page_text(main_element("/docs/checks/exposed-env"))
    assert "Where it differs from other tools" not in page_text(main_element("/docs/checks/tls-cert-expiry"))


def test_check_page_links_to_its_sources() -> None:
    page = main_element("/docs/checks/hsts")
    assert "https://www.rfc-editor.org/rfc/rfc6797#section-6.1" in page.xpath(".//a/@href")
    assert "https://www.w3.org/TR/CSP3/" in main_element("/docs/checks/csp-syntax").xpath(".//a/@href")


@pytest.mark.parametrize("check_id", ["nothing", "HSTS", "hsts ", "hsts%2f..", "%3Cscript%3E"])
def test_unknown_check_page_returns_404(db: None, check_id: str) -> None:
    assert Client().get(f"/docs/checks/{check_id}").status_code == 404


def test_check_page_contains_its_snippets() -> None:
    assert fixes().keys() <= CATALOGUE.keys()
    for check_id, snippets_of_check in fixes().items():
        page = main_element(f"/docs/checks/{check_id}")
        code = [element.text_content() for element in page.xpath(".//pre/code")]
        headings = [page_text(heading) for heading in page.xpath(".//h3")]
        for fix in snippets_of_check:
            assert fix.snippets, check_id
            for snippet in fix.snippets:
                assert snippet.code in code
                assert snippet.server in headings


def test_fix_files_contain_only_known_servers() -> None:
    files = [path for scan_type in ScanType for path in EVIDENCE.parent.joinpath(scan_type, "fixes").glob("*.toml")]
    assert len(files) > 5
    for path in files:
        for fix in tomllib.loads(path.read_text(encoding="utf-8"))["fix"]:
            assert fix.keys() <= {"checks", "note", *SERVERS}, path
            for check_id in fix["checks"]:
                assert CATALOGUE[check_id].type == path.parent.parent.name, (path, check_id)


@pytest.mark.parametrize(
    "check_id",
    ["hsts", "http-to-https-redirect", "cookie-secure", "text-compressed", "cache-missing", "cors-credentials"],
)
def test_server_checks_have_a_fix_for_each_server(check_id: str) -> None:
    servers = {snippet.server for fix in fixes()[check_id] for snippet in fix.snippets}
    assert servers >= {"nginx", "Apache", "IIS", "Caddy", "Django", "Express"}


def test_fixes_cover_all_web_servers() -> None:
    """Regression test: IIS sites got snippets for other servers."""
    for check_id, snippets_of_check in fixes().items():
        if check_id == "exposed-server-status":  # Only Apache and nginx have a server status page.
            continue
        servers = {snippet.server for fix in snippets_of_check for snippet in fix.snippets} & {
            "nginx",
            "Apache",
            "IIS",
            "Caddy",
        }
        assert not servers or servers == {"nginx", "Apache", "IIS", "Caddy"}, check_id


@pytest.mark.parametrize("code", [code for server, code in SNIPPETS if server == "IIS"])
def test_iis_snippets_are_xml_or_commands(code: str) -> None:
    if code.startswith("#"):
        assert code.count("{") == code.count("}"), code
    else:
        ElementTree.fromstring(f"<configuration>{code}</configuration>")


@pytest.mark.parametrize("code", [code for server, code in SNIPPETS if server == "Django"])
def test_snippets_for_django_are_python(code: str) -> None:
    ast.parse(code)


def test_snippets_for_express_are_javascript() -> None:
    if not (node := shutil.which("node")):
        pytest.skip("Node.js is not installed")
    for server, code in SNIPPETS:
        if server == "Express":
            ran = subprocess.run([node, "--check", "-"], input=code, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, f"{code}\n{ran.stderr}"


@pytest.mark.parametrize(("server", "code"), [snippet for snippet in SNIPPETS if snippet[0] in ("nginx", "Caddy")])
def test_nginx_snippets_have_balanced_blocks(server: str, code: str) -> None:
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|\\\S+|~\*? \S+|path_regexp .*|#.*", "", code)
    assert bare.count("{") == bare.count("}"), code
    if server == "nginx":
        lines = [line.strip() for line in re.sub(r"#.*", "", code).splitlines() if line.strip()]
        assert all(line[-1] in "{};" for line in lines), code


@pytest.mark.parametrize("code", [code for server, code in SNIPPETS if server == "Apache"])
def test_apache_snippets_have_closed_sections(code: str) -> None:
    opened = re.findall(r"^\s*<(\w+)", code, re.MULTILINE)
    assert opened == re.findall(r"^\s*</(\w+)>", code, re.MULTILINE)[::-1]


def test_evidence_of_checks_is_described() -> None:
    named = tomllib.loads(EVIDENCE.read_text(encoding="utf-8"))
    read = {need.evidence.__name__ for check in CATALOGUE.values() for need in check.needs}
    read |= {need.evidence.__name__ for check in CATALOGUE.values() if check.override for need in check.override.needs}
    assert named.keys() == read
    assert EVIDENCE.parent == type(EVIDENCE)(catalogue.__file__).parent


def test_check_list_has_all_checks() -> None:
    page = main_element("/docs/checks/")
    ids = [element.rpartition("/")[2] for element in page.xpath(".//ul[@class='check-list']//a/@href")]
    assert ids == list(CATALOGUE)
    (way,) = page.xpath(".//nav[@aria-label='Types']//a[text()='SEO']/@href")
    page = main_element(way)
    ids = [element.rpartition("/")[2] for element in page.xpath(".//ul[@class='check-list']//a/@href")]
    assert ids == [check.id for check in checks(ScanType.SEO)]
    assert page.xpath(".//nav[@aria-label='Types']//a[@aria-current]/text()") == ["SEO"]


def test_check_list_is_searched_without_scripts() -> None:
    page = main_element("/docs/checks/?q=Secure+Cookie")
    # Outcomes of checks, such as “SameSite=None without Secure”, are found too.
    ids = [element.rpartition("/")[2] for element in page.xpath(".//ul[@class='check-list']//a/@href")]
    assert ids == ["cookie-secure", "cookie-samesite"]
    # Links to other scan types preserve the search words.
    assert "/docs/checks/?type=seo&q=Secure+Cookie" in page.xpath(".//nav[@aria-label='Types']//a/@href")
    page = main_element("/docs/checks/?q=%3Cscript%3Ealert(1)&type=nothing")
    assert "No check has these words" in page_text(page)
    assert page.xpath(".//script") == []
    assert len(search(None, "")) == len({(check.type, check.category) for check in CATALOGUE.values()})
