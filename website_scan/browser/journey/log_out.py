"""Ask the server after a log-out whether it still accepts the cookies from before.

A log-out that only deletes the cookies in the browser leaves the session to everybody who has copied them. Before a
step that logs out, the private page and its cookies are stored. After the log-out, the page is requested again with
these cookies and, unless the answer is clear, with those of the browser now. The browser does not see the answers.
"""

from __future__ import annotations

import asyncio
import re

from msgspec import Struct
from msgspec.structs import replace

from website_scan.browser.devtools import CLOSED, ProtocolError, Session
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.failures import Deadline
from website_scan.browser.journey.request import WalkRequest
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.visit import chrome_user_agent
from website_scan.journeys.journey import Click, KeyDown, Navigate, SelectorKind, Step
from website_scan.journeys.walk import Focus, KeyboardReach, LogOut, NotTested, PageAnswer
from website_scan.net.errors import NetError
from website_scan.net.http.redirects import REDIRECTS
from website_scan.net.http.request import Request
from website_scan.net.http.response import Headers, Response
from website_scan.net.targets import InvalidUrl
from website_scan.page.encodings import decode
from website_scan.page.log_in import leads_elsewhere
from website_scan.page.session_signs import has_log_out_address, names_log_out, session_signs
from website_scan.page.soft_404 import resembles
from website_scan.records import repr_without
from website_scan.urls import Url, origin_of

MAX_BODY_BYTES = 256 * 1024
MAX_SHOWN_CHARS = 1024 * 1024
MAX_COOKIE_CHARS = 16 * 1024
COOKIE_HEADER = re.compile("[!-~](?:[ -~]*[!-~])?")  # Other characters could not be sent as browsers send them.
MIN_ID_CHARS = 8  # Shorter values of cookies are parts of many addresses.
READ_TIMEOUT_S = 2.0
REQUEST_TIMEOUT_S = 4.0
MAX_TEST_S = 10.0
MIN_TEST_S = 1.0
ACTIVATING_KEYS = frozenset({"Enter", " ", "Space", "NumpadEnter"})
HEADERS = {
    "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
    "Accept-Language": "en-US",
    "Cache-Control": "no-cache",
}


class _PrivatePage(Struct, frozen=True):
    """Page as the server sent it before the log-out, and the Cookie header of the browser."""

    url: str
    answer: Response
    cookies: str

    def __repr__(self) -> str:
        return repr_without(self, "answer", "cookies")


class LogOutTest:
    """Test of the log-outs of one journey."""

    def __init__(
        self,
        page: Session,
        activity: PageActivity,
        request: WalkRequest,
        mask: SecretMask,
        browser_version: str,
    ) -> None:
        self._page = page
        self._browser_version = browser_version
        self._activity = activity
        self._request = request
        self._mask = mask
        self._before: _PrivatePage | NotTested | None = None

    async def before_step(self, step: Step, reach: KeyboardReach | None, focus: Focus | None) -> None:
        """Store the page and its cookies if the step logs out. `reach` has the name of the clicked element.

        Of several steps, such as a log-out and its confirmation, the page before the first one is stored. Raises
        `ProtocolError` if the browser is closed.
        """
        if not self._request.tests_log_out or self._before is not None or not _logs_out(step, reach, focus):
            return
        self._before = NotTested.UNREADABLE
        try:
            self._before = await asyncio.wait_for(self._read_page(), READ_TIMEOUT_S)
        except TimeoutError:
            pass
        except ProtocolError as error:
            if str(error) == CLOSED:
                raise

    async def after_log_out(self, markup: str | None, ends: Deadline) -> LogOut | None:
        """Return what the server answers after a log-out, or None if there was none since the state before.

        `markup` is the DOM of the state. The result contains no cookies. Raises `ProtocolError`.
        """
        before, self._before = self._before, None
        if before is None:
            return None
        if isinstance(before, NotTested):
            return LogOut(problem=before)
        limit_s = min(MAX_TEST_S, ends.remaining_s / 2)  # The state has further evidence.
        if limit_s < MIN_TEST_S:
            return LogOut(problem=NotTested.UNANSWERED)
        is_mobile = self._request.first_device.is_mobile  # Steps change the screen, but not the User-Agent.
        user_agent = chrome_user_agent(self._browser_version, self._request.user_agent, is_mobile=is_mobile)
        ends = Deadline.after(limit_s)
        try:
            async with asyncio.timeout(limit_s):
                cookies = await self._read_cookies(before.url)
                return await asyncio.to_thread(self._test, before, cookies or "", markup, user_agent, ends)
        except (TimeoutError, NetError, InvalidUrl):
            return LogOut(problem=NotTested.UNANSWERED)

    async def _read_page(self) -> _PrivatePage | NotTested:
        document = self._activity.document
        url = Url.parse(document.url)
        if url is None or not self._request.allowed(url.without_fragment):
            return NotTested.NOT_REPEATABLE
        if document.method != "GET" or document.status != 200 or has_log_out_address(url):
            return NotTested.NOT_REPEATABLE
        address = url.without_fragment
        cookies = await self._read_cookies(address)
        if cookies is None or self._mask.occurs_in(address) or _has_cookie(address, cookies):
            return NotTested.NOT_REPEATABLE
        if not cookies:
            return NotTested.NO_COOKIES
        body = await self._page.send("Network.getResponseBody", {"requestId": document.loader})
        if body["base64Encoded"]:
            return NotTested.UNREADABLE  # The page is no text.
        media_type = document.headers.get("content-type", "").partition(";")[0]
        headers = Headers((("Content-Type", f"{media_type}; charset=utf-8"),))
        content = str(body["body"])[:MAX_BODY_BYTES].encode("utf-8", "replace")
        return _PrivatePage(address, Response(address, 200, headers, content), cookies)

    async def _read_cookies(self, address: str) -> str | None:
        """Return the header Cookie that the browser would send, or None if it cannot be sent in the same way."""
        items = (await self._page.send("Network.getCookies", {"urls": [address]}))["cookies"]
        # Browsers send cookies with longer paths first (RFC 6265, section 5.4).
        ordered = sorted(items, key=lambda item: -len(str(item["path"])))
        header = "; ".join(
            f"{item['name']}={item['value']}" if item["name"] else str(item["value"]) for item in ordered
        )
        is_sendable = len(header) <= MAX_COOKIE_CHARS and COOKIE_HEADER.fullmatch(header)
        return header if is_sendable or not header else None

    def _test(self, before: _PrivatePage, cookies: str, markup: str | None, user_agent: str, ends: Deadline) -> LogOut:
        """Request the private page again. `cookies` are those of the browser now. Raises `NetError`, InvalidUrl."""
        if markup is None:
            return LogOut(problem=NotTested.NOT_LOGGED_OUT)
        shown = session_signs(markup[:MAX_SHOWN_CHARS], before.url)
        # A page that asks for a confirmation of the log-out has no control to log out, either.
        is_logged_out = cookies != before.cookies or shown.has_log_in_field
        if shown.has_log_out or not is_logged_out:
            return LogOut(problem=NotTested.NOT_LOGGED_OUT)
        page = self._describe(before.answer, before)
        if not page.signs:
            return LogOut(problem=NotTested.NO_SIGN)
        response = self._send(before.url, before.cookies, user_agent, ends)
        if (response.headers.get("Age") or "0").strip() != "0":
            return LogOut(problem=NotTested.CACHED)
        old, new = self._describe(response, before), None
        if old.status == 200:
            others = cookies if cookies != before.cookies else ""
            new = self._describe(self._send(before.url, others, user_agent, ends), before)
        return LogOut(before.url.partition("?")[0], page, old, new)

    def _send(self, url: str, cookies: str, user_agent: str, ends: Deadline) -> Response:
        headers = HEADERS | {"User-Agent": user_agent}
        credentials = self._request.credentials
        if credentials is not None and credentials.origin == origin_of(url):
            headers |= credentials.headers
        if cookies:
            headers["Cookie"] = cookies
        limit_s = max(0.1, min(REQUEST_TIMEOUT_S, ends.remaining_s))
        return self._request.proxy.fetch(Request(url, headers=headers, max_bytes=MAX_BODY_BYTES, timeout_s=limit_s))

    def _describe(self, response: Response, before: _PrivatePage) -> PageAnswer:
        text = decode(response)[0]
        signs = session_signs(text, before.url)
        url = Url.of(before.url)
        leads_to = Url.parse(response.headers.get("Location") or "", before.url)
        path = url.path_and_query
        return PageAnswer(
            status=response.status,
            redirects=response.status in REDIRECTS and leads_to is not None and leads_elsewhere(url, leads_to),
            has_log_out=signs.has_log_out,
            shows_secret=self._mask.occurs_in(text),
            asks_log_in=signs.has_log_in or signs.has_log_in_field,
            resembles_page=resembles(
                replace(response, body=text.encode("utf-8", "replace")), path, before.answer, path
            ),
        )


def _logs_out(step: Step, reach: KeyboardReach | None, focus: Focus | None) -> bool:
    """Return True if a step activates a control that logs out, or opens an address that does."""
    match step:
        case Navigate():
            url = Url.parse(step.url)
            return url is not None and has_log_out_address(url)
        case KeyDown():
            return step.key in ACTIVATING_KEYS and focus is not None and names_log_out(focus.name)
        case Click():
            parts = [selector.parts[-1] for selector in step.target.selectors]
            names = [part.text for part in parts if part.kind in (SelectorKind.ARIA, SelectorKind.TEXT)]
            return any(map(names_log_out, [*names, reach.name if reach else ""]))
        case _:
            return False


def _has_cookie(address: str, cookies: str) -> bool:
    """Return True if an address contains the value of a cookie, such as the ID of a session."""
    values = (pair.partition("=")[2] for pair in cookies.split("; "))
    return any(len(value) >= MIN_ID_CHARS and value in address for value in values)
