"""Credentials in the browser: send them in requests of the page's own origin to that origin only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import ada_url
from playwright.async_api import BrowserContext, CDPSession, Error

from scanner.net.credentials import OriginCredentials

# Documents of frames, of any origin: they show which origin the frame's next requests come from.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
# Headers that Chromium sets itself for each hop. If set here, they would also be sent to the target of a redirect.
KEPT_BY_CHROMIUM = frozenset({"referer", "cookie"})
# Origins of the pages that a frame shows before its first document.
NO_ORIGIN = ("", "null", "://")


async def add_cookies(context: BrowserContext, given: OriginCredentials, page_url: str) -> None:
    """Set the cookies of the origin's host, as restricted as possible: HttpOnly and SameSite=Strict.

    Only if the page itself is of that origin, because cookies ignore ports and, without Secure, schemes.
    """
    if cookies := given.cookies_for(_origin(page_url)):
        await context.add_cookies(
            [
                {"name": name, "value": value, "url": f"{given.origin}/", "httpOnly": True, "sameSite": "Strict"}
                for name, value in cookies
            ]
        )


class HeaderSender:
    """Add the headers to requests to the origin that frames of that origin make.

    Chromium pauses every hop of a redirect anew, and does not send headers added to one hop with the next (CDP,
    Fetch.continueRequest). Requests of frames of other origins are not changed: they could read responses that require
    the credentials.
    """

    def __init__(self, cdp: CDPSession, given: OriginCredentials) -> None:
        self._cdp = cdp
        self._given = given
        self._origins: dict[str, str] = {}  # of the documents that frames show
        self._asked: dict[str, str] = {}  # of the documents that frames have requested, and may not show yet
        self._answers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start to add headers. The session's domain Page must be enabled. Raises Playwright's `Error`."""
        if not self._given.headers:
            return
        self._cdp.on("Page.frameNavigated", self._navigated)
        self._cdp.on("Fetch.requestPaused", self._paused)
        await self._cdp.send("Fetch.enable", {"patterns": [{"urlPattern": f"{self._given.origin}/*"}, DOCUMENTS]})

    def _navigated(self, event: Mapping[str, Any]) -> None:
        frame = event["frame"]
        if (origin := str(frame.get("securityOrigin", ""))) not in NO_ORIGIN:
            self._origins[str(frame["id"])] = origin

    def _paused(self, event: Mapping[str, Any]) -> None:
        answer = asyncio.ensure_future(self._answer(event))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, event: Mapping[str, Any]) -> None:
        order: dict[str, Any] = {"requestId": event["requestId"]}
        if self._is_ours(event):
            added = self._given.headers
            replaced = {name.lower() for name in added} | KEPT_BY_CHROMIUM
            own = event["request"]["headers"].items()
            headers = {name: value for name, value in own if name.lower() not in replaced} | added
            order["headers"] = [{"name": name, "value": value} for name, value in headers.items()]
        with contextlib.suppress(Error):  # the page may be closed, or may have cancelled the request
            await self._cdp.send("Fetch.continueRequest", order)

    def _is_ours(self, event: Mapping[str, Any]) -> bool:
        frame, origin = str(event.get("frameId", "")), _origin(event["request"]["url"])
        if event.get("resourceType") == "Document":
            self._asked[frame] = origin
            return origin == self._given.origin
        shown = self._origins.get(frame) or self._asked.get(frame)
        return origin == shown == self._given.origin


def _origin(url: str) -> str:
    try:
        return str(ada_url.URL(url).origin)
    except ValueError:
        return ""
