"""Generate the pictures and samples of public pages.

`make pictures` saves sample reports, screenshots, icons and command output.

Its file name keeps pytest from collecting it, unless it is named: its output is committed.
"""

from __future__ import annotations

import base64
import contextlib
import html
import json
import math
import os
import pty
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from msgspec import Struct
from msgspec.structs import replace
from playwright.sync_api import Page, ViewportSize

from documentation.landing import GATE
from reports.models import Report
from reports.page.sample import FILM, FOLDER, PAGE_PICTURE, PAGES, SCREENSHOT, SamplePage, find_sample, samples_of_page
from scans.models import Scan
from tests.e2e.pages import PICTURE as PICTURES
from tests.e2e.pages import PageRequest, RenderedPages, render_page, render_pages, window
from tests.factories import member_of
from tests.populated import finish_with
from tests.populated_audits import look_at, make_audit, make_pages
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import SnapshotSite, make_share, snapshot
from tests.targets.exposed_files import files
from tests.targets.gallery import blog_site, council_site, leak_site, library_site
from tests.targets.server import Answer, Site
from tests.targets.shop import shop_site
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.report_json import ExportJson
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

IMAGES = settings.BASE_DIR / "static" / "img"
README_IMAGES = settings.BASE_DIR / "docs" / "img"
HOST, ADDRESS = "shop.example.com", "203.0.113.7"  # RFC 2606 and RFC 5737 reserve these values.
# Sizes of the browser window in CSS pixels.
PICTURE: ViewportSize = {"width": 760, "height": 700}
CARD: ViewportSize = {"width": 960, "height": 600}
FINDINGS: ViewportSize = {"width": 760, "height": 600}
DASHBOARD: ViewportSize = {"width": 1200, "height": 800}
DENSITY = 1.5
MARGIN = 16
# Size of the terminal in characters, and the lines at the end of the output that the picture also shows.
TERMINAL_COLUMNS, TERMINAL_LINES, SUMMARY_LINES = 92, 30, 5
# Escape sequences of colours (ECMA-48, section 8.3.117).
SGR = re.compile("\x1b\\[([0-9;]*)m")
TERMINAL_PAGE = """
<style>
:root { color-scheme: light dark }
body { margin: 0 }
pre { display: inline-block; margin: 0; padding: 20px 24px; font: 13px/1.45 monospace;
      color: light-dark(#1b2330, #e4e8ef); background: light-dark(#f6f7f9, #12161d) }
.c1 { font-weight: bold } .c2 { color: light-dark(#5b6575, #97a1b1) } .c31 { color: light-dark(#b3261e, #ff8a80) }
.c32 { color: light-dark(#146c3a, #7fd99a) } .c33 { color: light-dark(#8a5300, #ffc46b) }
</style>
"""
ICONS = {"icon-180.png": 180, "icon-192.png": 192, "icon-512.png": 512}


class DemoSite(Struct, frozen=True):
    """Demo site for a sample report.

    The report shows `host` instead of localhost.
    """

    site: Callable[[], Site]
    host: str


DEMOS = {
    "shop": DemoSite(shop_site, HOST),
    "library": DemoSite(library_site, "library.example.com"),
    "council": DemoSite(council_site, "council.example.com"),
    "blog": DemoSite(blog_site, "blog.example.com"),
    "leak": DemoSite(leak_site, HOST),
}


def replace_host(text: str, site: Site, host: str) -> str:
    """Replace the test server's host and IP address by examples."""
    for ours, theirs in ((f"localhost:{site.port}", host), ("localhost", host), ("127.0.0.1", ADDRESS)):
        text = text.replace(ours, theirs)
    return text


@contextlib.contextmanager
def scanned_pages(
    site: Site, *paths: str, types: Sequence[ScanType] = tuple(ScanType)
) -> Iterator[list[list[ScanResult]]]:
    """Start a site and scan its pages.

    Yields the results of each page.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with site, WarmBrowser(program, ca_bundle=site.ca_file if site.is_https else None) as browser:
        policy = Policy(
            allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file if site.is_https else None
        )
        page_results = []
        for path in paths or ("/",):
            target = parse_target(site.url_as("localhost") + path, policy)
            with Network(policy) as network:
                page_results.append(list(scan(target, types, network, Budget(), browser=browser)))
        yield page_results


@pytest.mark.parametrize("page", PAGES, ids=lambda sample_page: sample_page.slug)
def test_sample_pages_are_scanned(db: None, page: SamplePage) -> None:
    home = member_of("Demo")
    demo = DEMOS[page.slug]
    site = demo.site()
    folder = FOLDER / page.slug
    folder.mkdir(exist_ok=True, parents=True)
    with scanned_pages(site, types=page.types) as (results,):
        pass
    for result in results:
        report = Report.objects.get(scan=finish_with(home, result, timezone.now()))
        stored = {
            "export_json": report.export_json,
            "facts": report.facts,
            "scoring": report.scoring,
            "waterfall": report.waterfall,
            "exhibits": report.exhibits,
            "has_screenshot": report.screenshot is not None,
            "pictures": report.pictures,
        }
        text = replace_host(json.dumps(stored, indent=1, ensure_ascii=False), site, demo.host)
        (folder / f"{result.type}.json").write_text(text + "\n")
        pictures = {SCREENSHOT: report.screenshot, PAGE_PICTURE: report.page_picture, FILM: report.film}
        for name, picture in pictures.items():
            if picture is not None:
                (folder / name).write_bytes(picture)
    find_sample.cache_clear()


def test_sample_site_is_audited(db: None) -> None:
    home = member_of("Demo")
    site = shop_site()
    paths = ("/", "/teas", "/teas/1", "/teas/2", "/teas/3", "/cart")
    audit = make_audit(
        home,
        kind="site",
        url=f"https://{HOST}/",
        max_pages=100,
        discover=["links"],
        shared_at=timezone.now(),
        notes=["The site has no sitemap."],
    )
    with scanned_pages(site, *paths) as page_results:
        pages = make_pages(audit, [f"https://{HOST}{path}" for path in paths])
        for page, results in zip(pages, page_results, strict=True):
            look_at(page, timezone.now(), {result.type: replace(result, url=page.url) for result in results})
    audit.refresh_from_db()
    unfinished_scans = Scan.objects.filter(audit_page__audit=audit).exclude(status="completed")
    assert audit.status == "completed", [
        (scan.url, scan.type, scan.status, scan.error_code) for scan in unfinished_scans
    ]
    _save_shared_page("site", f"/audit/{audit.id}", lambda text: replace_host(text, site, HOST))


def test_sample_list_is_scanned(db: None) -> None:
    """Save the public page of a list of four sample pages.

    The results are those of the sample reports.
    """
    home = member_of("Demo")
    samples = [
        (page, {scan_type: sample.export_json for scan_type, sample in samples_of_page(page).items()})
        for page in PAGES[:4]
    ]
    check_ids = [
        *("https-available", "hsts", "csp-present", "security-txt", "text-compressed", "image-alt", "color-contrast"),
        *("html-lang", "title", "meta-description"),
    ]

    def scanned_site(documents: Mapping[ScanType, ExportJson]) -> SnapshotSite:
        checks = {
            check["id"]: (document["type"], check)
            for document in documents.values()
            for category in document["categories"]
            for check in category["checks"]
        }
        letters = {"fail": "f", "warn": "w", "pass": "p"}
        findings = [
            {
                "type": type,
                "check": check["id"],
                "status": check["status"],
                "severity": check["severity"],
                "outcome": check["outcome"],
                "title": check["title"],
                "message": check["message"],
            }
            for type, check in checks.values()
            if check["status"] in ("fail", "warn")
        ]
        severities = Counter(check["severity"] for _, check in checks.values() if check["status"] == "fail")
        return SnapshotSite(
            next(iter(documents.values()))["url"],
            {str(type): document["score"] for type, document in documents.items() if document["score"] is not None},
            "".join(letters[checks[check_id][1]["status"]] if check_id in checks else "-" for check_id in check_ids),
            grades={str(type): grade for type, document in documents.items() if (grade := document["grade"])},
            columns={"findings": findings, "severities": severities},
        )

    site_list = make_list(home, name="Sites of the sample reports", types=[str(scan_type) for scan_type in ScanType])
    run = snapshot(site_list, [scanned_site(documents) for _, documents in samples], checks=check_ids)
    _save_shared_page("list", f"/list/{make_share(site_list, run, has_table=True).id}", str)


def _save_shared_page(slug: str, path: str, change: Callable[[str], str]) -> None:
    """Save a shared page as HTML.

    Forms and links to pages of the test database are left out.
    """
    response = Client().get(path)
    assert response.status_code == 200
    text = change(response.content.decode())
    content = re.search(r'<main id="content"[^>]*>(.*)</main>', text, re.DOTALL)
    assert content
    public_html = re.sub(
        r'<(form|dialog)\b.*?</\1>|<details class="drop".*?</details>|<nav class="tabs".*?</nav>',
        "",
        content[1],
        flags=re.DOTALL,
    )
    public_html = re.sub(
        r'<a (?![^>]*href="(?:#|https?:|/docs/))([^>]*)>(.*?)</a>', _replace_link, public_html, flags=re.DOTALL
    )
    lines = (line.rstrip() for line in public_html.splitlines())
    (FOLDER / f"{slug}.html").write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")


def _replace_link(match: re.Match[str]) -> str:
    attributes = re.sub(r'\s*\b(?:href|rel|aria-current)="[^"]*"', "", f" {match[1]}").rstrip()
    return f"<span{attributes}>{match[2]}</span>"


@pytest.mark.parametrize("page", PAGES, ids=lambda sample_page: sample_page.slug)
def test_report_screenshots_are_saved(db: None, page: SamplePage) -> None:
    _save_screenshot_of_page(
        f"/report/sample/{next(iter(page.names.values()))}", f"samples/{page.slug}", CARD, density=1
    )


@pytest.mark.parametrize("slug", ["site", "list"])
def test_site_and_list_screenshots_are_saved(db: None, slug: str) -> None:
    _save_screenshot_of_page(f"/samples/{slug}", f"samples/{slug}", CARD, density=1)


def test_performance_screenshot_is_saved(db: None) -> None:
    _save_screenshot_of_page(f"/report/sample/{ScanType.PERFORMANCE}", "report", PICTURE)


def test_security_screenshot_is_saved(db: None) -> None:
    _save_screenshot_of_page(f"/report/sample/{ScanType.SECURITY}", "findings", FINDINGS, ".category")


def _save_screenshot_of_page(
    path: str, name: str, size: ViewportSize, from_selector: str = "", density: float = DENSITY
) -> None:
    """Save screenshots of a public page in both themes.

    They start at the top or at an element.
    """
    sample = render_page(PageRequest(path, "anonymous"), None, {})
    text = sample.body.decode()
    paths = ["/site.webmanifest", *PICTURES.findall(text), *re.findall(rf"{path}/screenshot", text)]
    parts = {path: render_page(PageRequest(path, "anonymous"), None, {}) for path in paths}
    rendering = RenderedPages({"sample": sample}, parts)

    def take_screenshots(page: Page) -> None:
        page.set_viewport_size(size)
        top: float = 0
        if from_selector:
            box = page.locator(from_selector).first.bounding_box()
            assert box is not None
            top = box["y"] - MARGIN
        save_screenshots(page, name, size, top, density)

    with window() as browser:
        browser.run_on_page(rendering, "sample", take_screenshots)


def save_screenshots(
    page: Page,
    name: str,
    size: ViewportSize,
    top: float = 0,
    density: float = DENSITY,
    folder: Path = IMAGES,
    quality: int = 80,
) -> None:
    clip = {"x": 0, "y": top, **size, "scale": density}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        session = page.context.new_cdp_session(page)
        options = {"format": "webp", "quality": quality, "clip": clip, "captureBeyondViewport": True}
        shot = session.send("Page.captureScreenshot", options)
        (folder / f"{name}-{theme}.webp").write_bytes(base64.b64decode(shot["data"]))


def test_monitor_screenshot_is_saved(db: None) -> None:
    """Save a screenshot of a monitor with test data for the start page."""
    rendering = render_pages()

    def take_screenshots(page: Page) -> None:
        page.set_viewport_size(DASHBOARD)
        save_screenshots(page, "dashboard", DASHBOARD, density=1.2)

    with window() as browser:
        browser.run_on_page(rendering, "monitor", take_screenshots)


def _git_repository_routes() -> dict[str, Answer]:
    return {path: Answer(body, headers={"Content-Type": "text/plain"}) for path, body in files()["exposed-git"].items()}


def test_output_of_a_failed_gate_is_saved(tmp_path: Path) -> None:
    with shop_site() as site:
        url = site.url_as("localhost") + "/"
        environment = {**os.environ, "SCAN_CA_BUNDLE": str(site.ca_file), "NO_COLOR": "1"}

        def run_command(*arguments: str) -> str:
            command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "scan", url, "--type", "security"]
            command += ["--allow-network", "127.0.0.0/8", *arguments]
            ended = subprocess.run(
                command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            return ended.stdout

        run_command("--write-baseline", "known.json")
        site.routes.update(_git_repository_routes())
        output = run_command("--baseline", "known.json", "--quiet").replace(url, f"https://{HOST}/")
    assert "Gate failed" in output
    text = f"$ website-scan https://{HOST}/ --type security --baseline known.json --quiet\n\n{output.strip()}\n"
    GATE.write_text(text, encoding="utf-8")


def test_terminal_screenshot_is_saved() -> None:
    """Save a screenshot of the first lines of the command's output."""
    with shop_site() as site:
        url = site.url_as("localhost") + "/"
        environment = {**os.environ, "SCAN_CA_BUNDLE": str(site.ca_file), "COLUMNS": str(TERMINAL_COLUMNS)}
        environment.pop("NO_COLOR", None)
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "scan", url, "--allow-network", "127.0.0.0/8"]
        output = replace_host(_terminal_output(command, environment), site, HOST)
    lines = output.splitlines()
    shown = [*lines[: TERMINAL_LINES - SUMMARY_LINES], "   …", "", *lines[-SUMMARY_LINES:]]
    markup = SGR.sub(_span, html.escape("\n".join([f"$ website-scan https://{HOST}/", "", *shown])))

    def take_screenshots(page: Page) -> None:
        page.set_viewport_size(PICTURE)
        page.set_content(f"<!doctype html>{TERMINAL_PAGE}<pre>{markup}</pre>")
        box = page.locator("pre").bounding_box()
        assert box is not None
        size: ViewportSize = {"width": math.ceil(box["width"]), "height": math.ceil(box["height"])}
        save_screenshots(page, "terminal", size, folder=README_IMAGES)

    with window() as browser:
        browser.do(lambda chromium: take_screenshots(chromium.new_page()))


def _terminal_output(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what the command prints to a terminal, with its colours."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment):
        os.close(theirs)
        output = b""
        # Linux reports the end of a terminal's output as an error.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 1 << 16):
                output += part
    os.close(ours)
    return output.decode()


def _span(match: re.Match[str]) -> str:
    """Return the HTML tag for a colour sequence, or the end tag for the one that ends it."""
    codes = match[1].split(";")
    return "</span>" if codes == ["0"] else f'<span class="{" ".join(f"c{code}" for code in codes)}">'


def test_icons_are_saved() -> None:
    """Save icons as full squares.

    Home screens round the corners and fill transparent areas with black.
    """
    mark = (IMAGES / "icon.svg").read_text()
    square = mark.replace('rx="8" ', "").replace('viewBox="0 0 32 32"', 'viewBox="-2 -2 36 36"')
    square = square.replace('<rect width="32" height="32"', '<rect x="-2" y="-2" width="36" height="36"')

    def draw(page: Page, svg: str, size: int) -> bytes:
        page.set_viewport_size({"width": size, "height": size})
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block; width: {size}px }}</style>{svg}")
        return page.screenshot(omit_background=True)

    def draw_icons(page: Page) -> dict[str, bytes]:
        drawn = {name: draw(page, square, size) for name, size in ICONS.items()}
        return drawn | {"favicon.ico": _make_ico(draw(page, mark, 32), 32)}

    with window() as browser:
        drawn = browser.do(lambda chromium: draw_icons(chromium.new_page()))
    for name, data in drawn.items():
        (IMAGES / name).write_bytes(data)


def _make_ico(png: bytes, size: int) -> bytes:
    """Return an .ico file that contains one PNG.

    All browsers since 2007 support this format.
    """
    header = struct.pack("<HHH", 0, 1, 1)
    return header + struct.pack("<BBBBHHII", size, size, 0, 0, 1, 32, len(png), len(header) + 16) + png
