"""Visit of a page: load it in a fresh context, then collect the evidence once it is idle.

No script runs in the page's own world. Our scripts run in isolated worlds, which share the page's elements but none of
its objects, so a page can neither read nor forge their results; there is no binding back to Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from website_scan.browser.axe import SKIPPED, run_axe
from website_scan.browser.chromium import Chromium, Context
from website_scan.browser.console import ConsoleErrors
from website_scan.browser.coverage import UseOfFiles
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
from website_scan.browser.injected_scripts import expression, read_layout, read_load, read_screen
from website_scan.browser.main_thread import Trace, main_thread
from website_scan.browser.network_log import NetworkLog
from website_scan.browser.patience import Patience
from website_scan.browser.pictures import (
    PICTURE_S,
    Filmstrip,
    first_screen,
    has_colours,
    is_plain,
    named_by,
    named_first,
    page_picture,
)
from website_scan.browser.processes import Usage
from website_scan.browser.reasons import TOO_SLOW, explain, overrun
from website_scan.browser.unshown import nothing_shown, shown_content
from website_scan.browser.visit import BrowserFailed, PageCrashed, Part, Visit
from website_scan.net.budget import Limits, Meter
from website_scan.net.errors import BudgetExceeded
from website_scan.urls import Url

T = TypeVar("T")

QUIET_S = 0.5  # without a request: then the page counts as complete
QUIET_LIMIT_S = 4.0
POLL_S = 0.05
LOOK_S = 0.25
LOAD_SHARE = 0.6  # share of the time for the load itself; the rest is for the evidence
SCRIPT_LIMIT_MS = 10_000
AXE_CPU_S = 12.0  # processor time, because other work of this machine is not the page's fault
AXE_LOOK_S = 0.25
WORLD = "scan"
NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED"


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Limits of one visit with all its loads."""

    ends: float  # on the monotonic clock
    limit_s: float
    usage: Callable[[], Usage]
    meter: Meter


class _TooManyRequests(BrowserFailed):
    """The page sent more requests than a scan may."""


class _NetworkChanged(BrowserFailed):
    """This machine's network changed during the load, as when a container starts; the page is not at fault."""


async def visit_page(browser: Chromium, visit: Visit, usage: Callable[[], Usage]) -> BrowserLoad:
    """Load the page, collect evidence, and load again if requested. Raises `BrowserFailed`, `ProtocolError`.

    `usage` returns what the browser's processes have used so far. If there are problems, the context stays open.
    """
    began = time.monotonic()
    bounds = _Bounds(began + visit.time_limit_s, visit.time_limit_s, usage, Meter(Limits()))
    found = await _in_context(browser, visit, bounds, is_full=True)
    again: list[Load] = []
    took_s = time.monotonic() - began
    if found.problems or (found.screen is not None and shown_content(found, found.screen).unshown):
        return found
    for load in range(1, visit.again + 1):
        if bounds.ends - time.monotonic() < 2 * took_s or not bounds.meter.has_room_again(load):
            break
        try:
            further = await _in_context(browser, visit, bounds, is_full=False)
        except _TooManyRequests as error:
            found = replace(found, problems={"again": str(error)})
            break
        again.append(further.first)
    return replace(found, again=tuple(again))


async def _in_context(
    browser: Chromium, visit: Visit, bounds: _Bounds, *, is_full: bool, may_repeat: bool = True
) -> BrowserLoad:
    look = _Look(browser, visit, bounds)
    context = await Context.open(browser, visit, look.count_request)
    try:
        found = await look.until_crash(context, is_full=is_full)
    except _NetworkChanged:
        if not may_repeat:
            raise
        await context.close()
        return await _in_context(browser, visit, bounds, is_full=is_full, may_repeat=False)
    # After a failure the whole browser is ended, and a busy page might not allow its context to be closed.
    if not found.problems:
        await context.close()
    return found


class _Look:
    """One load in one context, with its evidence."""

    def __init__(self, browser: Chromium, visit: Visit, bounds: _Bounds) -> None:
        self._product = f"Chromium {browser.version}"
        self._visit = visit
        self._bounds = bounds
        self._over = asyncio.get_running_loop().create_future()  # fails with the reason
        self._began = bounds.usage()
        self._log = NetworkLog()
        self._use = UseOfFiles()
        self._console = ConsoleErrors()
        self._problems: dict[str, str] = {}
        self._has_loaded = asyncio.Event()
        self._documents = 0  # documents that the main frame has shown
        self._found: BrowserLoad | None = None  # the evidence that checks read, without the page's picture

    async def until_crash(self, context: Context, *, is_full: bool) -> BrowserLoad:
        """Load and collect. Raises `BrowserFailed` at once if the page's process dies: calls to it would never return.

        Also if the page sends more requests than a scan may: what follows would not be the whole page.
        """
        self._cdp = context.page
        self._cdp.on("Inspector.targetCrashed", lambda _: self._end(PageCrashed("The page made the browser crash.")))
        looking = asyncio.ensure_future(self._look(context, is_full=is_full))
        try:
            await asyncio.wait((looking, self._over), return_when=asyncio.FIRST_COMPLETED)
            ended = self._over if self._over.done() else looking
            # A failure while the page's picture is taken costs only the picture.
            if self._found is not None and (error := ended.exception()):
                return replace(self._found, problems=self._problems | {"page_picture": str(error)})
            return ended.result()
        finally:
            for each in (looking, self._over):
                each.cancel()
            await asyncio.gather(looking, self._over, return_exceptions=True)

    def _end(self, reason: BrowserFailed) -> None:
        if not self._over.done():
            self._over.set_exception(reason)

    def count_request(self, event: Event) -> None:
        """Count a request, also of frames and workers; the proxy can't see requests inside its tunnels."""
        url = Url.parse(event["request"]["url"])
        if url is not None and url.is_http:
            try:
                self._bounds.meter.request(url.host)
                if url.scheme == "https":
                    self._visit.proxy.count_in_tunnel(url.host, url.port or 0)
            except BudgetExceeded as error:
                self._end(_TooManyRequests(f"The browser stopped loading the page. {error}"))

    async def _look(self, context: Context, *, is_full: bool) -> BrowserLoad:
        await self._prepare(context, is_full)
        trace = Trace(self._cdp) if self._visit.again else None
        if trace:
            await trace.start()
        film = Filmstrip(self._cdp) if Part.FILMSTRIP in self._visit.parts else None
        if film:
            await film.start()
        await self._load()
        self._patience.begin()
        self._world = await self._isolated_world()
        seen, metrics = await self._wait_for_content()
        if film:
            await self._within(film.stop())
        vitals = await self._ask("vitals.js")
        traced = await self._within(trace.stop()) if trace else []
        worked = main_thread(traced, self._frame, metrics.get("NavigationStart", 0.0), seen.at_s)
        first = read_load(vitals, metrics, self._log, worked)
        if film:
            with contextlib.suppress(ProtocolError, BrowserFailed):  # then there is no Speed Index
                first = replace(first, progress=await self._within(film.progress(self._world, first, vitals["began"])))
        if not is_full:
            return BrowserLoad(self._product, first)
        parts = self._visit.parts
        files = await self._try("files", self._use.stop(self._cdp)) if Part.COVERAGE in parts else None
        layout = await self._try("layout", self._layout()) if Part.LAYOUT in parts else None
        named = named_first(first, layout) if Part.LAYOUT in parts else []
        # A session that emulates no screen takes pictures in CSS pixels: a quarter of the work and of the bytes.
        self._camera = await self._within(context.another_session())
        picture = await self._try("first_screen", first_screen(self._camera, self._world, named))
        screen, picture = await self._try("screen", self._screen(seen, picture, named)) or (None, picture)
        host_ms = await self._try("host_ms", self._ask("host.js")) if Part.MACHINE_SPEED in parts else None
        axe = await self._try("axe", self._axe()) if Part.AXE in parts else None
        found = self._found = BrowserLoad(
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
        if not (broken := named_by(axe)) or self._remaining_s() < PICTURE_S:
            return found
        whole = await self._try("page_picture", page_picture(self._camera, self._world, broken))
        return replace(found, page_picture=whole, problems=dict(self._problems))

    async def _prepare(self, context: Context, is_full: bool) -> None:
        self._log.listen(self._cdp.on)
        self._cdp.on("Page.frameNavigated", self._count_document)
        self._cdp.on("Page.loadEventFired", lambda _: self._has_loaded.set())
        # Processor time, because other work of this machine must not count.
        await self._cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        given = self._visit.credentials
        if given is not None and given.headers:
            await HeaderSender(await context.another_session(), given).start()
        if not is_full:
            return
        await self._console.listen(self._cdp)
        if Part.COVERAGE in self._visit.parts:
            await self._use.start(self._cdp)

    async def _load(self) -> None:
        """Wait for the load event, then until no requests are made for a while: limited, as some pages never idle."""
        limit_s = max(1.0, self._remaining_s() * LOAD_SHARE)
        began = time.monotonic()
        self._patience = Patience(self._bounds.usage, self._log, limit_s)
        try:
            shown = await asyncio.wait_for(self._cdp.send("Page.navigate", {"url": self._visit.url}), limit_s)
        except TimeoutError:
            raise BrowserFailed(TOO_SLOW) from None
        except ProtocolError as error:
            raise BrowserFailed(explain(error)) from None
        if failed := shown.get("errorText"):
            kind = _NetworkChanged if NETWORK_CHANGED in failed else BrowserFailed
            raise kind(explain(ProtocolError(failed)))
        try:
            await asyncio.wait_for(self._has_loaded.wait(), max(0.1, limit_s - (time.monotonic() - began)))
        except TimeoutError:
            return  # what has been shown so far is judged
        quiet_since = time.monotonic()
        last = self._log.last_activity_s
        gives_up = quiet_since + min(QUIET_LIMIT_S, max(0.0, limit_s - (quiet_since - began)))
        while time.monotonic() < gives_up and (now := time.monotonic()) - quiet_since < QUIET_S:
            await asyncio.sleep(POLL_S)
            if self._log.last_activity_s != last or self._log.in_flight:
                last, quiet_since = self._log.last_activity_s, now

    async def _isolated_world(self) -> int:
        tree = await self._within(self._cdp.send("Page.getFrameTree"))
        self._frame = str(tree["frameTree"]["frame"]["id"])
        created = await self._within(
            self._cdp.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD})
        )
        return int(created["executionContextId"])

    async def _ask(self, script: str) -> Any:
        """Return the result of one of our scripts. Raises `BrowserFailed` if it fails."""
        answer = await self._within(
            self._cdp.send(
                "Runtime.evaluate",
                {
                    "expression": expression(script),
                    "contextId": self._world,
                    "awaitPromise": True,
                    "returnByValue": True,
                    "timeout": SCRIPT_LIMIT_MS,
                },
            )
        )
        if "exceptionDetails" in answer:
            raise BrowserFailed("The page could not be looked at in the browser.")
        return answer["result"].get("value")

    async def _wait_for_content(self) -> tuple[Screen, Mapping[str, float]]:
        """Wait until the page shows content; limited, as some never do.

        Returns what it shows, and the browser's metrics from before it was looked at.
        """
        while True:
            metrics = await self._metrics()
            seen = read_screen(await self._ask("screen.js"))
            has_failed = bool(self._console.exceptions)
            if nothing_shown(seen, has_failed=has_failed) is None or self._patience.is_over():
                return seen, metrics
            await asyncio.sleep(LOOK_S)

    async def _screen(
        self, seen: Screen, picture: PagePicture | None, named: Sequence[str]
    ) -> tuple[Screen, PagePicture | None]:
        """Complete what the page shows by what its picture shows: colours and styles can hide everything."""
        if not await self._is_plain(picture):
            return self._patience.timed(seen), picture
        while not self._patience.is_over() and await self._is_plain(picture):
            await asyncio.sleep(LOOK_S)
            picture = await first_screen(self._camera, self._world, named)
        seen = read_screen(await self._ask("screen.js"))
        is_blank = await self._is_plain(picture) and not (
            seen.is_below and await has_colours(self._camera, self._world)
        )
        return replace(self._patience.timed(seen), is_plain=is_blank), picture

    async def _is_plain(self, picture: PagePicture | None) -> bool:
        return picture is not None and await is_plain(self._camera, self._world, picture.data)

    async def _metrics(self) -> Mapping[str, float]:
        metrics = await self._within(self._cdp.send("Performance.getMetrics"))
        return {each["name"]: float(each["value"]) for each in metrics["metrics"]}

    async def _layout(self) -> Layout:
        return read_layout(await self._ask("layout.js"))

    async def _axe(self) -> AxeReport:
        """Run axe-core. Raises `BrowserFailed` if it takes too much processor time."""
        ends_cpu_s = self._bounds.usage().cpu_s + AXE_CPU_S
        running = asyncio.ensure_future(run_axe(self._cdp))
        try:
            while not (await asyncio.wait((running,), timeout=AXE_LOOK_S))[0]:
                if self._bounds.usage().cpu_s > ends_cpu_s:
                    raise BrowserFailed(f"{SKIPPED} within {AXE_CPU_S:g} seconds of processor time.")
            return running.result()
        finally:
            running.cancel()

    async def _try(self, name: str, what: Awaitable[T]) -> T | None:
        """Return one part of the evidence. If it fails, record the problem and return None; other parts still count."""
        try:
            return await self._within(what)
        except (ProtocolError, BrowserFailed) as error:
            self._problems[name] = str(error) if isinstance(error, BrowserFailed) else explain(error)
            return None

    async def _within(self, what: Awaitable[T]) -> T:
        """Wait for the result. Raises `BrowserFailed` when the time is up, as with a page that blocks its thread."""
        try:
            return await asyncio.wait_for(what, max(0.1, self._remaining_s()))
        except TimeoutError:
            raise BrowserFailed(overrun(self._began, self._bounds.usage(), self._bounds.limit_s)) from None

    def _remaining_s(self) -> float:
        return self._bounds.ends - time.monotonic()

    def _count_document(self, event: Event) -> None:
        """End the visit at the second document: all evidence must be of the requested page.

        Later failures would have the navigation as their cause.
        """
        self._documents += "parentId" not in event["frame"]
        if self._documents > 1:
            self._end(BrowserFailed("The page leads elsewhere by a script or refresh while it is looked at."))
