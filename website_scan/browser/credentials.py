"""Add a scan's credentials to the browser's same-origin requests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.net.credentials import OriginCredentials
from website_scan.urls import origin_of

# Values set here would also be sent to the target of a redirect.
HEADERS_SET_BY_CHROMIUM = frozenset({"referer", "cookie"})
# Chromium does not report the initiators of workers' requests.
INITIATOR_TIMEOUT_S = 1.0


def browser_cookies(credentials: OriginCredentials | None, page_url: str) -> list[dict[str, Any]]:
    """Return the credentials' cookies as CDP parameters.

    They have HttpOnly and SameSite=Strict. Empty if the page is of another origin, because cookies ignore ports and,
    without Secure, schemes.
    """
    if credentials is None:
        return []
    return [
        {"name": name, "value": value, "url": f"{credentials.origin}/", "httpOnly": True, "sameSite": "Strict"}
        for name, value in credentials.cookies_for(origin_of(page_url))
    ]


class HeaderSender:
    """Adds the credentials' headers to requests within their origin.

    A document of the origin must have sent the request. Chromium pauses every hop of a redirect anew, and does not send
    headers added to one hop with the next (CDP, Fetch.continueRequest). Requests of documents of another or no origin
    are not changed: these documents could read responses that require the credentials. As with a SameSite=Strict
    cookie, all ancestor frames must be of the origin, too: a frame of another origin can replace the documents in its
    own frames.
    """

    def __init__(self, cdp: Session, credentials: OriginCredentials) -> None:
        self._cdp = cdp
        self._credentials = credentials
        # Frame ID and document origin of each execution context.
        self._contexts: dict[int, tuple[str, str]] = {}
        self._parent_by_frame: dict[str, str] = {}
        self._has_first_request = False
        # True for each request that may have the credentials.
        self._decisions: dict[str, asyncio.Future[bool]] = {}
        # Decisions wait until the origin of the frame's document is known.
        self._undecided: dict[str, list[asyncio.Future[bool]]] = {}
        self._continuations: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start adding the credentials' headers to requests.

        Raises `ProtocolError`.
        """
        self._cdp.on("Page.frameAttached", self._on_frame_attached)
        self._cdp.on("Runtime.executionContextCreated", self._on_context_created)
        self._cdp.on("Runtime.executionContextDestroyed", self._on_context_destroyed)
        self._cdp.on("Runtime.executionContextsCleared", lambda _: self._contexts.clear())
        self._cdp.on("Network.requestWillBeSent", self._on_request_sent)
        self._cdp.on("Fetch.requestPaused", self._on_request_paused)
        for domain in ("Network", "Page", "Runtime"):
            await self._cdp.send(f"{domain}.enable")
        await self._cdp.send("Fetch.enable", {"patterns": [{"urlPattern": f"{self._credentials.origin}/*"}]})

    def _on_frame_attached(self, event: Mapping[str, Any]) -> None:
        self._parent_by_frame[str(event["frameId"])] = str(event["parentFrameId"])

    def _on_context_created(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        if not context["auxData"].get("isDefault"):
            return
        frame = str(context["auxData"]["frameId"])
        self._contexts[int(context["id"])] = (frame, str(context["origin"]))
        for decision in self._undecided.pop(frame, ()):
            decision.set_result(self._has_credentials_origin(frame))

    def _on_context_destroyed(self, event: Mapping[str, Any]) -> None:
        self._contexts.pop(int(event["executionContextId"]), None)

    def _on_request_sent(self, event: Mapping[str, Any]) -> None:
        """Decide whether a request may have credentials.

        Chromium has already reported its initiator. Unlike `Fetch.requestPaused`, this event comes in order with the
        documents' events. A redirect has the ID of the first request, and so the same decision.
        """
        frame, decision = str(event.get("frameId", "")), self._get_decision(event["requestId"])
        is_navigation, self._has_first_request = not self._has_first_request, True
        if decision.done():
            return
        if is_navigation:
            decision.set_result(True)
        elif event.get("type") == "Document":
            decision.set_result(self._may_load_document_with_credentials(frame))
        elif frame in self._document_origins():
            decision.set_result(self._has_credentials_origin(frame))
        elif decision not in (undecided := self._undecided.setdefault(frame, [])):
            # Chromium preloads files before the document has an execution context.
            undecided.append(decision)

    def _get_decision(self, request: str) -> asyncio.Future[bool]:
        if request not in self._decisions:
            self._decisions[request] = asyncio.get_running_loop().create_future()
        return self._decisions[request]

    def _on_request_paused(self, event: Mapping[str, Any]) -> None:
        continuation = asyncio.ensure_future(self._continue_request(event))
        self._continuations.add(continuation)
        continuation.add_done_callback(self._continuations.discard)

    async def _continue_request(self, event: Mapping[str, Any]) -> None:
        params: dict[str, Any] = {"requestId": event["requestId"]}
        if await self._may_send_credentials(event):
            added = self._credentials.headers
            replaced = {name.lower() for name in added} | HEADERS_SET_BY_CHROMIUM
            original = event["request"]["headers"].items()
            headers = {name: value for name, value in original if name.lower() not in replaced} | added
            params["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
        # The page may be closed or may have cancelled the request.
        self._cdp.post("Fetch.continueRequest", params)

    async def _may_send_credentials(self, event: Mapping[str, Any]) -> bool:
        if "networkId" not in event or origin_of(event["request"]["url"]) != self._credentials.origin:
            return False
        decision = self._get_decision(event["networkId"])
        await asyncio.wait((decision,), timeout=INITIATOR_TIMEOUT_S)
        return decision.result() if decision.done() else self._has_credentials_origin(str(event.get("frameId", "")))

    def _may_load_document_with_credentials(self, frame: str) -> bool:
        """Return True if the frame's document has the credentials' origin.

        The parent frame decides if the frame's document is not known yet.
        """
        if frame not in self._document_origins():
            frame = self._parent_by_frame.get(frame, "")
        return self._has_credentials_origin(frame)

    def _has_credentials_origin(self, frame: str) -> bool:
        """Return True if all documents around a frame may have credentials.

        The frame and all its ancestors must have the credentials' origin.
        """
        origins = self._document_origins()
        frames = [frame]
        while parent := self._parent_by_frame.get(frames[-1]):
            frames.append(parent)
        return all(origins.get(ancestor) == self._credentials.origin for ancestor in frames)

    def _document_origins(self) -> dict[str, str]:
        return dict(self._contexts.values())
