"""Length of a report as it opens: visible words and height, beside Lighthouse's report of the same page and types.

Reads `lighthouse` from PATH, else runs it with `npx`; without npm, only our own reports are measured. Security has no
category in Lighthouse, so its reports are not compared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from benchmarks.table import Table
from scanner.findings import ScanType
from scanner.net.browser import find_browser, launch_options
from tests.e2e.seen import SEEN
from tests.e2e.service import BASE_DIR
from tests.targets.sample import sample_site
from tests.targets.server import Site
from tests.targets.shop import shop_site

SITES = {"a shop with faults": shop_site, "a bakery's plain page": sample_site}
WIDTHS = (1440, 390)
COLUMNS = ("words", "of theirs", "height", "of theirs", "elements")
MOST = 1.5  # times Lighthouse's figure
LIMIT_S = 180.0


def measure(table: Table, share: float) -> None:
    lighthouse = _lighthouse()
    if not lighthouse:
        print("Neither lighthouse nor npx is on PATH: our own reports are measured alone.", file=sys.stderr)
    with TemporaryDirectory(prefix="wss-length-") as name, _browser() as browser:
        for site_name, site in list(SITES.items())[: max(1, round(len(SITES) * share))]:
            with site() as running:
                for width in WIDTHS:
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
    theirs = _seen(browser, _judged(lighthouse, site, scan_type, folder), width)
    table.row(f"Lighthouse's {scan_type}", *_figures(theirs))
    shares = [our / their for our, their in zip(ours[:2], theirs[:2], strict=True)]
    table.row(scan_type.label, *_figures(ours, *shares))
    table.missed |= max(shares) > MOST


def _figures(seen: tuple[int, int, int], *shares: float) -> tuple[float | str, ...]:
    words, height, elements = seen
    of_words, of_height = shares or ("", "")
    return words, of_words, height, of_height, elements


def _lighthouse() -> Sequence[str]:
    if found := shutil.which("lighthouse"):
        return [found]
    return [found, "--yes", "lighthouse"] if (found := shutil.which("npx")) else []


def _scanned(site: Site, scan_type: ScanType, folder: Path) -> Path:
    path = folder / f"{site.port}-{scan_type}-ours.html"
    if path.exists():
        return path
    options = ["--type", scan_type, "--format", "html", "--output", str(path), "--quiet"]
    subprocess.run(
        [sys.executable, "manage.py", "scan", site.url + "/", *options, "--allow-network", "127.0.0.0/8"],
        cwd=BASE_DIR,
        env=_environment() | ({"SCAN_CA_BUNDLE": str(site.ca_file)} if site.ca_file else {}),
        check=True,
        timeout=LIMIT_S,
    )
    return path


def _judged(lighthouse: Sequence[str], site: Site, category: str, folder: Path) -> Path:
    """Return Lighthouse's report of a category, of all if it is empty."""
    path = folder / f"{site.port}-{category}-theirs.html"
    if path.exists():
        return path
    chrome = "--headless --no-sandbox --disable-gpu --disable-background-networking --ignore-certificate-errors"
    options = [f"--only-categories={category}"] if category else []
    options += ["--output=html", f"--output-path={path}", "--quiet"]
    subprocess.run(
        [*lighthouse, site.url + "/", *options, f"--chrome-flags={chrome}"],
        env=_environment() | {"CHROME_PATH": str(find_browser("auto"))},
        check=True,
        timeout=LIMIT_S,
    )
    return path


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


@contextmanager
def _browser() -> Iterator[Browser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with TemporaryDirectory(prefix="wss-length-browser-") as folder, sync_playwright() as playwright:
        options = {**launch_options(program, Path(folder), sandbox=False), "args": [], "proxy": None}
        with closing(playwright.chromium.launch(**options)) as browser:
            yield browser


def _seen(browser: Browser, file: Path, width: int) -> tuple[int, int, int]:
    """Return the number of visible words, the height in pixels, and the number of elements of a page as it opens."""
    with closing(browser.new_context(viewport={"width": width, "height": 900})) as context:
        page = context.new_page()
        page.goto(file.as_uri(), wait_until="load")
        words, height, elements = page.evaluate(SEEN)
        return words, height, elements
