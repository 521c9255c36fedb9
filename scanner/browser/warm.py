"""A Chromium that stays running: started for the first page; ended after fifty loads, any failure, or when idle.

Playwright runs in a thread of its own. If it hangs, the caller's deadline kills every process.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import os
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import playwright
import psutil
from playwright.async_api import Browser, Error, Playwright, async_playwright

from scanner.browser.evidence import BrowserLoad
from scanner.browser.load import visit_page
from scanner.browser.processes import STOP_S, Meter, Usage, kill, tree
from scanner.browser.reasons import explain, overrun
from scanner.browser.visit import BrowserFailed, History, PageCrashed, Visit
from scanner.net.browser import launch_options, sandbox_problem
from scanner.net.budget import MIB

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_LOADS = 50
IDLE_S = 300.0
START_S = 20.0  # if the caller of `load` has not started it
GRACE_S = 2.0  # after a visit's own limit, before everything is killed
LOOK_EVERY_S = 0.25
MEMORY_MIB = 800  # of all processes
FOLDER = "scan-browser-"
NODE = "PLAYWRIGHT_NODEJS_PATH"  # a variable that Playwright reads
# Limits in MiB. Without them Node collects garbage so late that the driver takes as much memory as the browser.
DRIVER_MEMORY = "--max-semi-space-size=1 --max-old-space-size=128"

START_DRIVER = Path(__file__).with_name("start-driver")
# Reasons to end a browser that works.
SOUND = frozenset({"worn", "unneeded"})
TOO_LATE = "The browser did not start within {:.0f} seconds."
DIED = "The browser died while it loaded the page."


class TooMuchMemory(BrowserFailed):
    """The page made the browser exceed its memory limit."""


class WarmBrowser:
    """Chromium for one process, one visit after the other. Thread-safe; `close()` it, or use a `with` statement.

    `memory_mib` is the limit for all its processes together. With `sandbox`, it does not start if a sandbox is
    impossible. `ca_bundle` is a PEM file of certificates to trust besides Chromium's own.
    """

    def __init__(
        self, program: Path, *, memory_mib: int = MEMORY_MIB, sandbox: bool = True, ca_bundle: Path | None = None
    ) -> None:
        self._program = program
        self._memory_bytes = memory_mib * MIB
        self._sandbox = sandbox
        self._ca_bundle = ca_bundle
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._idle_timer: threading.Timer | None = None
        self._cpu_s = 0.0
        self._starts = 0
        self._ends: Counter[str] = Counter()

    @property
    def history(self) -> History:
        """Return the statistics of the browsers so far."""
        return History(self._starts, dict(self._ends), self._cpu_s)

    def __enter__(self) -> WarmBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, limit_s: float) -> None:
        """Start the browser if it does not run, see `Browser.start`."""
        with self._lock:
            self._cancel_idle_timer()
            self._start(limit_s)
            self._set_idle_timer()

    def load(self, visit: Visit) -> BrowserLoad:
        """Load a page, see `Browser.load`. After a failure the next visit gets a new browser."""
        with self._lock:
            self._cancel_idle_timer()
            running = self._start(START_S)
            meter = Meter(running.processes)
            began = meter.look()
            try:
                visiting = visit_page(running.browser, visit, lambda: meter.usage)
                found = running.run(visiting, visit.time_limit_s + GRACE_S, lambda: self._refuse_memory(meter.look()))
            except Error as error:
                is_alive = running.browser.is_connected()
                self._drop("failed")
                raise BrowserFailed(explain(error) if is_alive else DIED) from None
            except (TimeoutError, concurrent.futures.TimeoutError):
                self._drop("failed")
                raise BrowserFailed(overrun(began, meter.usage, visit.time_limit_s)) from None
            except PageCrashed:
                # V8 ends a page whose scripts exceed their limit before all processes together exceed the browser's.
                is_memory = meter.most_bytes > self._memory_bytes / 2
                self._drop("memory" if is_memory else "failed")
                if is_memory:
                    raise self._too_much_memory() from None
                raise
            except TooMuchMemory:
                self._drop("memory")
                raise
            except BaseException:
                self._drop("failed")
                raise
            finally:
                # The first visit includes the processor time of the start.
                self._cpu_s += meter.usage.cpu_s - (began.cpu_s if running.loads else 0.0)
            if found.problems:
                # The context is still open: a busy page might not let it be closed.
                self._drop("failed")
                return found
            running.loads += 1
            if running.loads >= MAX_LOADS:
                self._drop("worn")
            else:
                self._set_idle_timer()
            return found

    def close(self) -> None:
        """End the browser; the next visit starts another one."""
        with self._lock:
            self._cancel_idle_timer()
            if self._running is not None:
                self._drop("unneeded")

    def _refuse_memory(self, usage: Usage) -> None:
        if usage.memory_bytes > self._memory_bytes:
            raise self._too_much_memory()

    def _too_much_memory(self) -> TooMuchMemory:
        limit = self._memory_bytes // MIB
        return TooMuchMemory(f"The page asked for too much memory: the browser may hold {limit} MiB.")

    def _start(self, limit_s: float) -> _Running:
        if self._running is None:
            self._starts += 1
            self._running = _Running.start(
                self._program, self._memory_bytes, limit_s, sandbox=self._sandbox, ca_bundle=self._ca_bundle
            )
        return self._running

    def _set_idle_timer(self) -> None:
        """End the browser when it has been idle for a while: it uses 250 MiB."""
        self._idle_timer = threading.Timer(IDLE_S, self.close)
        self._idle_timer.daemon = True
        self._idle_timer.start()

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _drop(self, reason: str) -> None:
        running, self._running = self._running, None
        assert running is not None
        self._ends[reason] += 1
        running.stop(is_sound=reason in SOUND)


@dataclass(slots=True)
class _Running:
    """A running Playwright and Chromium, with the folder for all their files."""

    folder: Path
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    playwright: Playwright
    browser: Browser
    processes: list[psutil.Process]
    loads: int = 0

    @classmethod
    def start(
        cls, program: Path, memory_bytes: int, limit_s: float, *, sandbox: bool, ca_bundle: Path | None
    ) -> _Running:
        """Start Playwright and Chromium. Raises `BrowserFailed` if they do not start within the limit."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(_note)  # a killed driver leaves calls that nobody awaits
        thread = threading.Thread(target=loop.run_forever, name="playwright", daemon=True)
        thread.start()
        before = {each.pid for each in psutil.Process().children()}
        options = partial(
            launch_options, program, folder, sandbox=sandbox, memory_bytes=memory_bytes, ca_bundle=ca_bundle
        )
        future = asyncio.run_coroutine_threadsafe(_launch(folder, options), loop)
        try:
            playwright, browser = future.result(limit_s)
        except Exception as error:  # noqa: BLE001  whatever it is that Playwright raises: a bare Exception, too
            logger.error("Chromium (%s) does not start: %s", program, str(error).partition("\n")[0])
            if sandbox and (problem := sandbox_problem(program)):
                logger.error("Chromium gets no sandbox: %s; SCAN_BROWSER_SANDBOX=off does without", problem)
            future.cancel()
            kill(tree([each for each in psutil.Process().children() if each.pid not in before and _is_driver(each)]))
            _end(loop, thread, folder)
            is_late = isinstance(error, TimeoutError)
            raise BrowserFailed(TOO_LATE.format(limit_s) if is_late else "The browser could not be started.") from None
        drivers = [each for each in psutil.Process().children() if each.pid not in before and _is_driver(each)]
        return cls(folder, loop, thread, playwright, browser, tree(drivers))

    def run(self, what: Coroutine[Any, Any, T], limit_s: float, look: Callable[[], object] = lambda: None) -> T:
        """Run a coroutine, from any thread; call `look` four times a second. Raises their errors, and TimeoutError."""
        future = asyncio.run_coroutine_threadsafe(what, self.loop)
        ends = time.monotonic() + limit_s
        try:
            while not concurrent.futures.wait((future,), min(LOOK_EVERY_S, max(0.0, ends - time.monotonic()))).done:
                look()
                if time.monotonic() >= ends:
                    raise TimeoutError
            return future.result()
        finally:
            future.cancel()

    def stop(self, *, is_sound: bool) -> None:
        """Close a working browser, then kill the remaining processes."""
        left = tree(self.processes)
        if is_sound:
            with contextlib.suppress(Error, concurrent.futures.TimeoutError):
                self.run(self.browser.close(), STOP_S)
        else:
            kill(left)
        # Also after a kill: it collects the driver's exit status, otherwise asyncio would complain.
        with contextlib.suppress(Exception, concurrent.futures.TimeoutError):
            self.run(self.playwright.stop(), STOP_S)
        kill(left)
        _end(self.loop, self.thread, self.folder)


def _note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logger.debug("Playwright: %s", context.get("exception") or context["message"])


async def _launch(folder: Path, options: Callable[[], Mapping[str, Any]]) -> tuple[Playwright, Browser]:
    given = options()
    # Playwright's driver takes the path of Node, and the variables it passes on, from the environment of this process.
    node = os.environ.get(NODE) or str(Path(playwright.__file__).with_name("driver") / "node")
    handed = {"BROWSER_NODE": node, "BROWSER_NODE_OPTIONS": DRIVER_MEMORY, "BROWSER_FOLDER": str(folder)}
    with _environment(handed | {NODE: str(START_DRIVER)}):
        driver = await async_playwright().start()
    try:
        return driver, await driver.chromium.launch(**given, timeout=0)  # the caller has a time limit
    except BaseException:
        await driver.stop()
        raise


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
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
        return any("playwright" in each for each in process.cmdline()[:3])  # the script's shell may come first
    except psutil.Error:
        return False


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
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
