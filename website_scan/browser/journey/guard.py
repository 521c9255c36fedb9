"""Stop requests that the journey may not cause.

The page itself opens only allowed addresses, also by redirects. Requests to other addresses contain no secrets.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.secrets import SecretMask
from website_scan.urls import origin_of

DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
ALL_REQUESTS = {"urlPattern": "*"}
MAX_SOCKETS = 100


class Guard:
    """Handler of paused requests, in its own session with the page."""

    def __init__(
        self, session: Session, allowed: Callable[[str], bool], mask: SecretMask, activity: PageActivity
    ) -> None:
        self._session = session
        self._allowed = allowed
        self._mask = mask
        self._activity = activity
        self._main_frame = ""
        self._sockets: dict[str, str] = {}

    async def start(self, page: Session, main_frame: str) -> None:
        """Start to judge requests for documents. Raises `ProtocolError`."""
        self._main_frame = main_frame
        page.on("Network.webSocketCreated", self._on_socket)
        page.on("Network.webSocketFrameSent", self._on_message)
        self._session.on("Fetch.requestPaused", self._on_request_paused)
        await self._session.send("Fetch.enable", {"patterns": [DOCUMENTS]})

    async def watch_all(self) -> None:
        """Judge all requests from now on, because the page has secrets. Raises `ProtocolError`."""
        await self._session.send("Fetch.enable", {"patterns": [ALL_REQUESTS]})

    def watch_worker(self, worker: Session) -> None:
        """Judge all requests of a worker that has a session of its own."""
        worker.on("Fetch.requestPaused", lambda event: self._judge(worker, event))
        worker.post("Fetch.enable", {"patterns": [ALL_REQUESTS]})
        worker.on("Network.webSocketCreated", self._on_socket)
        worker.on("Network.webSocketFrameSent", self._on_message)

    def _on_socket(self, event: Mapping[str, Any]) -> None:
        url = str(event["url"])
        if len(self._sockets) < MAX_SOCKETS:
            self._sockets[str(event["requestId"])] = url
        self._report_message(url, url)

    def _on_message(self, event: Mapping[str, Any]) -> None:
        url = self._sockets.get(str(event["requestId"]), "a WebSocket")
        self._report_message(url, str(event["response"].get("payloadData", "")))

    def _report_message(self, url: str, text: str) -> None:
        """Fail the step if a WebSocket has received a secret. Chromium cannot pause its messages."""
        address = url.replace("ws", "http", 1)
        if not self._allowed(address) and self._mask.occurs_in(text):
            shown = (origin_of(address) or "").replace("http", "ws", 1) or url[:100]
            self._activity.fail(f"the page has sent a secret to {shown}, which is not part of the site.")

    def _on_request_paused(self, event: Mapping[str, Any]) -> None:
        self._judge(self._session, event)

    def _judge(self, session: Session, event: Mapping[str, Any]) -> None:
        request, id = event["request"], event["requestId"]
        url = str(request["url"])
        is_main = event.get("frameId") == self._main_frame and event.get("resourceType") == "Document"
        if self._allowed(url):
            session.post("Fetch.continueRequest", {"requestId": id})
        elif is_main:
            self._activity.fail(
                f"the page would have opened {origin_of(url) or url[:100]}, which is not part of the site. If it is the"
                " place of log-in, the journey has to name it."
            )
            session.post("Fetch.failRequest", {"requestId": id, "errorReason": "Aborted"})
        elif self._has_secret(request):
            self._activity.fail(
                f"the page would have sent a secret to {origin_of(url) or url[:100]}, which is not part of the site. If"
                " it is the place of log-in, the journey has to name it."
            )
            session.post("Fetch.failRequest", {"requestId": id, "errorReason": "BlockedByClient"})
        else:
            session.post("Fetch.continueRequest", {"requestId": id})

    def _has_secret(self, request: Mapping[str, Any]) -> bool:
        texts = [str(request["url"]), str(request.get("postData", "")), *map(str, request.get("headers", {}).values())]
        entries = request.get("postDataEntries", ())
        texts += [base64.b64decode(entry.get("bytes", "")).decode("utf-8", "replace") for entry in entries]
        return any(self._mask.occurs_in(text) for text in texts)
