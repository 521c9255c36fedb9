"""`make pictures`: generates the sample reports, the pictures of the public pages, the output on the start
page, and the icons.

Its file name keeps pytest from collecting it, unless it is named: its output is committed.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

from documentation.landing import GATE
from reports.models import Report
from reports.page.sample import FILM, FOLDER, PAGE_PICTURE, PAGES, SCREENSHOT, SamplePage, sample_of, samples_of
from scans.models import Scan
from tests.e2e.pages import PICTURE as PICTURES
from tests.e2e.pages import Rendering, Shown, ask, render_pages, window
from tests.factories import member_of
from tests.populated import finish_with
from tests.populated_audits import look_at, make_audit, make_pages
from tests.sites.lists.cast import make_list
from tests.sites.lists.snapshot_cast import Looked, share_of, snapshot
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
HOST, ADDRESS = "shop.example.com", "203.0.113.7"  # RFC 2606, RFC 5737
# Small windows, in a higher resolution for high-density screens.
PICTURE: ViewportSize = {"width": 760, "height": 700}
CARD: ViewportSize = {"width": 960, "height": 600}
FINDINGS: ViewportSize = {"width": 760, "height": 600}
DASHBOARD: ViewportSize = {"width": 1200, "height": 800}
DENSITY = 1.5
MARGIN = 16
# Fields of a check that a finding of a list keeps.
ICONS = {"icon-180.png": 180, "icon-192.png": 192, "icon-512.png": 512}


@dataclass(frozen=True)
class Demo:
    """The site of a sample page, and the example host that its reports name."""

    site: Callable[[], Site]
    host: str


DEMOS = {
    "shop": Demo(shop_site, HOST),
    "library": Demo(library_site, "library.example.com"),
    "council": Demo(council_site, "council.example.com"),
    "blog": Demo(blog_site, "blog.example.com"),
    "leak": Demo(leak_site, HOST),
}


def renamed(text: str, site: Site, host: str) -> str:
    """Return a text with the example host and address in place of those of the tests."""
    for ours, theirs in ((f"localhost:{site.port}", host), ("localhost", host), ("127.0.0.1", ADDRESS)):
        text = text.replace(ours, theirs)
    return text


@contextlib.contextmanager
def looked_at(site: Site, *paths: str, types: Sequence[ScanType] = tuple(ScanType)) -> Iterator[list[list[ScanResult]]]:
    """Scan pages of a site that runs; yields the results of each page."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with site, WarmBrowser(program, ca_bundle=site.ca_file if site.is_https else None) as browser:
        policy = Policy(
            allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file if site.is_https else None
        )
        found = []
        for path in paths or ("/",):
            target = parse_target(site.url_as("localhost") + path, policy)
            with Network(policy) as network:
                found.append(list(scan(target, types, network, Budget(), browser=browser)))
        yield found


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.slug)
def test_the_pages_are_scanned(db: None, page: SamplePage) -> None:
    home = member_of("Demo")
    demo = DEMOS[page.slug]
    site = demo.site()
    folder = FOLDER / page.slug
    folder.mkdir(exist_ok=True, parents=True)
    with looked_at(site, types=page.types) as (results,):
        pass
    for result in results:
        report = Report.objects.get(scan=finish_with(home, result, timezone.now()))
        kept = {
            "export_json": report.export_json,
            "facts": report.facts,
            "scoring": report.scoring,
            "waterfall": report.waterfall,
            "exhibits": report.exhibits,
            "has_screenshot": report.screenshot is not None,
            "pictures": report.pictures,
        }
        text = renamed(json.dumps(kept, indent=1, ensure_ascii=False), site, demo.host)
        (folder / f"{result.type}.json").write_text(text + "\n")
        pictures = {SCREENSHOT: report.screenshot, PAGE_PICTURE: report.page_picture, FILM: report.film}
        for name, picture in pictures.items():
            if picture is not None:
                (folder / name).write_bytes(picture)
    sample_of.cache_clear()


def test_a_whole_site_is_audited(db: None) -> None:
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
    with looked_at(site, *paths) as all_results:
        pages = make_pages(audit, [f"https://{HOST}{path}" for path in paths])
        for page, results in zip(pages, all_results, strict=True):
            look_at(page, timezone.now(), {each.type: replace(each, url=page.url) for each in results})
    audit.refresh_from_db()
    found = Scan.objects.filter(audit_page__audit=audit).exclude(status="completed")
    assert audit.status == "completed", [(each.url, each.type, each.status, each.error_code) for each in found]
    _freeze("site", f"/audit/{audit.id}", lambda text: renamed(text, site, HOST))


def test_a_list_of_sites_is_judged(db: None) -> None:
    """The list has the sample pages with their own results."""
    home = member_of("Demo")
    found = [(page, {each: sample.export_json for each, sample in samples_of(page).items()}) for page in PAGES[:4]]
    known = [
        *("https-available", "hsts", "csp-present", "security-txt", "text-compressed", "image-alt", "color-contrast"),
        *("html-lang", "title", "meta-description"),
    ]

    def looked(documents: Mapping[ScanType, ExportJson]) -> Looked:
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
        return Looked(
            next(iter(documents.values()))["url"],
            {str(type): document["score"] for type, document in documents.items() if document["score"] is not None},
            "".join(letters[checks[each][1]["status"]] if each in checks else "-" for each in known),
            grades={str(type): grade for type, document in documents.items() if (grade := document["grade"])},
            columns={"findings": findings, "severities": severities},
        )

    site_list = make_list(home, name="Sites of the sample reports", types=[str(each) for each in ScanType])
    run = snapshot(site_list, [looked(documents) for _, documents in found], checks=known)
    _freeze("list", f"/list/{share_of(site_list, run, has_table=True).id}", str)


def _freeze(slug: str, path: str, change: Callable[[str], str]) -> None:
    """Keep the content of a shared page, without links to what only the service of the tests has."""
    response = Client().get(path)
    assert response.status_code == 200
    text = change(response.content.decode())
    content = re.search(r'<main id="content"[^>]*>(.*)</main>', text, re.DOTALL)
    assert content
    kept = re.sub(
        r'<(form|dialog)\b.*?</\1>|<details class="drop".*?</details>|<nav class="tabs".*?</nav>',
        "",
        content[1],
        flags=re.DOTALL,
    )
    kept = re.sub(r'<a (?![^>]*href="(?:#|https?:|/docs/))([^>]*)>(.*?)</a>', _without_link, kept, flags=re.DOTALL)
    lines = (line.rstrip() for line in kept.splitlines())
    (FOLDER / f"{slug}.html").write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")


def _without_link(found: re.Match[str]) -> str:
    attributes = re.sub(r'\s*\b(?:href|rel|aria-current)="[^"]*"', "", f" {found[1]}").rstrip()
    return f"<span{attributes}>{found[2]}</span>"


@pytest.mark.parametrize("page", PAGES, ids=lambda each: each.slug)
def test_samples_are_pictured(db: None, page: SamplePage) -> None:
    _picture_page(f"/report/sample/{next(iter(page.names.values()))}", f"samples/{page.slug}", CARD, density=1)


@pytest.mark.parametrize("slug", ["site", "list"])
def test_frozen_samples_are_pictured(db: None, slug: str) -> None:
    _picture_page(f"/samples/{slug}", f"samples/{slug}", CARD, density=1)


def test_a_sample_report_is_pictured(db: None) -> None:
    _picture_page(f"/report/sample/{ScanType.PERFORMANCE}", "report", PICTURE)


def test_the_first_findings_of_a_sample_report_are_pictured(db: None) -> None:
    _picture_page(f"/report/sample/{ScanType.SECURITY}", "findings", FINDINGS, ".category")


def _picture_page(path: str, name: str, size: ViewportSize, from_selector: str = "", density: float = DENSITY) -> None:
    """Picture a public page from the top of an element on, by default from its own."""
    sample = ask(Shown(path, "anonymous"), None, {})
    text = sample.body.decode()
    paths = ["/site.webmanifest", *PICTURES.findall(text), *re.findall(rf"{path}/screenshot\.webp", text)]
    parts = {each: ask(Shown(each, "anonymous"), None, {}) for each in paths}
    rendering = Rendering({"sample": sample}, parts)

    def picture(page: Page) -> None:
        page.set_viewport_size(size)
        top: float = 0
        if from_selector:
            box = page.locator(from_selector).first.bounding_box()
            assert box is not None
            top = box["y"] - MARGIN
        _save(page, name, size, top, density)

    with window() as browser:
        browser.look(rendering, "sample", picture)


def _save(page: Page, name: str, size: ViewportSize, top: float = 0, density: float = DENSITY) -> None:
    clip = {"x": 0, "y": top, **size, "scale": density}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        session = page.context.new_cdp_session(page)
        options = {"format": "webp", "quality": 80, "clip": clip, "captureBeyondViewport": True}
        shot = session.send("Page.captureScreenshot", options)
        (IMAGES / f"{name}-{theme}.webp").write_bytes(base64.b64decode(shot["data"]))


def test_a_dashboard_is_pictured(db: None) -> None:
    """The page of a monitor, as the tests of pages populate it."""
    rendering = render_pages()

    def picture(page: Page) -> None:
        page.set_viewport_size(DASHBOARD)
        _save(page, "dashboard", DASHBOARD, density=1.2)

    with window() as browser:
        browser.look(rendering, "monitor", picture)


def _repository() -> dict[str, Answer]:
    return {path: Answer(body, headers={"Content-Type": "text/plain"}) for path, body in files()["exposed-git"].items()}


def test_the_output_of_the_command_in_a_build_is_kept(tmp_path: Path) -> None:
    with shop_site() as site:
        url = site.url_as("localhost") + "/"
        environment = {**os.environ, "SCAN_CA_BUNDLE": str(site.ca_file), "NO_COLOR": "1"}

        def run(*arguments: str) -> str:
            command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "scan", url, "--type", "security"]
            command += ["--allow-network", "127.0.0.0/8", *arguments]
            ended = subprocess.run(
                command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            return ended.stdout

        run("--write-baseline", "known.json")
        site.routes.update(_repository())
        said = run("--baseline", "known.json", "--quiet").replace(url, f"https://{HOST}/")
    assert "Gate failed" in said
    shown = f"$ website-scan https://{HOST}/ --type security --baseline known.json --quiet\n\n{said.strip()}\n"
    GATE.write_text(shown, encoding="utf-8")


def test_icons_are_drawn() -> None:
    """Icons are full squares: home screens round the corners themselves, and show transparent areas in black."""
    mark = (IMAGES / "icon.svg").read_text()
    square = mark.replace('rx="8" ', "").replace('viewBox="0 0 32 32"', 'viewBox="-2 -2 36 36"')
    square = square.replace('<rect width="32" height="32"', '<rect x="-2" y="-2" width="36" height="36"')

    def draw(page: Page, svg: str, size: int) -> bytes:
        page.set_viewport_size({"width": size, "height": size})
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block; width: {size}px }}</style>{svg}")
        return page.screenshot(omit_background=True)

    def all_of_them(page: Page) -> dict[str, bytes]:
        drawn = {name: draw(page, square, size) for name, size in ICONS.items()}
        return drawn | {"favicon.ico": _ico(draw(page, mark, 32), 32)}

    with window() as browser:
        drawn = browser.do(lambda chromium: all_of_them(chromium.new_page()))
    for name, data in drawn.items():
        (IMAGES / name).write_bytes(data)


def _ico(png: bytes, size: int) -> bytes:
    """Return an .ico file with one PNG, which all browsers since 2007 support."""
    header = struct.pack("<HHH", 0, 1, 1)
    return header + struct.pack("<BBBBHHII", size, size, 0, 0, 1, 32, len(png), len(header) + 16) + png
