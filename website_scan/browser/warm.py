"""Chromium that stays running between visits.

It ends after 50 loads, a failure or idle time. A thread serves the connection to the browser. If the browser hangs, the
caller's deadline kills every process.
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
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import psutil
from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.chromium import Chromium
from website_scan.browser.devtools import ProtocolError
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.journey.request import WalkRequest
from website_scan.browser.journey.result import Walk
from website_scan.browser.load import visit_page
from website_scan.browser.processes import STOP_TIMEOUT_S, ProcessMeter, Usage, kill_trees, list_trees
from website_scan.browser.reasons import explain_error, explain_timeout
from website_scan.browser.visit import BrowserFailed, History, LeadsElsewhere, PageCrashed, Visit
from website_scan.net.browser import command_line, sandbox_problem
from website_scan.net.budget import MIB

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_LOADS_PER_BROWSER = 50
IDLE_TIMEOUT_S = 300.0
START_TIMEOUT_S = 20.0  # Time limit for `load` to start the browser.
VISIT_GRACE_S = 2.0  # All processes are killed this long after the time limit of a visit.
POLL_INTERVAL_S = 0.25
MAX_MEMORY_MIB = 800  # Memory limit for all processes of a browser together.
FOLDER = "scan-browser-"
# Reasons to end a browser that still works normally.
HEALTHY_END_REASONS = frozenset({"worn", "unneeded"})
START_TIMEOUT_MESSAGE = "The browser did not start within {:.0f} seconds."
BROWSER_DIED_MESSAGE = "The browser died while it loaded the page."


class TooMuchMemory(BrowserFailed):
    """Raised when the page makes the browser exceed its memory limit."""


class WarmBrowser:
    """Browser of a worker process that reuses Chromium for many visits.

    Thread-safe. Close with `close()` or `with`. `memory_mib` is the limit for all processes of Chromium together. With
    `sandbox`, Chromium does not start if a sandbox is impossible. `ca_bundle` is a PEM file of certificates to trust
    besides Chromium's own.
    """

    def __init__(
        self, program: Path, *, memory_mib: int = MAX_MEMORY_MIB, sandbox: bool = True, ca_bundle: Path | None = None
    ) -> None:
        self._program = program
        self._memory_bytes = memory_mib * MIB
        self._sandbox = sandbox
        self._ca_bundle = ca_bundle
        self._lock = threading.Lock()
        self._running: RunningBrowser | None = None
        self._idle_timer: threading.Timer | None = None
        self._cpu_s = 0.0
        self._is_abandoned = False
        self._starts = 0
        self._ends: Counter[str] = Counter()

    @property
    def history(self) -> History:
        """Return statistics of all browsers that this object has started."""
        return History(self._starts, dict(self._ends), self._cpu_s)

    def __enter__(self) -> WarmBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, limit_s: float) -> None:
        """Start the browser if it is not running (see `Browser.start`)."""
        with self._lock:
            self._cancel_idle_timer()
            self._start_browser(limit_s)
            self._set_idle_timer()

    def load(self, visit: Visit) -> BrowserLoad:
        """Load a page (see `Browser.load`).

        After a failure the next visit starts a new browser.
        """
        with self._lock:
            running, meter = self._begin_visit()
            saved: list[BrowserLoad | None] = [None]
            visiting = visit_page(running.chromium, visit, lambda: meter.usage, saved.append)
            try:
                result = self._run(running, meter, visiting, visit.time_limit_s, visit.axe_time_limit_s)
            except TooMuchMemory as error:
                if (evidence := saved[-1]) is None:
                    raise
                return replace(evidence, problems={**evidence.problems, "page_picture": str(error)})
            # The context of a busy page might not close.
            self._end_visit(running, is_closed=not result.problems)
            return result

    def walk(self, request: WalkRequest) -> Walk:
        """Execute a journey in a fresh browser context.

        If the browser fails, the result has the steps and states before. Raises `BrowserFailed` if there are none.
        """
        from website_scan.browser.journey.walker import WALK_GRACE_S, Walker  # Few scans execute journeys.

        with self._lock:
            running, meter = self._begin_visit()
            walker = Walker(running.chromium, request, lambda: meter.usage)
            try:
                result = self._run(running, meter, walker.walk(), request.time_limit_s, WALK_GRACE_S)
            except BrowserFailed as error:
                if not walker.has_begun:
                    raise
                return walker.result(str(error))
            self._end_visit(running, is_closed=walker.is_closed)
            return result

    def _begin_visit(self) -> tuple[RunningBrowser, ProcessMeter]:
        self._cancel_idle_timer()
        running = self._start_browser(START_TIMEOUT_S)
        meter = ProcessMeter(running.processes)
        meter.measure()
        return running, meter

    def _end_visit(self, running: RunningBrowser, *, is_closed: bool) -> None:
        """Prepare the browser for the next visit, or end the browser if the context of this one is not closed."""
        if not is_closed:
            self._stop_browser("failed")
            return
        running.loads += 1
        if running.loads >= MAX_LOADS_PER_BROWSER:
            self._stop_browser("worn")
        else:
            self._set_idle_timer()

    def _run(
        self,
        running: RunningBrowser,
        meter: ProcessMeter,
        coroutine: Coroutine[Any, Any, T],
        time_limit_s: float,
        further_time_s: float,
    ) -> T:
        """Return the result of a visit. Ends the browser after a failure. Raises `BrowserFailed`."""
        began = meter.usage
        try:
            return running.run(
                coroutine,
                time_limit_s + further_time_s + VISIT_GRACE_S,
                lambda: self._watch(meter.measure()),
            )
        except ProtocolError as error:
            is_alive = running.chromium.connection.is_open
            self._stop_browser("failed")
            raise BrowserFailed(explain_error(error) if is_alive else BROWSER_DIED_MESSAGE) from None
        except (TimeoutError, concurrent.futures.TimeoutError):
            self._stop_browser("failed")
            raise BrowserFailed(explain_timeout(began, meter.usage, time_limit_s)) from None
        except LeadsElsewhere:
            running.loads += 1
            self._set_idle_timer()
            raise
        except PageCrashed:
            # V8 crashes a page before it reaches the browser's memory limit.
            is_out_of_memory = meter.peak_bytes > self._memory_bytes / 2
            self._stop_browser("memory" if is_out_of_memory else "failed")
            if is_out_of_memory:
                raise self._memory_error() from None
            raise
        except TooMuchMemory:
            self._stop_browser("memory")
            raise
        except BaseException:
            self._stop_browser("failed")
            raise
        finally:
            # The processor time of the browser's start is counted with its first visit.
            self._cpu_s += meter.usage.cpu_s - (began.cpu_s if running.loads else 0.0)

    def close(self) -> None:
        """End the browser.

        The next visit starts a new browser.
        """
        with self._lock:
            self._cancel_idle_timer()
            if self._running is not None:
                self._stop_browser("unneeded")

    def abandon(self) -> None:
        """End the browser for good, also if it is loading a page: this visit and later ones raise `BrowserFailed`.

        Threads of an interrupted scan may still call the browser, and must not start another one.
        """
        self._is_abandoned = True
        self.close()

    def _refuse_if_abandoned(self) -> None:
        if self._is_abandoned:
            raise BrowserFailed("The scan has ended.")

    def _watch(self, usage: Usage) -> None:
        """Raise `BrowserFailed` if the visit must end early."""
        self._refuse_if_abandoned()
        self._check_memory(usage)

    def _check_memory(self, usage: Usage) -> None:
        if usage.memory_bytes > self._memory_bytes:
            raise self._memory_error()

    def _memory_error(self) -> TooMuchMemory:
        limit = self._memory_bytes // MIB
        return TooMuchMemory(f"The page needs too much memory: the browser may use {limit} MiB.")

    def _start_browser(self, limit_s: float) -> RunningBrowser:
        self._refuse_if_abandoned()
        if self._running is None:
            self._starts += 1
            self._running = RunningBrowser.start(
                self._program, self._memory_bytes, limit_s, sandbox=self._sandbox, ca_bundle=self._ca_bundle
            )
        return self._running

    def _set_idle_timer(self) -> None:
        """Start a timer that ends the idle browser.

        The browser uses 150 MiB of memory.
        """
        self._idle_timer = threading.Timer(IDLE_TIMEOUT_S, self.close)
        self._idle_timer.daemon = True
        self._idle_timer.start()

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _stop_browser(self, reason: str) -> None:
        running, self._running = self._running, None
        assert running is not None
        self._ends[reason] += 1
        running.stop(is_healthy=reason in HEALTHY_END_REASONS)


class RunningBrowser(Struct):
    """Running Chromium with its thread and its folder.

    The thread has the DevTools connection. The folder is for Chromium's files.
    """

    folder: Path
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    chromium: Chromium
    processes: list[psutil.Process]
    loads: int = 0

    @classmethod
    def start(
        cls, program: Path, memory_bytes: int, limit_s: float, *, sandbox: bool, ca_bundle: Path | None
    ) -> RunningBrowser:
        """Start Chromium.

        Raises `BrowserFailed` if Chromium does not start within the time limit.
        """
        _remove_stale_folders()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        loop = asyncio.new_event_loop()
        # A killed browser leaves futures that are never awaited.
        loop.set_exception_handler(_log_loop_error)
        thread = threading.Thread(target=loop.run_forever, name="chromium", daemon=True)
        thread.start()
        started: list[psutil.Process] = []
        future: concurrent.futures.Future[Chromium] | None = None
        try:
            command = command_line(program, folder, sandbox=sandbox, memory_bytes=memory_bytes, ca_bundle=ca_bundle)
            future = asyncio.run_coroutine_threadsafe(Chromium.start(command, started.append), loop)
            chromium = future.result(limit_s)
        except (OSError, ProtocolError, TimeoutError, concurrent.futures.TimeoutError) as error:
            logger.error("Chromium (%s) does not start: %s", program, str(error).partition("\n")[0])
            if sandbox and (problem := sandbox_problem(program)):
                logger.error("Chromium gets no sandbox: %s; SCAN_BROWSER_SANDBOX=off does without", problem)
            if future is not None:
                future.cancel()
            kill_trees(started)
            _stop_loop(loop, thread, folder)
            is_timeout = isinstance(error, TimeoutError)
            raise BrowserFailed(
                START_TIMEOUT_MESSAGE.format(limit_s) if is_timeout else "The browser could not be started."
            ) from None
        return cls(folder, loop, thread, chromium, list_trees(started))

    def run(self, coroutine: Coroutine[Any, Any, T], limit_s: float, poll: Callable[[], object] = lambda: None) -> T:
        """Run a coroutine from any thread.

        Calls `poll` every `POLL_INTERVAL_S` until it ends. Raises TimeoutError, and the errors of the coroutine and of
        `poll`.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        ends = time.monotonic() + limit_s
        try:
            while not concurrent.futures.wait((future,), min(POLL_INTERVAL_S, max(0.0, ends - time.monotonic()))).done:
                poll()
                if time.monotonic() >= ends:
                    raise TimeoutError
            return future.result()
        finally:
            future.cancel()

    def stop(self, *, is_healthy: bool) -> None:
        """Close a healthy browser, then kill all remaining processes."""
        remaining = list_trees(self.processes)
        if is_healthy:
            with contextlib.suppress(concurrent.futures.TimeoutError):
                self.run(self.chromium.close(), STOP_TIMEOUT_S)
        kill_trees(remaining)
        self.loop.call_soon_threadsafe(self.chromium.connection.close)
        _stop_loop(self.loop, self.thread, self.folder)


def _log_loop_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logger.debug("The browser's connection: %s", context.get("exception") or context["message"])


def _stop_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, folder: Path) -> None:
    async def cancel_tasks() -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    with contextlib.suppress(concurrent.futures.TimeoutError):
        asyncio.run_coroutine_threadsafe(cancel_tasks(), loop).result(STOP_TIMEOUT_S)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(STOP_TIMEOUT_S)
    if not thread.is_alive():
        loop.close()
    shutil.rmtree(folder, ignore_errors=True)


def _remove_stale_folders() -> None:
    """Delete browser folders of worker processes that are no longer running."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        owner = folder.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
