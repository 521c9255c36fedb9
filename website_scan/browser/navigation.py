"""Record where a loaded page leads by itself.

Scripts and refreshes lead to other pages. Also records the address that the browser shows.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from website_scan.browser.devtools import Event, Target
from website_scan.browser.visit import BrowserFailed, LeadsElsewhere
from website_scan.urls import Url

# A request for the address cannot repeat these navigations, or they lead to the same page.
UNFOLLOWED_REASONS = frozenset({"reload", "formSubmissionPost"})
# People can use a page that a script leaves later than this after the load event.
MAX_LEAD_S = 5.0


class Navigations:
    """Recorder of the main frame's navigations.

    `shown_url` is the address that the browser shows. Calls `fail` if the page loads a second document, because all
    evidence must be of one page. Without this failure, the navigation would cause others, such as an isolated world
    that no longer exists.
    """

    def __init__(self, fail: Callable[[BrowserFailed], None]) -> None:
        self._fail = fail
        self._document_count = 0
        self._main_frame = ""
        self._next_url = ""  # Address that the page leads to immediately, without the fragment.
        self._loaded_at: float | None = None
        self.shown_url = ""

    def listen(self, page: Target) -> None:
        """Subscribe to the Page events of a session."""
        page.on("Page.frameNavigated", self._count_document)
        page.on("Page.frameScheduledNavigation", self._record_navigation)
        page.on("Page.navigatedWithinDocument", self._record_shown_url)
        page.on("Page.loadEventFired", self._mark_loaded)

    def _count_document(self, event: Event) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        self._document_count += 1
        self._main_frame = str(frame["id"])
        self.shown_url = self.shown_url or str(frame["url"])
        if self._document_count > 1:
            self._fail(
                LeadsElsewhere(self._next_url)
                if self._next_url
                else BrowserFailed("The page navigates away by a script or refresh while it is examined.")
            )

    def _mark_loaded(self, _: Event) -> None:
        self._loaded_at = self._loaded_at or time.monotonic()

    def _record_navigation(self, event: Event) -> None:
        """Record the other page to which the main frame leads.

        A script or refresh leads there immediately.
        """
        if event["frameId"] != self._main_frame or self._document_count > 1:
            return
        is_late = self._loaded_at is not None and time.monotonic() - self._loaded_at > MAX_LEAD_S
        is_followed = event["reason"] not in UNFOLLOWED_REASONS and float(event["delay"]) == 0 and not is_late
        url, shown = Url.parse(str(event["url"])), Url.parse(self.shown_url)
        is_other_page = url is not None and (shown is None or url.without_fragment != shown.without_fragment)
        is_http = url is not None and url.is_http
        self._next_url = url.without_fragment if url and is_followed and is_other_page and is_http else ""

    def _record_shown_url(self, event: Event) -> None:
        if event["frameId"] == self._main_frame:
            self.shown_url = str(event["url"])
