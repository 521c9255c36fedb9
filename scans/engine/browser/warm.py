"""A Chromium that stays: started for the first page, thrown away after fifty, for any oddity, and when nobody needs it.

Playwright runs in a thread of its own. Whatever hangs in there, the caller's deadline ends it: every process is killed.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil
from playwright.async_api import Browser, Error, Playwright, async_playwright

from scans.engine.browser.evidence import BrowserLoad
from scans.engine.browser.load import BUSY, explain, visit_page
from scans.engine.browser.visit import BrowserFailed, Visit
from scans.net.browser import launch_options

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_LOADS = 50
IDLE_S = 300.0
START_S = 20.0
STOP_S = 5.0
GRACE_S = 3.0  # beyond a visit's own limit, before everything is killed
FOLDER = "scan-browser-"
TEMPORARY_FOLDER = "TMPDIR"  # POSIX; only passed on
# MiB. Left alone, Node collects its garbage so late that the driver takes as much as the browser.
DRIVER_MEMORY = "--max-semi-space-size=1 --max-old-space-size=128"

DIED = "The browser died while it loaded the page."


class WarmBrowser:
    """Chromium for one process, one visit after the other. Thread-safe; `close()` it, or use a `with` statement."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._idle_timer: threading.Timer | None = None

    def __enter__(self) -> WarmBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, visit: Visit) -> BrowserLoad:
        """See `Browser.load`. After a failure the next visit gets a new browser."""
        with self._lock:
            self._cancel_idle_timer()
            running = self._running = self._running or _Running.start(self._program)
            try:
                found = running.run(visit_page(running.browser, visit), visit.time_limit_s + GRACE_S)
            except Error as error:
                is_alive = running.browser.is_connected()
                self._drop(is_sound=False)
                raise BrowserFailed(explain(error) if is_alive else DIED) from None
            except (TimeoutError, concurrent.futures.TimeoutError):
                self._drop(is_sound=False)
                raise BrowserFailed(BUSY) from None
            except BaseException:
                self._drop(is_sound=False)
                raise
            running.loads += 1
            if running.loads >= MAX_LOADS:
                self._drop(is_sound=True)
            else:
                # A browser without work holds 250 MiB.
                self._idle_timer = threading.Timer(IDLE_S, self.close)
                self._idle_timer.daemon = True
                self._idle_timer.start()
            return found

    def close(self) -> None:
        """End the browser; the next visit starts another one."""
        with self._lock:
            self._cancel_idle_timer()
            if self._running is not None:
                self._drop(is_sound=True)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _drop(self, *, is_sound: bool) -> None:
        running, self._running = self._running, None
        assert running is not None
        running.stop(is_sound=is_sound)


@dataclass(slots=True)
class _Running:
    """One start of Playwright and Chromium, with the folder that holds all their files."""

    folder: Path
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    playwright: Playwright
    browser: Browser
    processes: list[psutil.Process]
    loads: int = 0

    @classmethod
    def start(cls, program: Path) -> _Running:
        """Raises `BrowserFailed` when it does not come up."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(_note)  # a driver that is killed leaves calls behind that nobody waits for
        thread = threading.Thread(target=loop.run_forever, name="playwright", daemon=True)
        thread.start()
        before = {each.pid for each in psutil.Process().children()}
        future = asyncio.run_coroutine_threadsafe(_launch(program, folder), loop)
        try:
            playwright, browser = future.result(START_S)
        except Exception as error:  # noqa: BLE001  whatever it is that Playwright raises: a bare Exception, too
            logger.error("Chromium (%s) does not start: %s", program, str(error).partition("\n")[0])
            future.cancel()
            _kill([each for each in psutil.Process().children() if each.pid not in before and _is_driver(each)])
            _end(loop, thread, folder)
            raise BrowserFailed("The browser could not be started.") from None
        drivers = [each for each in psutil.Process().children() if each.pid not in before and _is_driver(each)]
        return cls(folder, loop, thread, playwright, browser, _tree(drivers))

    def run(self, what: Coroutine[Any, Any, T], limit_s: float) -> T:
        """From any thread. Raises what it raises, and TimeoutError."""
        future = asyncio.run_coroutine_threadsafe(what, self.loop)
        try:
            return future.result(limit_s)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise

    def stop(self, *, is_sound: bool) -> None:
        """Ask where there is reason to hope, then kill what is left."""
        tree = _tree(self.processes)
        if is_sound:
            with contextlib.suppress(Error, concurrent.futures.TimeoutError):
                self.run(self.browser.close(), STOP_S)
        else:
            _kill(tree)
        # Also after a kill: it takes the driver's end in, which asyncio would complain about otherwise.
        with contextlib.suppress(Exception, concurrent.futures.TimeoutError):
            self.run(self.playwright.stop(), STOP_S)
        _kill(tree)
        _end(self.loop, self.thread, self.folder)


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logger.debug("Playwright: %s", context.get("exception") or context["message"])


async def _launch(program: Path, folder: Path) -> tuple[Playwright, Browser]:
    # The driver takes both from our own environment: where it puts its files, and how much it may hold.
    with _environment({TEMPORARY_FOLDER: str(folder), "NODE_OPTIONS": DRIVER_MEMORY}):
        playwright = await async_playwright().start()
    try:
        return playwright, await _start_chromium(playwright, program, folder)
    except BaseException:
        await playwright.stop()
        raise


async def _start_chromium(playwright: Playwright, program: Path, folder: Path) -> Browser:
    """With its own sandbox where that can be: not for root, and not where the system forbids user namespaces."""
    if os.geteuid() != 0:
        try:
            return await playwright.chromium.launch(**launch_options(program, folder, sandbox=True))
        except Error:
            logger.warning("Chromium does not start with its sandbox here; it runs without")
    return await playwright.chromium.launch(**launch_options(program, folder))


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    tempfile.gettempdir()  # Python's own answer is settled before, for the other threads
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _is_driver(process: psutil.Process) -> bool:
    try:
        return any("playwright" in each for each in process.cmdline()[:2])
    except psutil.Error:
        return False


def _tree(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run and all that they started."""
    found: dict[int, psutil.Process] = {}
    for each in processes:
        with contextlib.suppress(psutil.Error):
            if each.is_running():
                found |= {one.pid: one for one in (each, *each.children(recursive=True))}
    return list(found.values())


def _kill(processes: list[psutil.Process]) -> None:
    tree = _tree(processes)
    pids = {each.pid for each in tree}
    for each in tree:
        with contextlib.suppress(psutil.Error, OSError):
            # Chromium leads a group of its own, which holds those of its processes that lost their parent, too.
            group = os.getpgid(each.pid)
            if group in pids:
                os.killpg(group, signal.SIGKILL)
            each.kill()
    # The driver is asyncio's child: whoever else waits for it takes its end away from there.
    psutil.wait_procs([each for each in tree if _parent(each) != os.getpid()], timeout=STOP_S)


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread, folder: Path) -> None:
    async def cancel() -> None:
        others = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    with contextlib.suppress(concurrent.futures.TimeoutError):
        asyncio.run_coroutine_threadsafe(cancel(), loop).result(STOP_S)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(STOP_S)
    if not thread.is_alive():
        loop.close()
    shutil.rmtree(folder, ignore_errors=True)


def _sweep() -> None:
    """Remove what processes left behind that were killed themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
