"""Collect the evidence of a state: the page as it stands now."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.axe_time import run_axe_in_time
from website_scan.browser.console import ConsoleErrors
from website_scan.browser.devices import Device
from website_scan.browser.devtools import ProtocolError, Session
from website_scan.browser.evidence import BrowserLoad, Load, LoadedRequest, MainThread, PagePicture, Screen
from website_scan.browser.injected_scripts import read_layout, read_load, read_screen, read_script, wrap_script
from website_scan.browser.journey.activity import DocumentRecord
from website_scan.browser.journey.camera import STATE_ENCODINGS, MaskedCamera
from website_scan.browser.journey.load_recorder import LoadRecorder
from website_scan.browser.journey.request import WalkRequest
from website_scan.browser.load import MAX_AXE_CPU_S, SCRIPT_TIMEOUT_MS, WORLD
from website_scan.browser.main_thread import parse_trace
from website_scan.browser.pictures import (
    PICTURE_TIMEOUT_S,
    has_one_colour,
    select_axe_elements,
    select_first_screen_elements,
    take_first_screen,
    take_page_picture,
)
from website_scan.browser.processes import Usage
from website_scan.browser.reasons import explain_error, explain_timeout
from website_scan.browser.stability import starvation_between
from website_scan.browser.visit import BrowserFailed, Part

T = TypeVar("T")


class PageTools(Struct):
    """What is needed to examine the page: its sessions and recorders.

    `host_ms` is the time for the benchmark of this machine (see host.js), or None before it is measured.
    """

    page: Session
    camera: MaskedCamera
    console: ConsoleErrors
    usage: Callable[[], Usage]
    product: str
    host_ms: float | None = None


class StateEvidence:
    """Collector of the evidence of one state, within a time limit.

    `usage_before` is what the browser had used at the end of the state before. `report_picture` is called with the
    picture of the screen as soon as it is taken.
    """

    def __init__(
        self,
        tools: PageTools,
        request: WalkRequest,
        device: Device,
        limit_s: float,
        usage_before: Usage,
        report_picture: Callable[[PagePicture | None], None],
    ) -> None:
        self._tools = tools
        self._page = tools.page
        self._request = request
        self._device = device
        self._limit_s = limit_s
        self._report_picture = report_picture
        self._deadline = time.monotonic() + limit_s
        self._usage_at_start = tools.usage()
        self._starvation = starvation_between(usage_before, self._usage_at_start)
        self._problems: dict[str, str] = {}

    async def collect(
        self,
        document: DocumentRecord,
        before: Load | None,
        metrics: Mapping[str, float],
        recorder: LoadRecorder | None,
    ) -> BrowserLoad:
        """Return the evidence. `before` is the last load of the same document, or None if the document is new.

        `metrics` are the browser's metrics at the end of the state before, and `recorder` has recorded the load of the
        document. Raises `BrowserFailed`, `ProtocolError`.
        """
        self._frame = str((await self._in_time(self._page.send("Page.getFrameTree")))["frameTree"]["frame"]["id"])
        created = await self._in_time(
            self._page.send("Page.createIsolatedWorld", {"frameId": self._frame, "worldName": WORLD})
        )
        self._world = int(created["executionContextId"])
        first = await self._read_load(document, before, metrics, recorder if before is None else None)
        files = await self._collect("files", recorder.stop()) if recorder else None
        parts = self._request.parts
        layout = await self._collect("layout", self._read_layout()) if Part.LAYOUT in parts else None
        elements = select_first_screen_elements(first, layout)
        taking = take_first_screen(self._tools.camera, self._world, elements, STATE_ENCODINGS)
        picture = await self._collect("first_screen", taking)
        self._report_picture(picture)
        screen = await self._collect("screen", self._read_screen(picture))
        if Part.MACHINE_SPEED in parts and self._tools.host_ms is None:  # Once for all states.
            self._tools.host_ms = await self._collect("host_ms", self._script("host.js"))
        axe = None
        if Part.AXE in parts:
            visit = self._request.visit(self._device)
            running = run_axe_in_time(
                self._page, visit, self._tools.usage, self._deadline - time.monotonic(), MAX_AXE_CPU_S
            )
            axe = await self._collect("axe", running)
        whole = None
        if (reported := select_axe_elements(axe)) and self._deadline - time.monotonic() > PICTURE_TIMEOUT_S:
            whole = await self._collect("page_picture", take_page_picture(self._tools.camera, self._world, reported))
        return BrowserLoad(
            product=self._tools.product,
            first=first,
            layout=layout,
            files=files if before is None else None,
            axe=axe,
            first_screen=picture,
            page_picture=whole,
            screen=screen,
            console_errors=tuple(self._tools.console.errors),
            exceptions=tuple(self._tools.console.exceptions),
            host_ms=self._tools.host_ms,
            shown_url=document.url,
            mixed_requests=document.mixed.requests if document.mixed else (),
            problems=dict(self._problems),
        )

    async def _read_load(
        self,
        document: DocumentRecord,
        before: Load | None,
        metrics: Mapping[str, float],
        recorder: LoadRecorder | None,
    ) -> Load:
        now = await self._in_time(read_metrics(self._page))
        used = {
            name: now.get(name, 0.0) - (metrics.get(name, 0.0) if now.get(name, 0.0) >= metrics.get(name, 0.0) else 0.0)
            for name in ("TaskDuration", "ScriptDuration")
        }
        if before is not None:
            earlier = {(request.url, request.start_s) for request in before.requests}
            requests = tuple(item for item in document.log.requests() if (item.url, item.start_s) not in earlier)
            load = load_of_requests(requests, used["TaskDuration"], used["ScriptDuration"])
            return replace(load, starvation=self._starvation)
        vitals = await self._script("vitals.js")
        work = MainThread()
        if recorder and recorder.traced:
            work = parse_trace(recorder.traced, self._frame, now.get("NavigationStart", 0.0))
        load = replace(read_load(vitals, {**now, **used}, document.log, work), starvation=self._starvation)
        if recorder and recorder.film:
            # Without visual progress, the report has no Speed Index.
            with contextlib.suppress(ProtocolError, BrowserFailed):
                progress = await self._in_time(recorder.film.progress(self._world, load, vitals["began"]))
                return replace(load, progress=progress)
        return load

    async def _read_layout(self) -> Any:
        return read_layout(await self._script("layout.js"))

    async def _read_screen(self, picture: PagePicture | None) -> Screen:
        screen = read_screen(await self._script("screen.js"))
        is_plain = picture is not None and await has_one_colour(self._page, self._world, picture.data)
        return replace(screen, is_plain=is_plain)

    async def _script(self, name: str) -> Any:
        response = await self._in_time(
            self._page.send(
                "Runtime.evaluate",
                {
                    "expression": wrap_script(name),
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

    async def _collect(self, name: str, part: Awaitable[T]) -> T | None:
        """Wait for one part of the evidence. If collecting the part fails, record the problem and return None."""
        try:
            return await self._in_time(part)
        except (ProtocolError, BrowserFailed) as error:
            self._problems[name] = str(error) if isinstance(error, BrowserFailed) else explain_error(error)
            return None

    async def _in_time(self, awaitable: Awaitable[T]) -> T:
        try:
            return await asyncio.wait_for(awaitable, max(0.1, self._deadline - time.monotonic()))
        except TimeoutError:
            raise BrowserFailed(explain_timeout(self._usage_at_start, self._tools.usage(), self._limit_s)) from None


def load_of_requests(requests: tuple[LoadedRequest, ...], tasks_s: float = 0.0, scripts_s: float = 0.0) -> Load:
    """Return requests and times of a document whose load was not measured."""
    return Load(None, None, (), None, tasks_s, scripts_s, requests)


async def read_metrics(page: Session) -> dict[str, float]:
    """Return the browser's metrics of the page. Raises `ProtocolError`."""
    metrics = await page.send("Performance.getMetrics")
    return {metric["name"]: float(metric["value"]) for metric in metrics["metrics"]}


async def wait_for_calm_document(page: Session, limit_s: float) -> None:
    """Wait until the document has not changed for a moment (see settle.js). Raises `ProtocolError`."""
    frame = str((await page.send("Page.getFrameTree"))["frameTree"]["frame"]["id"])
    world = await page.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
    calling = page.send(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": read_script("settle.js"),
            "executionContextId": int(world["executionContextId"]),
            "awaitPromise": True,
        },
    )
    try:
        await asyncio.wait_for(calling, limit_s)
    except TimeoutError:
        return  # The page keeps the browser busy, and is judged as it is.
