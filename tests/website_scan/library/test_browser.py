"""Test scans with a browser, which no scan leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

import website_scan
from tests.operations.stack.processes import wait_until
from tests.targets.server import Answer, Site
from website_scan import settings as scanning
from website_scan.browser.visit import BrowserFailed
from website_scan.local_scans import new_browser
from website_scan.net.browser import find_browser, sandbox_problem

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = ("127.0.0.0/8",)
PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<title>Tea shop</title><body><h1>Tea from Uji</h1><p style='color: #ccc'>Green tea in small bowls</p>"
)
# The page waits for its script as long as the scan permits.
WAITING_PAGE = f"{PAGE}<script src=/waiting.js></script>"


# Processes that this process had started before the test, such as the browser of other tests.
earlier: set[psutil.Process] = set()


@pytest.fixture(autouse=True)
def _earlier_processes() -> None:
    earlier.clear()
    earlier.update(psutil.Process().children())


@pytest.fixture(autouse=True)
def _browser_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    monkeypatch.setattr(scanning, "SCAN_BROWSER", str(program))
    monkeypatch.setattr(scanning, "SCAN_BROWSER_SANDBOX", not sandbox_problem(program))


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {"*": Answer(PAGE), "/waits": Answer(WAITING_PAGE), "/waiting.js": Answer(delay_s=120)}
    with Site(routes) as running:
        yield running


def browsers() -> list[psutil.Process]:
    """Return the processes of Chromium that this process has started during the test."""
    chromium = []
    started = [child for child in psutil.Process().children() if child not in earlier]
    for process in started + [process for child in started for process in descendants(child)]:
        try:
            if process.status() != psutil.STATUS_ZOMBIE and "chrom" in " ".join(process.cmdline()):
                chromium.append(process)
        except psutil.NoSuchProcess:
            continue
    return chromium


def descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def has_contrast_finding(page: website_scan.PageResult) -> bool:
    return any(finding.check == "color-contrast" for finding in page.findings)


def test_scan_uses_an_installed_browser_and_ends_it(site: Site) -> None:
    for chosen in (None, True):
        page = website_scan.scan(f"{site.url}/", "accessibility", browser=chosen, allow_networks=LOOPBACK)
        assert (page["accessibility"].browser or "").startswith("Chromium ")
        assert has_contrast_finding(page)
        assert browsers() == []


def test_widths_and_color_scheme_are_used(site: Site) -> None:
    page = website_scan.scan(
        f"{site.url}/", "accessibility", allow_networks=LOOPBACK, widths=[800, 320], color_scheme="dark"
    )
    assert "at 800, 320 pixels, dark colour scheme" in website_scan.document(page, "text")


def test_browser_is_reused_by_several_calls(site: Site) -> None:
    with website_scan.Browser() as browser:
        seen = []
        for number in range(3):
            page = website_scan.scan(f"{site.url}/{number}", "accessibility", browser=browser, allow_networks=LOOPBACK)
            assert has_contrast_finding(page)
            seen.append({process.pid for process in browsers() if "--headless" in " ".join(process.cmdline())})
        assert seen[0] & seen[1] & seen[2]
    assert browsers() == []
    with pytest.raises(website_scan.InvalidOption, match="closed"):
        website_scan.scan(f"{site.url}/", "accessibility", browser=browser, allow_networks=LOOPBACK)


def test_security_scan_starts_no_browser(site: Site) -> None:
    with website_scan.Browser() as browser:
        website_scan.scan(f"{site.url}/", "security", browser=browser, allow_networks=LOOPBACK)
        assert browsers() == []


def test_threads_share_a_browser(site: Site) -> None:
    with website_scan.Browser(processes=2) as browser, ThreadPoolExecutor(6) as pool:
        pages = list(
            pool.map(
                lambda number: website_scan.scan(
                    f"{site.url}/{number}", "accessibility", browser=browser, allow_networks=LOOPBACK
                ),
                range(6),
            )
        )
        roots = [process for process in browsers() if process.ppid() == psutil.Process().pid]
        assert 1 <= len(roots) <= 2
    assert all(has_contrast_finding(page) for page in pages)
    assert browsers() == []


def test_browser_works_inside_a_running_event_loop(site: Site) -> None:
    async def main() -> bool:
        return has_contrast_finding(website_scan.scan(f"{site.url}/", "accessibility", allow_networks=LOOPBACK))

    assert asyncio.run(main())


def test_closing_the_browser_ends_a_running_scan(site: Site) -> None:
    browser = website_scan.Browser()
    pages: list[website_scan.PageResult] = []

    def scan() -> None:
        url = f"{site.url}/waits"
        pages.append(website_scan.scan(url, "accessibility", browser=browser, allow_networks=LOOPBACK))

    thread = threading.Thread(target=scan)
    thread.start()
    wait_until(lambda: "/waiting.js" in site.paths(), 60)
    browser.close()
    assert browsers() == []
    thread.join(30)
    assert not thread.is_alive()
    assert pages[0]["accessibility"].status == "partial"


def test_abandoned_browser_does_not_start_again() -> None:
    warm = new_browser()
    assert warm is not None
    warm.abandon()
    with pytest.raises(BrowserFailed):
        warm.start(10)
    assert browsers() == []


def test_missing_browser_raises_if_it_is_required(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "SCAN_BROWSER", "off")
    with pytest.raises(website_scan.BrowserUnavailable, match="SCAN_BROWSER"):
        website_scan.Browser()
    with pytest.raises(website_scan.BrowserUnavailable):
        website_scan.scan(f"{site.url}/", browser=True, allow_networks=LOOPBACK)
    page = website_scan.scan(f"{site.url}/", "accessibility", allow_networks=LOOPBACK)
    assert page["accessibility"].browser is None
    assert page["accessibility"].omitted


# This program scans until it is interrupted, and then prints the processes that remain, and the scanner's threads.
INTERRUPTED_PROGRAM = """
import sys, threading
import psutil, website_scan
try:
    pages = website_scan.scan_pages(
        [sys.argv[1]] * 3, "accessibility", allow_networks=["127.0.0.0/8"], workers=int(sys.argv[2])
    )
    for page in pages:
        print("not interrupted", page, flush=True)
except KeyboardInterrupt:
    children = [process.name() for process in psutil.Process().children(recursive=True)
                if process.status() != psutil.STATUS_ZOMBIE]
    print("interrupted", children, flush=True)
"""


# This program ends without closing its browser.
FORGETFUL_PROGRAM = """
import sys, psutil, website_scan
browser = website_scan.Browser()
page = website_scan.scan(sys.argv[1], "accessibility", browser=browser, allow_networks=["127.0.0.0/8"])
assert page["accessibility"].browser
print(*[process.pid for process in psutil.Process().children(recursive=True)])
"""


def start_program(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a Python program that may use the browser."""
    program = find_browser("auto")
    assert program is not None
    sandbox = "off" if sandbox_problem(program) else "on"
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "SCAN_BROWSER": str(program), "SCAN_BROWSER_SANDBOX": sandbox},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_program_that_forgets_to_close_its_browser_leaves_no_process(site: Site) -> None:
    with start_program(FORGETFUL_PROGRAM, f"{site.url}/") as running:
        output, errors = running.communicate(timeout=100)
    assert running.returncode == 0, errors
    pids = [int(pid) for pid in output.split()]
    assert pids
    wait_until(lambda: not any(psutil.pid_exists(pid) for pid in pids), 10)


@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_scan_leaves_no_process(site: Site, workers: int) -> None:
    with start_program(INTERRUPTED_PROGRAM, f"{site.url}/waits", str(workers)) as running:
        try:
            wait_until(lambda: site.paths().count("/waiting.js") >= workers, 60)
            started = psutil.Process(running.pid).children(recursive=True)
            assert any("chrom" in process.name() for process in started)
            running.send_signal(signal.SIGINT)
            output, errors = running.communicate(timeout=20)
        finally:
            running.kill()
    assert (running.returncode, output) == (0, "interrupted []\n"), errors
    assert "Traceback" not in errors
    _, alive = psutil.wait_procs(started, timeout=5)
    assert alive == []
