"""A Chromium that stays running: started for the first page; ended after fifty loads, any failure, or when idle.

Its connection is served in a thread of its own. If it hangs, the caller's deadline kills every process.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

from website_scan.browser.chromium import Chromium
from website_scan.browser.devtools import ProtocolError
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.load import visit_page
from website_scan.browser.processes import STOP_S, Meter, Usage, kill, tree
from website_scan.browser.reasons import explain, overrun
from website_scan.browser.visit import BrowserFailed, History, PageCrashed, Visit
from website_scan.net.browser import command_line, sandbox_problem
from website_scan.net.budget import MIB

logger = logging.getLogger(__name__)
T = TypeVar("T")

MAX_LOADS = 50
IDLE_S = 300.0
START_S = 20.0  # if the caller of `load` has not started it
GRACE_S = 2.0  # after a visit's own limit, before everything is killed
LOOK_EVERY_S = 0.25
MEMORY_MIB = 800  # of all processes
FOLDER = "scan-browser-"
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
                visiting = visit_page(running.chromium, visit, lambda: meter.usage)
                found = running.run(visiting, visit.time_limit_s + GRACE_S, lambda: self._refuse_memory(meter.look()))
            except ProtocolError as error:
                is_alive = running.chromium.connection.is_open
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
        """End the browser when it has been idle for a while: it uses 150 MiB."""
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
    """A running Chromium, with the thread of its connection and the folder for all its files."""

    folder: Path
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    chromium: Chromium
    processes: list[psutil.Process]
    loads: int = 0

    @classmethod
    def start(
        cls, program: Path, memory_bytes: int, limit_s: float, *, sandbox: bool, ca_bundle: Path | None
    ) -> _Running:
        """Start Chromium. Raises `BrowserFailed` if it does not start within the limit."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(_note)  # a killed browser leaves calls that nobody awaits
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
            kill(started)
            _end(loop, thread, folder)
            is_late = isinstance(error, TimeoutError)
            raise BrowserFailed(TOO_LATE.format(limit_s) if is_late else "The browser could not be started.") from None
        return cls(folder, loop, thread, chromium, tree(started))

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
            with contextlib.suppress(concurrent.futures.TimeoutError):
                self.run(self.chromium.close(), STOP_S)
        kill(left)
        self.loop.call_soon_threadsafe(self.chromium.connection.close)
        _end(self.loop, self.thread, self.folder)


def _note(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    logger.debug("The browser's connection: %s", context.get("exception") or context["message"])


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
