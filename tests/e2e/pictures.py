"""`make pictures`: generates the sample reports, the pictures and the output on the start page, and the icons.

Its file name keeps pytest from collecting it, unless it is named: its output is committed.
"""

from __future__ import annotations

import base64
import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, Page, ViewportSize

from accounts.models import Mail
from documentation.landing import GATE
from reports.models import Report
from reports.page.sample import FILM, FOLDER, PAGE_PICTURE, SCREENSHOT, sample_of
from scanner.browser.warm import WarmBrowser
from scanner.findings import ScanType
from scanner.net.browser import find_browser
from scanner.net.client import Network
from scanner.net.policy import Policy
from scanner.net.targets import parse_target
from scanner.result import Budget
from scanner.run import scan
from scans.models import Scan
from scans.visits.claims import claim_scan, finish_scan
from sites.monitors.alerts import USUAL
from tests.e2e.pages import PICTURE as PICTURES
from tests.e2e.pages import Rendering, Shown, ask, window
from tests.furnished import finish_with
from tests.sites.monitors.cast import make_monitor
from tests.sites.monitors.watching import Watch
from tests.targets.exposed_files import files
from tests.targets.server import Answer
from tests.targets.shop import shop_site
from tests.world import member_of, person_of

IMAGES = settings.BASE_DIR / "static" / "img"
HOST, ADDRESS = "shop.example.com", "203.0.113.7"  # RFC 2606, RFC 5737
# Small windows, in a higher resolution for high-density screens.
PICTURE: ViewportSize = {"width": 760, "height": 700}
FINDINGS: ViewportSize = {"width": 760, "height": 600}
MAIL: ViewportSize = {"width": 640, "height": 640}
DENSITY = 1.5
MARGIN = 16
ICONS = {"icon-180.png": 180, "icon-192.png": 192, "icon-512.png": 512}


def test_the_shop_is_scanned(db: None) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    home = member_of("Shop")
    FOLDER.mkdir(exist_ok=True)
    with shop_site() as site, WarmBrowser(program, ca_bundle=site.ca_file) as browser:
        policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file)
        target = parse_target(site.url_as("localhost") + "/", policy)
        with Network(policy) as network:
            results = scan(target, list(ScanType), network, Budget(), browser=browser)
    for result in results:
        report = Report.objects.get(scan=finish_with(home, result, timezone.now()))
        kept = {
            "document": report.document,
            "facts": report.facts,
            "scoring": report.scoring,
            "waterfall": report.waterfall,
            "exhibits": report.exhibits,
            "has_screenshot": report.screenshot is not None,
            "pictures": report.pictures,
        }
        text = json.dumps(kept, indent=1, ensure_ascii=False)
        for ours, theirs in ((f"localhost:{site.port}", HOST), ("localhost", HOST), ("127.0.0.1", ADDRESS)):
            text = text.replace(ours, theirs)
        (FOLDER / f"{result.type}.json").write_text(text + "\n")
        if report.screenshot is not None:
            SCREENSHOT.write_bytes(report.screenshot)
        if report.page_picture is not None:
            PAGE_PICTURE.write_bytes(report.page_picture)
        if report.film is not None:
            FILM.write_bytes(report.film)
    sample_of.cache_clear()


def test_a_sample_report_is_pictured(db: None) -> None:
    _picture_sample(f"/report/sample/{ScanType.PERFORMANCE}", "report", PICTURE)


def test_the_first_findings_of_a_sample_report_are_pictured(db: None) -> None:
    _picture_sample(f"/report/sample/{ScanType.SECURITY}", "findings", FINDINGS, ".category")


def _picture_sample(path: str, name: str, size: ViewportSize, from_selector: str = "") -> None:
    """Picture the page of a sample from the top of an element on, by default from its own."""
    sample = ask(Shown(path, "anonymous"), None, {})
    text = sample.body.decode()
    paths = ["/site.webmanifest", *PICTURES.findall(text), *re.findall(rf"{path}/screenshot\.webp", text)]
    parts = {each: ask(Shown(each, "anonymous"), None, {}) for each in paths}
    rendering = Rendering({"sample": sample}, parts)

    def picture(page: Page) -> None:
        page.set_viewport_size(size)
        top = page.locator(from_selector).first.bounding_box()["y"] - MARGIN if from_selector else 0
        _save(page, name, size, top)

    with window() as browser:
        browser.look(rendering, "sample", picture)


def _save(page: Page, name: str, size: ViewportSize, top: float = 0) -> None:
    clip = {"x": 0, "y": top, **size, "scale": DENSITY}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        session = page.context.new_cdp_session(page)
        options = {"format": "webp", "quality": 80, "clip": clip, "captureBeyondViewport": True}
        shot = session.send("Page.captureScreenshot", options)
        (IMAGES / f"{name}-{theme}.webp").write_bytes(base64.b64decode(shot["data"]))


def test_an_email_of_a_monitor_is_pictured(db: None) -> None:
    """A monitor scans the shop twice; before the second time, the shop publishes its repository."""
    home = member_of("Shop")
    owner = person_of(home, "owner", "ann@example.com")
    pages = [f"https://{HOST}/"]
    monitor = make_monitor(
        home, name="Kettle & Leaf", pages=pages, types=["security"], alert=dict(USUAL), recipients=[owner.pk]
    )
    with shop_site() as site:

        def work(audit_id: str) -> None:
            waiting = Scan.objects.get(status="queued", audit_page__audit=audit_id)
            claim = claim_scan(waiting.id)
            assert claim is not None
            policy = Policy(allowed_networks=(ip_network("127.0.0.0/8"),), ca_bundle=site.ca_file)
            with Network(policy) as network:
                (result,) = scan(
                    parse_target(site.url_as("localhost") + "/", policy), [ScanType.SECURITY], network, Budget()
                )
            assert finish_scan(claim, replace(result, url=f"https://{HOST}/"))

        watch = Watch(monitor, work)
        watch.look()
        site.routes.update(_repository())
        watch.look()
    mail = Mail.objects.get(user=owner)

    def picture(chromium: Browser) -> None:
        page = chromium.new_page()
        page.set_viewport_size(MAIL)
        page.set_content(mail.html.replace(f"localhost:{site.port}", HOST))
        _save(page, "mail", MAIL)

    with window() as browser:
        browser.do(picture)


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
