"""Tests for `--site` and `--sitemap`, which scan the pages of a site."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run_here
from tests.targets.many_pages import TEXT, XML, document, sitemap_index, urlset
from tests.targets.server import Answer, Site
from website_scan.command import local

HTML = {"Content-Type": "text/html; charset=utf-8"}
SECRET = "3f9a77c1e5d2"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "browser", lambda: None)
    return tmp_path


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as running:
        running.routes["/"] = page("Inn", "/rooms", "/menu", "/admin/", "/log-out")
        running.routes["/rooms"] = page("Rooms", "/rooms/red")
        running.routes["/menu"] = page("Menu")
        running.routes["/rooms/red"] = page("Red room")
        running.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /admin/\n", headers=TEXT)
        yield running


def page(title: str, *links: str) -> Answer:
    return Answer(document(title, links, head="<meta name=viewport content='width=device-width'>"), headers=HTML)


def scan(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_here("scan", "--type", "seo", *arguments)


def scan_json(*arguments: str) -> Any:
    ran = scan(*arguments, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def paths(site: Site, result: Any) -> list[str]:
    return [report["url"].removeprefix(site.url) for report in result["reports"]]


def test_site_scan_follows_links_and_robots_txt(site: Site) -> None:
    result = scan_json("--site", site.url)
    assert paths(site, result) == ["/", "/rooms", "/menu", "/rooms/red"]
    assert "/admin/" not in site.paths()
    assert result["site"]["pages"] == {"found": 4, "scanned": 4, "is_complete": True}
    assert "robots.txt forbids 1 address." in result["site"]["notes"]


def test_site_scan_reads_the_sitemap_of_the_site(site: Site) -> None:
    site.routes["/sitemap.xml"] = Answer(urlset(f"{site.url}/quiet"), headers=XML)
    site.routes["/quiet"] = page("Quiet corner")
    assert "/quiet" in paths(site, scan_json("--site", site.url))


def test_max_pages_limits_and_names_the_rest(site: Site) -> None:
    addresses = [f"{site.url}/{name}" for name in ("rooms", "menu", "rooms/red")]
    site.routes["/sitemap.xml"] = Answer(urlset(*addresses), headers=XML)
    ran = scan("--site", site.url, "--max-pages", "2")
    assert ran.returncode == 0
    assert f"Scanning 2 pages of {site.url}/; at least 2 left out (--max-pages is 2).\n" in ran.stderr
    assert ran.stderr.endswith("Done: 2 reports of 2 pages.\n")
    assert ran.stderr.count("more pages") == 0


def test_include_and_exclude_choose_pages_of_a_site(site: Site) -> None:
    result = scan_json("--site", site.url, "--include", "/rooms*", "--exclude", "*red")
    assert paths(site, result) == ["/rooms"]


def test_site_text_lists_a_finding_once_with_pages(site: Site) -> None:
    ran = scan("--site", site.url)
    assert " ".join(ran.stdout.split()).count("Page has no meta description (") == 1
    assert "    On all 4 pages, such as /.\n" in ran.stdout
    table, _, summaries = ran.stdout.partition("  page\n")[2].partition("\n\n")
    assert [line.rpartition("  ")[2] for line in table.splitlines()] == ["/", "/rooms", "/menu", "/rooms/red"]
    assert summaries.startswith("  seo            lowest score ")
    assert summaries.count("\n") == 1


def test_site_json_groups_findings_with_their_pages(site: Site) -> None:
    findings = {finding["check"]: finding for finding in scan_json("--site", site.url)["findings"]}
    finding = findings["meta-description"]
    assert finding["pages_affected"] == len(finding["pages"]) == 4
    assert (finding["type"], finding["status"], finding["outcome"]) == ("seo", "fail", "missing")


def test_site_markdown_and_html_group_findings(site: Site, folder: Path) -> None:
    outputs = ["--format", "markdown", "--output", "site.md", "--format", "html", "--output", "site.html"]
    assert scan("--site", site.url, *outputs).returncode == 0
    markdown, html = (folder / "site.md").read_text(), (folder / "site.html").read_text()
    assert markdown.count("**Page has no meta description**") == 1
    assert f"On 4 pages: <{site.url}/>" in markdown
    overview = html.partition('id="site"')[2].partition("</section>")[0]
    assert overview.count("Page has no meta description") == 1
    assert all(f'href="#report-{number}"' in overview for number in (1, 2, 3, 4))


def test_gate_reports_one_complaint_for_all_pages(site: Site) -> None:
    ran = scan("--site", site.url, "--fail-on-outcome", "meta-description.missing")
    assert ran.returncode == 1
    complaints = [line for line in ran.stderr.splitlines() if line.startswith("Gate failed: ")]
    assert complaints == [f"Gate failed: seo of 4 pages, such as {site.url}/: 1 finding: Page has no meta description."]


@pytest.mark.parametrize("name", ["map.xml", "map.xml.gz", "map.txt"])
def test_sitemap_file_chooses_the_pages(site: Site, folder: Path, name: str) -> None:
    addresses = [f"{site.url}/menu", f"{site.url}/rooms/red", "https://elsewhere.example/"]
    content = ("\n".join(addresses) if name.endswith(".txt") else urlset(*addresses)).encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    ran = scan("--sitemap", name, "--allow-network", f"127.0.0.1/32:{site.port}", "--format", "json")
    assert paths(site, json.loads(ran.stdout)) == ["/menu", "/rooms/red"]
    assert "Left out: 1 address of other sites than 127.0.0.1." in ran.stderr


def test_sitemap_url_and_index_choose_the_pages(site: Site) -> None:
    site.routes["/index.xml"] = Answer(sitemap_index(f"{site.url}/part.xml"), headers=XML)
    site.routes["/part.xml"] = Answer(urlset(f"{site.url}/menu", f"{site.url}/rooms"), headers=XML)
    site.routes["/sitemap.xml"] = Answer(urlset(f"{site.url}/rooms/red"), headers=XML)
    result = scan_json("--sitemap", f"{site.url}/index.xml")
    assert paths(site, result) == ["/menu", "/rooms"]


def test_index_file_reads_its_sitemaps_from_the_site(site: Site, folder: Path) -> None:
    site.routes["/part.xml"] = Answer(urlset(f"{site.url}/menu"), headers=XML)
    (folder / "index.xml").write_text(sitemap_index(f"{site.url}/part.xml"))
    result = scan_json("--sitemap", "index.xml", "--allow-network", f"127.0.0.1/32:{site.port}")
    assert paths(site, result) == ["/menu"]


def test_sitemap_file_of_the_site_applies_to_a_preview(site: Site, folder: Path) -> None:
    (folder / "map.xml").write_text(urlset("https://inn.example/menu", "https://inn.example/rooms/red?a=b"))
    site.routes["/"] = page("Inn")
    result = scan_json("--site", site.url, "--sitemap", "map.xml")
    assert paths(site, result) == ["/", "/menu", "/rooms/red?a=b"]


def test_served_folder_is_scanned_as_a_site(folder: Path) -> None:
    (folder / "public").mkdir()
    (folder / "public" / "index.html").write_text(document("Inn", ["/menu"]))
    (folder / "public" / "menu.html").write_text(document("Menu"))
    result = scan_json("--serve", "public", "--site", "/")
    assert [report["url"].rpartition("/")[2] for report in result["reports"]] == ["", "menu"]


def test_site_error_is_printed_once_for_all_types() -> None:
    ran = run_here("scan", "--site", "http://10.0.0.1/")
    assert ran.returncode == 3
    assert ran.stdout == (
        "http://10.0.0.1/  security, performance, accessibility, seo  not scanned\n"
        "  The target is not publicly accessible: 10.0.0.1 is private (RFC 1918).\n"
    )
    assert ran.stderr == "To scan 10.0.0.1, add --allow-network 10.0.0.1/32:80\n"


def test_robots_refusal_names_the_way_to_scan_a_page(site: Site) -> None:
    site.routes["/robots.txt"] = Answer("User-agent: *\nDisallow: /\n", headers=TEXT)
    ran = scan("--site", site.url)
    assert ran.returncode == 3
    assert "robots.txt forbids crawlers the start page" in ran.stdout
    assert ran.stderr == "To scan a page that robots.txt forbids to crawlers, write its URL without --site.\n"
    assert scan(f"{site.url}/").returncode == 0


def test_sitemap_without_pages_of_the_site_is_an_error(site: Site) -> None:
    site.routes["/map.xml"] = Answer(urlset("https://elsewhere.example/"), headers=XML)
    ran = scan("--sitemap", f"{site.url}/map.xml")
    assert ran.returncode == 3
    assert "The sitemap lists no page of 127.0.0.1." in ran.stdout
    missing = scan("--sitemap", f"{site.url}/missing.xml")
    assert "/missing.xml answers with status 404." in missing.stdout


def test_redirect_of_a_site_gets_no_credentials(site: Site) -> None:
    with Site({"*": page("Elsewhere")}) as other:
        site.routes["/"] = Answer.redirect(f"http://127.0.0.1:{other.port}/")
        ran = scan("--site", site.url, "--header", f"X-Key: {SECRET}", "--allow-network", "127.0.0.0/8")
        assert ran.returncode == 2
        assert f"{site.url}/ redirects to {other.url}, which does not get your credentials." in ran.stderr
        assert other.requests
        assert not any(SECRET in str(request.headers) for request in other.requests)


def test_interrupted_discovery_ends_without_traceback(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("website_scan.command.site.discover", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scan("--site", site.url)
