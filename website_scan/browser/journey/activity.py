"""Record what the page does between the inputs: requests, navigations, dialogs and new windows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from website_scan.browser.devtools import Event, Session
from website_scan.browser.journey.failures import BUSY, Deadline, StepFailed
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.mixed_requests import MixedRequestRecorder
from website_scan.browser.network_log import LONG_LIVED_TYPES, MAX_URL_LENGTH, NetworkLog

T = TypeVar("T")

MAX_ADDRESSES = 50
MAX_NOTES = 10
MAX_NOTE_CHARS = 200
MAX_HEADERS = 100
MAX_HEADER_CHARS = 4_000
# Headers that contain credentials of the session.
PRIVATE_HEADERS = frozenset({"set-cookie", "set-cookie2", "authorization", "cookie"})
QUIET_S = 0.5
MAX_QUIET_WAIT_S = 5.0
DIALOG_NAMES = {"alert": "message", "confirm": "question", "prompt": "question with a field"}


class Relay:
    """Receiver of events that can be replaced, unlike the handlers of a session."""

    def __init__(self) -> None:
        self._handlers: dict[str, list[Callable[[Any], None]]] = {}

    def on(self, event: str, handler: Callable[[Any], None]) -> None:
        self._handlers.setdefault(event, []).append(handler)

    def forward(self, name: str, event: Event) -> None:
        for handler in self._handlers.get(name, ()):
            handler(event)


class DocumentRecord(Struct):
    """Requests and answer of one document of the main frame."""

    loader: str
    url: str = ""
    method: str = ""
    status: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    error: str = ""
    log: NetworkLog = field(default_factory=NetworkLog)
    relay: Relay = field(default_factory=Relay)
    mixed: MixedRequestRecorder | None = None


# Beginnings of Chromium's errors (net_error_list.h) that are not the absence of a response.
ERRORS_OF_RESPONDING_SITES = (
    "net::ERR_ABORTED",
    "net::ERR_BLOCKED_BY",
    "net::ERR_INVALID_REDIRECT",
    "net::ERR_TOO_MANY_REDIRECTS",
    "net::ERR_UNSAFE",
)
NETWORK_EVENTS = ("requestWillBeSent", "responseReceived", "dataReceived", "loadingFinished", "loadingFailed")


class PageActivity:
    """Recorder of the events of one page.

    `moves` counts navigations, also those within a document. `problem` is the reason why a navigation failed since the
    step began, and `is_unreachable` is True if the reason is that the server did not respond.
    """

    def __init__(self, page: Session, mask: SecretMask) -> None:
        self._page = page
        self._mask = mask
        self._changed = asyncio.Event()
        self._main_frame = ""
        self._pending: DocumentRecord | None = None
        self._last_activity = time.monotonic()
        self._is_loading = False
        self._step_requests: set[str] = set()
        self.document = DocumentRecord("")
        self.documents = 0
        self.moves = 0
        self.url = ""
        self.problem = ""
        self.is_unreachable = False
        self.requests = 0
        self.received_bytes = 0
        self.notes: list[str] = []
        self.addresses_with_secrets: dict[str, None] = {}

    async def start(self, main_frame: str) -> None:
        """Subscribe to the events of the page. Raises `ProtocolError`."""
        self._main_frame = main_frame
        page = self._page
        for name in NETWORK_EVENTS:
            page.on(f"Network.{name}", self._forwarder(f"Network.{name}"))
        page.on("Audits.issueAdded", self._forwarder("Audits.issueAdded"))
        page.on("Network.requestWillBeSent", self._on_request)
        page.on("Network.responseReceived", self._on_response)
        page.on("Network.loadingFinished", self._on_finished)
        page.on("Network.loadingFailed", self._on_failed)
        page.on("Page.frameNavigated", self._on_navigated)
        page.on("Page.navigatedWithinDocument", self._on_moved_within)
        page.on("Page.frameStartedLoading", self._on_started_loading)
        page.on("Page.frameStoppedLoading", self._on_stopped_loading)
        page.on("Page.javascriptDialogOpening", self._on_dialog)
        page.on("Page.windowOpen", lambda _: self.note("The page tried to open a new window, which was prevented."))
        page.on("Page.downloadWillBegin", lambda _: self.note("The page tried to save a file, which was prevented."))
        await page.send("Audits.enable")

    def begin_step(self) -> None:
        """Forget what has happened before this step."""
        self.requests = self.received_bytes = 0
        self.problem, self.is_unreachable = "", False
        self.notes = []
        self._step_requests.clear()
        # A page that never stops loading delays only the step that opened it.
        self._is_loading = False

    def note(self, text: str) -> None:
        """Record a sentence for the result of the step."""
        if text not in self.notes and len(self.notes) < MAX_NOTES:
            self.notes.append(text)
        self._changed.set()

    def fail(self, problem: str, *, is_unreachable: bool = False) -> None:
        """Record why a navigation or request of this step was stopped. Only the first reason of a step is recorded."""
        if not self.problem:
            self.problem, self.is_unreachable = problem, is_unreachable
        self._changed.set()

    def fail_to_load(self, address: str, error: str) -> None:
        """Record that the browser could not load an address. `error` is Chromium's name of the error."""
        is_unreachable = not error.startswith(ERRORS_OF_RESPONDING_SITES)
        self.fail(f"the browser could not load {address}: {error}.", is_unreachable=is_unreachable)

    def no_response(self) -> StepFailed:
        """Record that the document that the step opens was not answered in time, and return the failure."""
        self.fail("the page that the step opens did not answer in time.", is_unreachable=True)
        return StepFailed(self.problem)

    async def wait_for(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Wait until a condition is True after an event. Returns False after the time limit."""
        ends = time.monotonic() + limit_s
        while not condition():
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, ends - time.monotonic()))
            except TimeoutError:
                return condition()
        return True

    async def run_unless_leaving(self, awaitable: Coroutine[Any, Any, T], deadline: Deadline) -> T | None:
        """Return the result of a command to the page, or None as soon as another document is requested.

        Chromium does not answer until that document is there. Raises `StepFailed` after the deadline.
        """
        task = asyncio.ensure_future(awaitable)
        task.add_done_callback(lambda _: self._changed.set())
        try:
            await self.wait_for(lambda: task.done() or self.is_waiting_for_page, max(0.1, deadline.remaining_s))
            if task.done():
                return task.result()
        finally:
            task.cancel()
        if self.is_waiting_for_page:
            return None
        raise StepFailed(BUSY)

    async def settle(self, limit_s: float, quiet_s: float = QUIET_S) -> None:
        """Wait until a started navigation has ended and the requests of this step are answered.

        A page that never stops loading is waited for `MAX_QUIET_WAIT_S`, and the answer of a page until the time limit.
        """
        ends = time.monotonic() + limit_s
        quiet_ends = min(ends, time.monotonic() + MAX_QUIET_WAIT_S)
        while True:
            if self.is_waiting_for_page and ends > time.monotonic():
                await self.wait_for(lambda: not self.is_waiting_for_page, ends - time.monotonic())
                quiet_ends = min(ends, time.monotonic() + MAX_QUIET_WAIT_S)
                continue
            left = quiet_ends - time.monotonic()
            if left <= 0:
                return
            if self._is_loading or self._step_requests:
                await self.wait_for(self._is_idle_or_leaving, left)
                continue
            quiet_since = self._last_activity
            pause_s = quiet_since + quiet_s - time.monotonic()
            if pause_s <= 0:
                return

            def has_activity(since: float = quiet_since) -> bool:
                return self._last_activity != since or self.is_navigating

            await self.wait_for(has_activity, min(pause_s, left))

    def _is_idle_or_leaving(self) -> bool:
        return self.is_waiting_for_page or not (self._is_loading or self._step_requests)

    @property
    def is_waiting_for_page(self) -> bool:
        """Return True if the page has requested another document that has not been opened yet."""
        return self._pending is not None

    @property
    def is_navigating(self) -> bool:
        """Return True between the request of a document and its load event."""
        return self._pending is not None or self._is_loading

    def _touch(self) -> None:
        self._last_activity = time.monotonic()
        self._changed.set()

    def _forwarder(self, name: str) -> Callable[[Event], None]:
        def forward(event: Event) -> None:
            self.document.relay.forward(name, event)
            if self._pending is not None:
                self._pending.relay.forward(name, event)

        return forward

    def _on_request(self, event: Event) -> None:
        url, id = str(event["request"]["url"]), str(event["requestId"])
        if self._mask.occurs_in(url) and len(self.addresses_with_secrets) < MAX_ADDRESSES:
            self.addresses_with_secrets.setdefault(url[:MAX_URL_LENGTH])
        kind = str(event.get("type", "Other"))
        if kind == "Document" and event.get("frameId") == self._main_frame:
            if self._pending is None or self._pending.loader != id:
                self._pending = _new_document(id, url)
                self._pending.relay.forward("Network.requestWillBeSent", event)
            self._pending.url, self._pending.method = url, str(event["request"].get("method", ""))
        if url.startswith(("http:", "https:")) and "redirectResponse" not in event:
            self.requests += 1
            if kind not in LONG_LIVED_TYPES:
                self._step_requests.add(id)
        self._touch()

    def _on_response(self, event: Event) -> None:
        if self._pending is not None and event["requestId"] == self._pending.loader:
            response = event["response"]
            self._pending.status = int(response["status"])
            self._pending.headers = _public_headers(response.get("headers", {}))

    def _on_finished(self, event: Event) -> None:
        self.received_bytes += int(event.get("encodedDataLength", 0))
        self._step_requests.discard(str(event["requestId"]))
        self._touch()

    def _on_failed(self, event: Event) -> None:
        id = str(event["requestId"])
        self._step_requests.discard(id)
        if self._pending is not None and id == self._pending.loader:
            self._pending.error = str(event.get("errorText", ""))
            # An error page follows, or else the page stays: it is a download, or the scanner stopped the navigation.
            if event.get("canceled") or "ERR_ABORTED" in self._pending.error:
                self._pending = None
        self._touch()

    def _on_navigated(self, event: Event) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        loader, url = str(frame["loaderId"]), str(frame["url"]) + str(frame.get("urlFragment", ""))
        pending, self._pending = self._pending, None
        self.document = pending if pending and pending.loader == loader else _new_document(loader, url)
        self.document.url = url
        self.document.mixed = MixedRequestRecorder(url)
        self.document.relay.on("Audits.issueAdded", self.document.mixed.record)
        if unreachable := frame.get("unreachableUrl"):
            error = (pending.error if pending else "") or "net::ERR_FAILED"
            self.fail_to_load(unreachable, error)
        self._is_loading = True
        self.documents += 1
        self._move(url)

    def _on_moved_within(self, event: Event) -> None:
        if event["frameId"] == self._main_frame:
            self._move(str(event["url"]))

    def _move(self, url: str) -> None:
        self.url = url
        self.moves += 1
        self._touch()

    def _on_started_loading(self, event: Event) -> None:
        if event["frameId"] == self._main_frame:
            self._is_loading = True
            self._touch()

    def _on_stopped_loading(self, event: Event) -> None:
        if event["frameId"] == self._main_frame:
            self._is_loading = False
            self._pending = None
            self._touch()

    def _on_dialog(self, event: Event) -> None:
        if event["type"] == "beforeunload":
            self.note("The page asked whether to leave it, which was answered with yes.")
            return
        name, text = DIALOG_NAMES.get(event["type"], "dialog"), " ".join(str(event["message"]).split())
        self.note(f"The browser's {name} “{text[:MAX_NOTE_CHARS]}” was dismissed.")


def _new_document(loader: str, url: str) -> DocumentRecord:
    record = DocumentRecord(loader, url)
    record.log.listen(record.relay.on)
    return record


def _public_headers(headers: Mapping[str, Any]) -> dict[str, str]:
    return {
        str(name).lower()[:100]: str(value)[:MAX_HEADER_CHARS]
        for name, value in list(headers.items())[:MAX_HEADERS]
        if str(name).lower() not in PRIVATE_HEADERS
    }
