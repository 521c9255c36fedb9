"""What a page wants to see before it shows itself, given to it by the browser: to its own origin and nobody else."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import ada_url
from playwright.async_api import BrowserContext, CDPSession, Error

from scanner.net.credentials import OriginCredentials

# The frames' own documents, whatever their origin: they tell whose requests the next ones are.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
# It sets them itself, for each hop anew; given here, they would go along to where a redirect leads.
KEPT_BY_CHROMIUM = frozenset({"referer", "cookie"})
# Pages that a frame shows before it has one of its own.
NO_ORIGIN = ("", "null", "://")


async def add_cookies(context: BrowserContext, given: OriginCredentials, page_url: str) -> None:
    """Cookies of the origin's host, as narrow as there are any: no script reads them, no other site has them sent.

    Only where the page itself is of the origin: cookies know neither ports nor, without Secure, schemes.
    """
    if cookies := given.cookies_for(_origin(page_url)):
        await context.add_cookies(
            [
                {"name": name, "value": value, "url": f"{given.origin}/", "httpOnly": True, "sameSite": "Strict"}
                for name, value in cookies
            ]
        )


class HeaderSender:
    """Adds the headers to what one page's frames of the origin ask of the origin.

    Every hop of a redirect is asked about anew, and what was added to one is not sent to the next (CDP,
    Fetch.continueRequest). Frames of other origins get nothing added: they could read what only the credentials open.
    """

    def __init__(self, cdp: CDPSession, given: OriginCredentials) -> None:
        self._cdp = cdp
        self._given = given
        self._origins: dict[str, str] = {}  # of what frames show
        self._asked: dict[str, str] = {}  # of what they have asked for, and may not show yet
        self._answers: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Needs the session's domain Page. Raises Playwright's `Error`."""
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
        with contextlib.suppress(Error):  # the page may have gone, or given the request up
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
