"""Length of a report as it opens: visible words and height, beside Lighthouse's report of the same page and types.

Ours opens with its five first findings open, Lighthouse's with none. So its report is measured twice: as it opens, and
with as many of its findings open, if it has so many. Security has no category in Lighthouse, so its reports are not
compared.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from benchmarks.lighthouse import command, judge, little_environment
from benchmarks.table import Table
from tests.e2e.seen import SEEN
from tests.e2e.service import BASE_DIR
from tests.playwright_options import launch_options
from tests.targets.sample import sample_site
from tests.targets.server import Site
from tests.targets.shop import shop_site
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser

SITES = {"a shop with faults": shop_site, "a bakery's plain page": sample_site}
WIDTHS = (1440, 390)
COLUMNS = ("words of them", "height of them", "words", "height", "elements")
MOST = 1.5  # times Lighthouse's figure
LIMIT_S = 180.0
OPEN = 5  # findings that our report opens with
# Opens the first findings of Lighthouse's report.
OPEN_THEIRS = """most => [...document.querySelectorAll(".lh-audit--fail details, .lh-audit--average details")]
  .slice(0, most).forEach(each => { each.open = true; })"""

Seen = tuple[int, int, int]


def measure(table: Table, share: float) -> None:
    lighthouse = command()
    with TemporaryDirectory(prefix="wss-length-") as name, _browser() as browser:
        for site_name, site in list(SITES.items())[: max(1, round(len(SITES) * share))]:
            with site() as running:
                for width in WIDTHS[: max(1, round(len(WIDTHS) * share))]:
                    table.head(f"{site_name}, {width} px wide", *COLUMNS)
                    for each in ScanType:
                        _row(table, browser, running, each, lighthouse, Path(name), width)
                    if lighthouse:
                        whole = _judged(lighthouse, running, "", Path(name))
                        table.row("Lighthouse's four categories", *_figures(_seen(browser, whole, width)))


def _row(
    table: Table,
    browser: Browser,
    site: Site,
    scan_type: ScanType,
    lighthouse: Sequence[str],
    folder: Path,
    width: int,
) -> None:
    ours = _seen(browser, _scanned(site, scan_type, folder), width)
    if not lighthouse or scan_type is ScanType.SECURITY:
        table.row(scan_type.label, *_figures(ours))
        return
    file = _judged(lighthouse, site, scan_type, folder)
    theirs, opened = _seen(browser, file, width), _seen(browser, file, width, opened=OPEN)
    table.row(f"Lighthouse's {scan_type}", *_figures(theirs))
    table.row("… with as many findings open", *_figures(opened))
    table.row(scan_type.label, *_figures(ours, *_shares(ours, theirs)), most=(MOST, MOST))
    table.row("… of theirs with as many open", *_figures(ours, *_shares(ours, opened)))


def _shares(ours: Seen, theirs: Seen) -> list[float]:
    return [our / their for our, their in zip(ours[:2], theirs[:2], strict=True)]


def _figures(seen: Seen, *shares: float) -> tuple[float | str, ...]:
    words, height, elements = seen
    of_words, of_height = shares or ("", "")
    return of_words, of_height, words, height, elements


def _scanned(site: Site, scan_type: ScanType, folder: Path) -> Path:
    path = folder / f"{site.port}-{scan_type}-ours.html"
    if path.exists():
        return path
    options = ["--type", scan_type, "--format", "html", "--output", str(path), "--quiet"]
    subprocess.run(
        [sys.executable, "manage.py", "scan", site.url + "/", *options, "--allow-network", "127.0.0.0/8"],
        cwd=BASE_DIR,
        env=little_environment() | ({"SCAN_CA_BUNDLE": str(site.ca_file)} if site.ca_file else {}),
        check=True,
        timeout=LIMIT_S,
    )
    return path


def _judged(lighthouse: Sequence[str], site: Site, category: str, folder: Path) -> Path:
    """Return Lighthouse's report of a category, of all if it is empty."""
    path = folder / f"{site.port}-{category}-theirs.html"
    if not path.exists():
        judge(lighthouse, site.url + "/", category, path)
    return path


@contextmanager
def _browser() -> Iterator[Browser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with TemporaryDirectory(prefix="wss-length-browser-") as folder, sync_playwright() as playwright:
        options = {**launch_options(program, Path(folder)), "args": [], "proxy": None}
        with closing(playwright.chromium.launch(**options)) as browser:
            yield browser


def _seen(browser: Browser, file: Path, width: int, opened: int = 0) -> Seen:
    """Return the number of visible words, the height in pixels, and the number of elements of a page as it opens.

    `opened` findings of Lighthouse's are opened before.
    """
    with closing(browser.new_context(viewport={"width": width, "height": 900})) as context:
        page = context.new_page()
        page.goto(file.as_uri(), wait_until="load")
        page.evaluate(OPEN_THEIRS, opened)
        words, height, elements = page.evaluate(SEEN)
        return words, height, elements
