"""Visit of a page: load the page in a fresh browser context, then collect evidence once the page is idle.

The scanner's scripts run in isolated worlds, which share the page's elements but none of its JavaScript objects, so a
page can neither read nor forge the results. The scripts have no binding to call Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from website_scan.browser.axe import AXE_FAILED, run_axe
from website_scan.browser.chromium import Chromium, Context
from website_scan.browser.console import ConsoleErrors
from website_scan.browser.content_wait import ContentWait
from website_scan.browser.coverage import CoverageRecorder
from website_scan.browser.credentials import HeaderSender
from website_scan.browser.devtools import Event, ProtocolError
from website_scan.browser.evidence import (
    AxeReport,
    BrowserLoad,
    Layout,
    Load,
    PagePicture,
    Screen,
)
from website_scan.browser.injected_scripts import read_layout, read_load, read_screen, wrap_script
from website_scan.browser.main_thread import Trace, parse_trace
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.pictures import (
    PICTURE_S,
    Filmstrip,
    has_one_colour,
    page_has_colours,
    select_axe_elements,
    select_first_screen_elements,
    take_first_screen,
    take_page_picture,
)
from website_scan.browser.processes import Usage
from website_scan.browser.reasons import TOO_SLOW, explain_error, explain_timeout
from website_scan.browser.unshown import classify_screen, judge_screen
from website_scan.browser.visit import BrowserFailed, PageCrashed, Part, Visit
from website_scan.net.budget import Limits, Meter
from website_scan.net.errors import BudgetExceeded
from website_scan.urls import Url

T = TypeVar("T")

QUIET_S = 0.5  # time without a request after which the page counts as complete
QUIET_LIMIT_S = 4.0
POLL_S = 0.05
SCREEN_POLL_S = 0.25
LOAD_SHARE = 0.6  # share of the time limit for the page load; the rest is for gathering evidence
SCRIPT_LIMIT_MS = 10_000
AXE_CPU_S = 12.0  # limit in processor time, because other work of this machine is not the page's fault
AXE_POLL_S = 0.25
WORLD = "scan"
NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"


@dataclass(frozen=True, slots=True)
class _VisitLimits:
    """Limits of one visit, shared by all its loads."""

    deadline: float  # on the monotonic clock
    limit_s: float
    usage: Callable[[], Usage]
    meter: Meter


class _TooManyRequests(BrowserFailed):
    """The page sent more requests than the limit of a scan."""


class _NetworkChanged(BrowserFailed):
    """The network of this machine changed during the load, for example when a container started."""


async def visit_page(browser: Chromium, visit: Visit, usage: Callable[[], Usage]) -> BrowserLoad:
    """Load the page, collect evidence, and load again if requested. Raises `BrowserFailed`, `ProtocolError`.

    `usage` returns the resources that the browser's processes have used so far. If the result has problems, the
    browser context stays open.
    """
    began = time.monotonic()
    limits = _VisitLimits(began + visit.time_limit_s, visit.time_limit_s, usage, Meter(Limits()))
    result = await _load_in_context(browser, visit, limits, is_full=True)
    again: list[Load] = []
    duration_s = time.monotonic() - began
    if result.problems or (result.screen is not None and judge_screen(result, result.screen).unshown):
        return result
    for number in range(1, visit.again + 1):
        if limits.deadline - time.monotonic() < 2 * duration_s or not limits.meter.has_room_again(number):
            break
        try:
            further = await _load_in_context(browser, visit, limits, is_full=False)
        except _TooManyRequests as error:
            result = replace(result, problems={"again": str(error)})
            break
        again.append(further.first)
    return replace(result, again=tuple(again))


async def _load_in_context(
    browser: Chromium, visit: Visit, limits: _VisitLimits, *, is_full: bool, may_repeat: bool = True
) -> BrowserLoad:
    page_load = PageLoad(browser, visit, limits)
    context = await Context.open(browser, visit, page_load.count_request)
    try:
        result = await page_load.collect(context, is_full=is_full)
    except _NetworkChanged:
        if not may_repeat:
            raise
        await context.close()
        return await _load_in_context(browser, visit, limits, is_full=is_full, may_repeat=False)
    # After a problem the caller ends the whole browser: a busy page might not allow its context to be closed.
    if not result.problems:
        await context.close()
    return result


class PageLoad:
    """One load of the page in one browser context, with its evidence."""

    def __init__(self, browser: Chromium, visit: Visit, limits: _VisitLimits) -> None:
        self._product = f"Chromium {browser.version}"
        self._visit = visit
        self._limits = limits
        self._failure = asyncio.get_running_loop().create_future()  # raises the reason when the load must stop
        self._usage_at_start = limits.usage()
        self._log = NetworkLog()
        self._coverage = CoverageRecorder()
        self._console = ConsoleErrors()
        self._problems: dict[str, str] = {}
        self._has_loaded = asyncio.Event()
        self._documents = 0  # number of documents that the main frame has shown
        self._result: BrowserLoad | None = None  # evidence that checks read, complete except for the page's picture

    async def collect(self, context: Context, *, is_full: bool) -> BrowserLoad:
        """Load the page and collect evidence. Raises `BrowserFailed` when the load must stop early.

        The load stops when the page's process dies, because commands to a dead process would never return, and when the
        page sends more requests than the limit of a scan, because evidence would not be of the whole page.
        """
        self._cdp = context.page
        self._cdp.on("Inspector.targetCrashed", lambda _: self._fail(PageCrashed("The page made the browser crash.")))
        collecting = asyncio.ensure_future(self._collect_evidence(context, is_full=is_full))
        try:
            await asyncio.wait((collecting, self._failure), return_when=asyncio.FIRST_COMPLETED)
            finished = self._failure if self._failure.done() else collecting
            # A failure during the page's picture loses only the picture.
            if self._result is not None and (error := finished.exception()):
                return replace(self._result, problems=self._problems | {"page_picture": str(error)})
            return finished.result()
        finally:
            for future in (collecting, self._failure):
                future.cancel()
            await asyncio.gather(collecting, self._failure, return_exceptions=True)

    def _fail(self, reason: BrowserFailed) -> None:
        if not self._failure.done():
            self._failure.set_exception(reason)

    def count_request(self, event: Event) -> None:
        """Count a request of the page, a frame or a worker: the proxy cannot see requests inside its tunnels."""
        url = Url.parse(event["request"]["url"])
        if url is not None and url.is_http:
            try:
                self._limits.meter.request(url.host)
                if url.scheme == "https":
                    self._visit.proxy.count_in_tunnel(url.host, url.port or 0)
            except BudgetExceeded as error:
                self._fail(_TooManyRequests(f"The browser stopped loading the page. {error}"))

    async def _collect_evidence(self, context: Context, *, is_full: bool) -> BrowserLoad:
        await self._prepare(context, is_full)
        trace = Trace(self._cdp) if self._visit.again else None
        if trace:
            await trace.start()
        film = Filmstrip(self._cdp) if Part.FILMSTRIP in self._visit.parts else None
        if film:
            await film.start()
        await self._load()
        self._content_wait.mark_loaded()
        self._world = await self._create_isolated_world()
        screen_before, metrics = await self._wait_for_content()
        if film:
            await self._before_deadline(film.stop())
        vitals = await self._run_script("vitals.js")
        traced = await self._before_deadline(trace.stop()) if trace else []
        work = parse_trace(traced, self._frame, metrics.get("NavigationStart", 0.0), screen_before.at_s)
        first = read_load(vitals, metrics, self._log, work)
        if film:
            with contextlib.suppress(ProtocolError, BrowserFailed):  # without progress, the report has no Speed Index
                first = replace(
                    first, progress=await self._before_deadline(film.progress(self._world, first, vitals["began"]))
                )
        if not is_full:
            return BrowserLoad(self._product, first)
        parts = self._visit.parts
        files = await self._collect_part("files", self._coverage.stop(self._cdp)) if Part.COVERAGE in parts else None
        layout = await self._collect_part("layout", self._read_layout()) if Part.LAYOUT in parts else None
        elements = select_first_screen_elements(first, layout) if Part.LAYOUT in parts else []
        # A session that emulates no screen takes pictures in CSS pixels, with a quarter of the work and of the bytes.
        self._camera = await self._before_deadline(context.open_session())
        picture = await self._collect_part("first_screen", take_first_screen(self._camera, self._world, elements))
        screen, picture = await self._collect_part(
            "screen", self._complete_screen(screen_before, picture, elements)
        ) or (None, picture)
        host_ms = (
            await self._collect_part("host_ms", self._run_script("host.js")) if Part.MACHINE_SPEED in parts else None
        )
        axe = await self._collect_part("axe", self._run_axe()) if Part.AXE in parts else None
        result = self._result = BrowserLoad(
            product=self._product,
            first=first,
            layout=layout,
            files=tuple(files) if files is not None else None,
            axe=axe,
            first_screen=picture,
            frames=film.frames(first, vitals["began"]) if film else (),
            screen=screen,
            console_errors=tuple(self._console.errors),
            exceptions=tuple(self._console.exceptions),
            host_ms=host_ms,
            problems=dict(self._problems),
        )
        if not (reported := select_axe_elements(axe)) or self._remaining_s() < PICTURE_S:
            return result
        whole = await self._collect_part("page_picture", take_page_picture(self._camera, self._world, reported))
        return replace(result, page_picture=whole, problems=dict(self._problems))

    async def _prepare(self, context: Context, is_full: bool) -> None:
        self._log.listen(self._cdp.on)
        self._cdp.on("Page.frameNavigated", self._count_document)
        self._cdp.on("Page.loadEventFired", lambda _: self._has_loaded.set())
        # The metrics are in processor time, because other work of this machine must not count.
        await self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        credentials = self._visit.credentials
        if credentials is not None and credentials.headers:
            await HeaderSender(await context.open_session(), credentials).start()
        if not is_full:
            return
        await self._console.listen(self._cdp)
        if Part.COVERAGE in self._visit.parts:
            await self._coverage.start(self._cdp)

    async def _load(self) -> None:
        """Wait for the load event, then for half a second without requests, within limits: some pages never idle."""
        limit_s = max(1.0, self._remaining_s() * LOAD_SHARE)
        began = time.monotonic()
        self._content_wait = ContentWait(self._limits.usage, self._log, limit_s)
        try:
            response = await asyncio.wait_for(self._cdp.send("Page.navigate", {"url": self._visit.url}), limit_s)
        except TimeoutError:
            raise BrowserFailed(TOO_SLOW) from None
        except ProtocolError as error:
            raise BrowserFailed(explain_error(error)) from None
        if error_text := response.get("errorText"):
            error_type = _NetworkChanged if NETWORK_CHANGED in error_text else BrowserFailed
            raise error_type(explain_error(ProtocolError(error_text)))
        try:
            await asyncio.wait_for(self._has_loaded.wait(), max(0.1, limit_s - (time.monotonic() - began)))
        except TimeoutError:
            return  # the checks judge what the page shows so far
        quiet_since = time.monotonic()
        last_activity_s = self._log.last_activity_s
        deadline = quiet_since + min(QUIET_LIMIT_S, max(0.0, limit_s - (quiet_since - began)))
        while time.monotonic() < deadline and (now := time.monotonic()) - quiet_since < QUIET_S:
            await asyncio.sleep(POLL_S)
            if self._log.last_activity_s != last_activity_s or self._log.in_flight:
                last_activity_s, quiet_since = self._log.last_activity_s, now

    async def _create_isolated_world(self) -> int:
        tree = await self._before_deadline(self._cdp.send("Page.getFrameTree"))
        self._frame = str(tree["frameTree"]["frame"]["id"])
        created = await self._before_deadline(
            self._cdp.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD})
        )
        return int(created["executionContextId"])

    async def _run_script(self, script: str) -> Any:
        """Run one of the scanner's scripts in the isolated world and return its result. Raises `BrowserFailed`."""
        response = await self._before_deadline(
            self._cdp.send(
                "Runtime.evaluate",
                {
                    "expression": wrap_script(script),
                    "contextId": self._world,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "timeout": SCRIPT_LIMIT_MS,
                },
            )
        )
        if "exceptionDetails" in response:
            raise BrowserFailed("The page could not be looked at in the browser.")
        return response["result"].get("value")

    async def _wait_for_content(self) -> tuple[Screen, Mapping[str, float]]:
        """Wait until the page shows content, within a limit, because some pages never do.

        Returns the visible content, and the browser's metrics from before screen.js ran.
        """
        while True:
            metrics = await self._read_metrics()
            screen = read_screen(await self._run_script("screen.js"))
            has_failed = bool(self._console.exceptions)
            if classify_screen(screen, has_failed=has_failed) is None or self._content_wait.is_over():
                return screen, metrics
            await asyncio.sleep(SCREEN_POLL_S)

    async def _complete_screen(
        self, screen: Screen, picture: PagePicture | None, elements: Sequence[str]
    ) -> tuple[Screen, PagePicture | None]:
        """Complete the visible content with what its screenshot shows, because colours and styles can hide everything.

        Returns the content and the last screenshot.
        """
        if not await self._has_one_colour(picture):
            return self._content_wait.add_wait(screen), picture
        while not self._content_wait.is_over() and await self._has_one_colour(picture):
            await asyncio.sleep(SCREEN_POLL_S)
            picture = await take_first_screen(self._camera, self._world, elements)
        screen = read_screen(await self._run_script("screen.js"))
        is_blank = await self._has_one_colour(picture) and not (
            screen.is_below and await page_has_colours(self._camera, self._world)
        )
        return replace(self._content_wait.add_wait(screen), is_plain=is_blank), picture

    async def _has_one_colour(self, picture: PagePicture | None) -> bool:
        return picture is not None and await has_one_colour(self._camera, self._world, picture.data)

    async def _read_metrics(self) -> Mapping[str, float]:
        metrics = await self._before_deadline(self._cdp.send("Performance.getMetrics"))
        return {metric["name"]: float(metric["value"]) for metric in metrics["metrics"]}

    async def _read_layout(self) -> Layout:
        return read_layout(await self._run_script("layout.js"))

    async def _run_axe(self) -> AxeReport:
        """Run axe-core. Raises `BrowserFailed` if axe-core takes too much processor time."""
        ends_cpu_s = self._limits.usage().cpu_s + AXE_CPU_S
        running = asyncio.ensure_future(run_axe(self._cdp))
        try:
            while not (await asyncio.wait((running,), timeout=AXE_POLL_S))[0]:
                if self._limits.usage().cpu_s > ends_cpu_s:
                    raise BrowserFailed(f"{AXE_FAILED} within {AXE_CPU_S:g} seconds of processor time.")
            return running.result()
        finally:
            running.cancel()

    async def _collect_part(self, name: str, part: Awaitable[T]) -> T | None:
        """Return one part of the evidence. If the part fails, record the problem and return None."""
        try:
            return await self._before_deadline(part)
        except (ProtocolError, BrowserFailed) as error:
            self._problems[name] = str(error) if isinstance(error, BrowserFailed) else explain_error(error)
            return None

    async def _before_deadline(self, awaitable: Awaitable[T]) -> T:
        """Wait for a result until the visit's deadline. Raises `BrowserFailed` after the deadline."""
        try:
            return await asyncio.wait_for(awaitable, max(0.1, self._remaining_s()))
        except TimeoutError:
            raise BrowserFailed(
                explain_timeout(self._usage_at_start, self._limits.usage(), self._limits.limit_s)
            ) from None

    def _remaining_s(self) -> float:
        return self._limits.deadline - time.monotonic()

    def _count_document(self, event: Event) -> None:
        """Count a document of the main frame. The second one fails the load: all evidence must be of one page.

        Without this failure, the navigation would cause others, such as an isolated world that no longer exists.
        """
        self._documents += "parentId" not in event["frame"]
        if self._documents > 1:
            self._fail(BrowserFailed("The page leads elsewhere by a script or refresh while it is looked at."))
