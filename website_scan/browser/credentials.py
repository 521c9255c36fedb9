"""Credentials in the browser: send them in requests of the page's own origin to that origin only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.net.credentials import OriginCredentials
from website_scan.urls import origin_of

# Headers that Chromium sets itself for each hop. If set here, they would also be sent to the target of a redirect.
KEPT_BY_CHROMIUM = frozenset({"referer", "cookie"})
# How long Chromium may take to tell who makes a request that it has paused. It never tells that of a worker.
UNTOLD_S = 1.0


def cookies_of(given: OriginCredentials | None, page_url: str) -> list[dict[str, Any]]:
    """Return the cookies of the origin's host for Chromium, as restricted as possible: HttpOnly and SameSite=Strict.

    Only if the page itself is of that origin, because cookies ignore ports and, without Secure, schemes.
    """
    if given is None:
        return []
    return [
        {"name": name, "value": value, "url": f"{given.origin}/", "httpOnly": True, "sameSite": "Strict"}
        for name, value in given.cookies_for(origin_of(page_url))
    ]


class HeaderSender:
    """Add the headers to requests to the origin that documents of that origin make.

    Chromium pauses every hop of a redirect anew, and does not send headers added to one hop with the next (CDP,
    Fetch.continueRequest). What documents of other or no origin request is not changed: they could read responses that
    require the credentials. As with a SameSite=Strict cookie, all frames around the document count as well: a frame of
    another origin can replace the documents in its own frames.
    """

    def __init__(self, cdp: Session, given: OriginCredentials) -> None:
        self._cdp = cdp
        self._given = given
        self._contexts: dict[int, tuple[str, str]] = {}  # of scripts: the frame, and the true origin of its document
        self._parents: dict[str, str] = {}  # of frames
        self._has_begun = False
        self._verdicts: dict[str, asyncio.Future[bool]] = {}  # by request: whether the origin itself makes it
        self._early: dict[str, list[asyncio.Future[bool]]] = {}  # by frame: undecided, until its origin is known
        self._answers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start to add headers. Raises `ProtocolError`."""
        self._cdp.on("Page.frameAttached", self._attached)
        self._cdp.on("Runtime.executionContextCreated", self._began)
        self._cdp.on("Runtime.executionContextDestroyed", self._ended)
        self._cdp.on("Runtime.executionContextsCleared", lambda _: self._contexts.clear())
        self._cdp.on("Network.requestWillBeSent", self._requested)
        self._cdp.on("Fetch.requestPaused", self._paused)
        for domain in ("Network", "Page", "Runtime"):
            await self._cdp.send(f"{domain}.enable")
        await self._cdp.send("Fetch.enable", {"patterns": [{"urlPattern": f"{self._given.origin}/*"}]})

    def _attached(self, event: Mapping[str, Any]) -> None:
        self._parents[str(event["frameId"])] = str(event["parentFrameId"])

    def _began(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        if not context["auxData"].get("isDefault"):
            return
        frame = str(context["auxData"]["frameId"])
        self._contexts[int(context["id"])] = (frame, str(context["origin"]))
        for verdict in self._early.pop(frame, ()):
            verdict.set_result(self._is_ours(frame))

    def _ended(self, event: Mapping[str, Any]) -> None:
        self._contexts.pop(int(event["executionContextId"]), None)

    def _requested(self, event: Mapping[str, Any]) -> None:
        """Decide on a request when Chromium tells who makes it: in one order with the documents, unlike the pauses.

        A redirect has the ID of the first request, and keeps its verdict.
        """
        frame, verdict = str(event.get("frameId", "")), self._verdict(event["requestId"])
        is_visit, self._has_begun = not self._has_begun, True
        if verdict.done():
            return
        if is_visit:
            verdict.set_result(True)
        elif event.get("type") == "Document":
            verdict.set_result(self._may_load(frame))
        elif frame in self._shown():
            verdict.set_result(self._is_ours(frame))
        elif verdict not in (early := self._early.setdefault(frame, [])):
            early.append(verdict)  # Chromium preloads files before scripts can run

    def _verdict(self, request: str) -> asyncio.Future[bool]:
        if request not in self._verdicts:
            self._verdicts[request] = asyncio.get_running_loop().create_future()
        return self._verdicts[request]

    def _paused(self, event: Mapping[str, Any]) -> None:
        answer = asyncio.ensure_future(self._answer(event))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, event: Mapping[str, Any]) -> None:
        order: dict[str, Any] = {"requestId": event["requestId"]}
        if await self._may_have_them(event):
            added = self._given.headers
            replaced = {name.lower() for name in added} | KEPT_BY_CHROMIUM
            own = event["request"]["headers"].items()
            headers = {name: value for name, value in own if name.lower() not in replaced} | added
            order["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
        self._cdp.post("Fetch.continueRequest", order)  # the page may be closed, or may have cancelled the request

    async def _may_have_them(self, event: Mapping[str, Any]) -> bool:
        if "networkId" not in event or origin_of(event["request"]["url"]) != self._given.origin:
            return False
        verdict = self._verdict(event["networkId"])
        await asyncio.wait((verdict,), timeout=UNTOLD_S)
        return verdict.result() if verdict.done() else self._is_ours(str(event.get("frameId", "")))

    def _may_load(self, frame: str) -> bool:
        """Return whether a document in this frame is requested by the origin: by its document, or one around it."""
        return self._is_ours(frame if frame in self._shown() else self._parents.get(frame, ""))

    def _is_ours(self, frame: str) -> bool:
        """Return whether the frame and all frames around it show documents of the origin."""
        shown = self._shown()
        around = [frame]
        while parent := self._parents.get(around[-1]):
            around.append(parent)
        return all(shown.get(each) == self._given.origin for each in around)

    def _shown(self) -> dict[str, str]:
        return dict(self._contexts.values())
