"""`make pictures`: generates the sample reports, the pictures of one on the start page, and the icons.

Its file name keeps pytest from collecting it, unless it is named: its output is committed.
"""

from __future__ import annotations

import base64
import json
import struct
from ipaddress import ip_network

from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, ViewportSize

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
from tests.e2e.pages import PICTURE as PICTURES
from tests.e2e.pages import Rendering, Shown, ask, window
from tests.furnished import finish_with
from tests.targets.shop import shop_site
from tests.world import member_of

IMAGES = settings.BASE_DIR / "static" / "img"
HOST, ADDRESS = "shop.example.com", "203.0.113.7"  # RFC 2606, RFC 5737
PICTURED = f"/report/sample/{ScanType.PERFORMANCE}"
# The first screen of a small window, in a higher resolution for high-density screens.
PICTURE: ViewportSize = {"width": 760, "height": 700}
DENSITY = 1.5
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
    screenshot = ask(Shown(f"{PICTURED}/screenshot.webp", "anonymous"), None, {})
    manifest = ask(Shown("/site.webmanifest", "anonymous"), None, {})
    sample = ask(Shown(PICTURED, "anonymous"), None, {})
    pictures = [ask(Shown(path, "anonymous"), None, {}) for path in PICTURES.findall(sample.body.decode())]
    rendering = Rendering({"sample": sample}, {each.path: each for each in (screenshot, manifest, *pictures)})

    def picture(page: Page) -> None:
        page.set_viewport_size(PICTURE)
        clip = {"x": 0, "y": 0, **PICTURE, "scale": DENSITY}
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            session = page.context.new_cdp_session(page)
            shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": 80, "clip": clip})
            (IMAGES / f"report-{theme}.webp").write_bytes(base64.b64decode(shot["data"]))

    with window() as browser:
        browser.look(rendering, "sample", picture)


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
