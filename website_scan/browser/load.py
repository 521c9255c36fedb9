"""Page load in a fresh browser context.

The scanner's scripts run in isolated worlds, which share the page's elements but none of its JavaScript objects, so a
page can neither read nor forge the results. The scripts have no binding to call Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from website_scan.browser.axe_time import run_axe_in_time
from website_scan.browser.chromium import Chromium, Context
from website_scan.browser.console import ConsoleErrors
from website_scan.browser.content_wait import ContentWait
from website_scan.browser.coverage import CoverageRecorder
from website_scan.browser.credentials import HeaderSender
from website_scan.browser.devtools import Event, ProtocolError
from website_scan.browser.evidence import AxeReport, BrowserLoad, Layout, Load, PagePicture, Screen
from website_scan.browser.injected_scripts import read_layout, read_load, read_screen, wrap_script
from website_scan.browser.main_thread import Trace, parse_trace
from website_scan.browser.mixed_requests import MixedRequestRecorder
from website_scan.browser.navigation import Navigations
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.pictures import (
    COLOUR_ENCODINGS,
    PICTURE_TIMEOUT_S,
    SCREENSHOT_ENCODINGS,
    Filmstrip,
    has_one_colour,
    page_has_colours,
    select_axe_elements,
    select_first_screen_elements,
    take_first_screen,
    take_page_picture,
)
from website_scan.browser.processes import Usage
from website_scan.browser.reasons import LOAD_TOO_SLOW, explain_error, explain_timeout
from website_scan.browser.stability import starvation_between
from website_scan.browser.unshown import classify_screen, judge_screen
from website_scan.browser.visit import BrowserFailed, LeadsElsewhere, PageCrashed, Part, Visit
from website_scan.browser.visit_limits import VisitLimits
from website_scan.net.budget import Limits, Meter
from website_scan.net.errors import BudgetExceeded
from website_scan.urls import Url

T = TypeVar("T")

MIN_QUIET_TIME_S = 0.5  # The load counts as complete after this time without a request.
MAX_QUIET_WAIT_S = 4.0
POLL_INTERVAL_S = 0.05
SCREEN_POLL_INTERVAL_S = 0.25
LOAD_TIME_SHARE = 0.6  # The rest of the time limit is for gathering evidence.
SCRIPT_TIMEOUT_MS = 10_000
MAX_AXE_CPU_S = 30.0  # Limit for pages where one element of one rule takes too long.
WORLD = "scan"
NETWORK_CHANGED_ERROR = "net::ERR_NETWORK_CHANGED"


class _TooManyRequests(BrowserFailed):
    """Raised when a page sends more requests than a scan may send."""


class _NetworkChanged(BrowserFailed):
    """Raised when this machine's network changes during a load."""


async def visit_page(
    browser: Chromium,
    visit: Visit,
    usage: Callable[[], Usage],
    save_evidence: Callable[[BrowserLoad | None], None],
) -> BrowserLoad:
    """Load the page, collect evidence, and repeat the load if requested.

    Raises `BrowserFailed`, `ProtocolError`. `usage` returns the resources that the browser's processes have used so
    far. `save_evidence` is called with the evidence before the picture of the whole page is taken, which needs much
    memory, and with None afterwards. If the result has problems, the browser context stays open.
    """
    began = time.monotonic()
    limits = VisitLimits(
        began + visit.time_limit_s,
        began + visit.time_limit_s + visit.axe_time_limit_s,
        visit.time_limit_s,
        usage,
        Meter(Limits()),
        save_evidence,
    )
    result = await _load_in_context(browser, visit, limits, is_full=True)
    again: list[Load] = []
    duration_s = time.monotonic() - began
    if result.problems or (result.screen is not None and judge_screen(result, result.screen).unshown):
        return result
    while visit.continues_after([result.first, *again]):
        has_time = limits.deadline - time.monotonic() >= 2 * duration_s
        if not (has_time and limits.meter.allows_another_repetition(len(again) + 1)):
            break
        try:
            further = await _load_in_context(browser, visit, limits, is_full=False)
        except _TooManyRequests as error:
            result = replace(result, problems={"again": str(error)})
            break
        again.append(further.first)
    return replace(result, again=tuple(again))


async def _load_in_context(
    browser: Chromium, visit: Visit, limits: VisitLimits, *, is_full: bool, may_repeat: bool = True
) -> BrowserLoad:
    page_load = PageLoad(browser, visit, limits)
    context = await Context.open(browser, visit, page_load.count_request)
    try:
        result = await page_load.collect(context, is_full=is_full)
    except LeadsElsewhere:
        await context.close()
        raise
    except _NetworkChanged:
        if not may_repeat:
            raise
        await context.close()
        return await _load_in_context(browser, visit, limits, is_full=is_full, may_repeat=False)
    # The context of a busy page might not close, so the caller ends the whole browser.
    if not result.problems:
        await context.close()
    return result


class PageLoad:
    """One load of the page in one browser context, with its evidence."""

    def __init__(self, browser: Chromium, visit: Visit, limits: VisitLimits) -> None:
        self._product = f"Chromium {browser.version}"
        self._visit = visit
        self._limits = limits
        # Future that raises an error when the load must stop early.
        self._failure = asyncio.get_running_loop().create_future()
        self._usage_at_start = limits.usage()
        self._log = NetworkLog()
        self._coverage = CoverageRecorder()
        self._console = ConsoleErrors()
        self._mixed_requests = MixedRequestRecorder(visit.url)
        self._problems: dict[str, str] = {}
        self._has_loaded = asyncio.Event()
        self._navigations = Navigations(self._fail_load)
        # Evidence without the picture of the whole page, which no check needs.
        self._result: BrowserLoad | None = None

    async def collect(self, context: Context, *, is_full: bool) -> BrowserLoad:
        """Load the page and collect evidence.

        Raises `BrowserFailed` when the load must stop early. The load stops when the page's process dies, because
        commands to a dead process would never return, and when the page sends more requests than the limit of a scan,
        because evidence would not be of the whole page.
        """
        self._cdp = context.page
        self._cdp.on(
            "Inspector.targetCrashed", lambda _: self._fail_load(PageCrashed("The page made the browser crash."))
        )
        collecting = asyncio.ensure_future(self._collect_evidence(context, is_full=is_full))
        try:
            await asyncio.wait((collecting, self._failure), return_when=asyncio.FIRST_COMPLETED)
            finished = self._failure if self._failure.done() else collecting
            # Only the picture is lost if the load fails while it is taken.
            if self._result is not None and (error := finished.exception()):
                return replace(self._result, problems=self._problems | {"page_picture": str(error)})
            return finished.result()
        finally:
            for future in (collecting, self._failure):
                future.cancel()
            await asyncio.gather(collecting, self._failure, return_exceptions=True)

    def _fail_load(self, reason: BrowserFailed) -> None:
        if not self._failure.done():
            self._failure.set_exception(reason)

    def count_request(self, event: Event) -> None:
        """Count a request, even if the proxy cannot see it in a tunnel."""
        url = Url.parse(event["request"]["url"])
        if url is not None and url.is_http:
            try:
                self._limits.meter.request(url.host)
                if url.scheme == "https":
                    self._visit.proxy.count_in_tunnel(url.host, url.port or 0)
            except BudgetExceeded as error:
                self._fail_load(_TooManyRequests(f"The browser stopped loading the page. {error}"))

    async def _collect_evidence(self, context: Context, *, is_full: bool) -> BrowserLoad:
        await self._prepare_page(context, is_full)
        trace = Trace(self._cdp) if self._visit.again else None
        if trace:
            await trace.start()
        film = Filmstrip(self._cdp) if Part.FILMSTRIP in self._visit.parts else None
        if film:
            await film.start()
        await self._navigate()
        self._content_wait.mark_loaded()
        self._world = await self._create_isolated_world()
        first_screen_content, metrics = await self._wait_for_content()
        if film:
            await self._await_before_deadline(film.stop())
        vitals = await self._run_script("vitals.js")
        traced = await self._await_before_deadline(trace.stop()) if trace else []
        work = parse_trace(traced, self._frame, metrics.get("NavigationStart", 0.0), first_screen_content.at_s)
        starvation = starvation_between(self._usage_at_start, self._limits.usage())
        first = replace(read_load(vitals, metrics, self._log, work), starvation=starvation)
        if film:
            with contextlib.suppress(
                ProtocolError, BrowserFailed
            ):  # Without visual progress, the report has no Speed Index.
                first = replace(
                    first,
                    progress=await self._await_before_deadline(film.progress(self._world, first, vitals["began"])),
                )
        if not is_full:
            return BrowserLoad(self._product, first)
        parts, has_pictures = self._visit.parts, self._visit.has_pictures
        files = await self._collect_part("files", self._coverage.stop(self._cdp)) if Part.COVERAGE in parts else None
        layout = await self._collect_part("layout", self._read_layout()) if Part.LAYOUT in parts else None
        elements = select_first_screen_elements(first, layout) if Part.LAYOUT in parts and has_pictures else []
        # A session without an emulated screen takes smaller pictures.
        self._camera = await self._await_before_deadline(context.open_session())
        encodings = SCREENSHOT_ENCODINGS if has_pictures else COLOUR_ENCODINGS
        taking = take_first_screen(self._camera, self._world, elements, encodings)
        picture = await self._collect_part("first_screen", taking)
        screen, picture = await self._collect_part(
            "screen", self._complete_visible_content(first_screen_content, picture, elements)
        ) or (None, picture)
        host_ms = (
            await self._collect_part("host_ms", self._run_script("host.js")) if Part.MACHINE_SPEED in parts else None
        )
        axe = await self._collect_axe() if Part.AXE in parts else None
        result = self._result = BrowserLoad(
            product=self._product,
            first=first,
            layout=layout,
            files=tuple(files) if files is not None else None,
            axe=axe,
            first_screen=picture if has_pictures else None,
            frames=film.frames(first, vitals["began"]) if film else (),
            screen=screen,
            console_errors=tuple(self._console.errors),
            exceptions=tuple(self._console.exceptions),
            host_ms=host_ms,
            shown_url=self._navigations.shown_url,
            mixed_requests=self._mixed_requests.requests,
            problems=dict(self._problems),
        )
        if (
            not (reported := select_axe_elements(axe) if has_pictures else [])
            or self._remaining_s() < PICTURE_TIMEOUT_S
        ):
            return result
        self._limits.save_evidence(result)
        whole = await self._collect_part("page_picture", take_page_picture(self._camera, self._world, reported))
        self._limits.save_evidence(None)
        return replace(result, page_picture=whole, problems=dict(self._problems))

    async def _prepare_page(self, context: Context, is_full: bool) -> None:
        self._log.listen(self._cdp.on)
        self._navigations.listen(self._cdp)
        self._cdp.on("Page.loadEventFired", lambda _: self._has_loaded.set())
        # Processor time does not include other work of this machine.
        await self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        credentials = self._visit.credentials
        if credentials is not None and credentials.headers:
            await HeaderSender(await context.open_session(), credentials).start()
        if not is_full:
            return
        await self._console.listen(self._cdp)
        await self._mixed_requests.listen(self._cdp)
        if Part.COVERAGE in self._visit.parts:
            await self._coverage.start(self._cdp)

    async def _navigate(self) -> None:
        """Navigate, and wait for an idle page or a time limit."""
        time_limit_s = max(1.0, self._remaining_s() * LOAD_TIME_SHARE)
        began = time.monotonic()
        self._content_wait = ContentWait(self._limits.usage, self._log, time_limit_s)
        try:
            response = await asyncio.wait_for(self._cdp.send("Page.navigate", {"url": self._visit.url}), time_limit_s)
        except TimeoutError:
            raise BrowserFailed(LOAD_TOO_SLOW) from None
        except ProtocolError as error:
            raise BrowserFailed(explain_error(error)) from None
        if error_text := response.get("errorText"):
            error_type = _NetworkChanged if NETWORK_CHANGED_ERROR in error_text else BrowserFailed
            raise error_type(explain_error(ProtocolError(error_text)))
        try:
            await asyncio.wait_for(self._has_loaded.wait(), max(0.1, time_limit_s - (time.monotonic() - began)))
        except TimeoutError:
            return  # After the time limit, checks judge the page as far as it has loaded.
        quiet_since = time.monotonic()
        last_activity_s = self._log.last_activity_s
        deadline = quiet_since + min(MAX_QUIET_WAIT_S, max(0.0, time_limit_s - (quiet_since - began)))
        while time.monotonic() < deadline and (now := time.monotonic()) - quiet_since < MIN_QUIET_TIME_S:
            await asyncio.sleep(POLL_INTERVAL_S)
            if self._log.last_activity_s != last_activity_s or self._log.in_flight:
                last_activity_s, quiet_since = self._log.last_activity_s, now

    async def _create_isolated_world(self) -> int:
        tree = await self._await_before_deadline(self._cdp.send("Page.getFrameTree"))
        self._frame = str(tree["frameTree"]["frame"]["id"])
        created = await self._await_before_deadline(
            self._cdp.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD})
        )
        return int(created["executionContextId"])

    async def _run_script(self, script: str) -> Any:
        """Run a script in the isolated world, or raise `BrowserFailed`."""
        response = await self._await_before_deadline(
            self._cdp.send(
                "Runtime.evaluate",
                {
                    "expression": wrap_script(script),
                    "contextId": self._world,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "timeout": SCRIPT_TIMEOUT_MS,
                },
            )
        )
        if "exceptionDetails" in response:
            raise BrowserFailed("The page could not be examined in the browser.")
        return response["result"].get("value")

    async def _wait_for_content(self) -> tuple[Screen, Mapping[str, float]]:
        """Wait until the page shows content, or until a time limit.

        Returns the visible content, and the browser's metrics from before screen.js ran.
        """
        while True:
            metrics = await self._read_metrics()
            screen = read_screen(await self._run_script("screen.js"))
            has_failed = bool(self._console.exceptions)
            if classify_screen(screen, has_failed=has_failed) is None or self._content_wait.is_wait_over():
                return screen, metrics
            await asyncio.sleep(SCREEN_POLL_INTERVAL_S)

    async def _complete_visible_content(
        self, screen: Screen, picture: PagePicture | None, elements: Sequence[str]
    ) -> tuple[Screen, PagePicture | None]:
        """Return the visible content, with `is_plain` for a blank screenshot, and the last screenshot."""
        if not await self._has_one_colour(picture):
            return self._content_wait.record_wait(screen), picture
        if not self._visit.has_pictures:
            # The first picture has a low quality, which may hide pale content.
            picture = await take_first_screen(self._camera, self._world, elements, SCREENSHOT_ENCODINGS)
        while not self._content_wait.is_wait_over() and await self._has_one_colour(picture):
            await asyncio.sleep(SCREEN_POLL_INTERVAL_S)
            picture = await take_first_screen(self._camera, self._world, elements, SCREENSHOT_ENCODINGS)
        screen = read_screen(await self._run_script("screen.js"))
        is_blank = await self._has_one_colour(picture) and not (
            screen.has_content_below and await page_has_colours(self._camera, self._world)
        )
        return replace(self._content_wait.record_wait(screen), is_plain=is_blank), picture

    async def _has_one_colour(self, picture: PagePicture | None) -> bool:
        return picture is not None and await has_one_colour(self._camera, self._world, picture.data)

    async def _read_metrics(self) -> Mapping[str, float]:
        metrics = await self._await_before_deadline(self._cdp.send("Performance.getMetrics"))
        return {metric["name"]: float(metric["value"]) for metric in metrics["metrics"]}

    async def _read_layout(self) -> Layout:
        return read_layout(await self._run_script("layout.js"))

    async def _collect_axe(self) -> AxeReport | None:
        """Run axe-core. Its running time does not count towards the deadline for other evidence."""
        limits, began = self._limits, time.monotonic()
        deadline, limits.deadline = limits.deadline, limits.axe_deadline
        try:
            running = run_axe_in_time(self._cdp, self._visit, limits.usage, limits.deadline - began, MAX_AXE_CPU_S)
            return await self._collect_part("axe", running)
        finally:
            limits.deadline = min(deadline + time.monotonic() - began, limits.axe_deadline)

    async def _collect_part(self, name: str, part: Awaitable[T]) -> T | None:
        """Wait for one part of the evidence. If collecting the part fails, record the problem and return None."""
        try:
            return await self._await_before_deadline(part)
        except (ProtocolError, BrowserFailed) as error:
            self._problems[name] = str(error) if isinstance(error, BrowserFailed) else explain_error(error)
            return None

    async def _await_before_deadline(self, awaitable: Awaitable[T]) -> T:
        """Await a result until the visit's deadline. Raises `BrowserFailed` after the deadline."""
        try:
            return await asyncio.wait_for(awaitable, max(0.1, self._remaining_s()))
        except TimeoutError:
            raise BrowserFailed(
                explain_timeout(self._usage_at_start, self._limits.usage(), self._limits.time_limit_s)
            ) from None

    def _remaining_s(self) -> float:
        return self._limits.remaining_s()
