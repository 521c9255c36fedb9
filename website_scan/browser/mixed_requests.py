"""Requests over plain HTTP that the browser blocked or upgraded.

The page is loaded over HTTPS. W3C Mixed Content, section 5.
"""

from __future__ import annotations

from website_scan.browser.devtools import Event, Target
from website_scan.browser.evidence import MixedRequest

MAX_MIXED_REQUESTS = 200
MAX_URL_LENGTH = 2_048
BLOCKED = "MixedContentBlocked"
UPGRADED = "MixedContentAutomaticallyUpgraded"


class MixedRequestRecorder:
    """Recorder of Chromium's mixed content issues.

    Issues of documents in frames do not count.
    """

    def __init__(self, document_url: str) -> None:
        self._document_url = document_url.partition("#")[0]
        self._requests: dict[str, MixedRequest] = {}

    @property
    def requests(self) -> tuple[MixedRequest, ...]:
        return tuple(self._requests.values())

    async def listen(self, page: Target) -> None:
        """Subscribe to the issues of a session."""
        page.on("Audits.issueAdded", self.record)
        await page.send("Audits.enable")

    def record(self, event: Event) -> None:
        """Record an issue if it is a mixed request of the document."""
        issue = event["issue"].get("details", {}).get("mixedContentIssueDetails")
        if not issue or issue["resolutionStatus"] not in (BLOCKED, UPGRADED):
            return
        if issue["mainResourceURL"].partition("#")[0] != self._document_url:
            return
        url = str(issue["insecureURL"])[:MAX_URL_LENGTH]
        if len(self._requests) < MAX_MIXED_REQUESTS:
            kind = str(issue.get("resourceType", "resource")).lower()[:40]
            self._requests.setdefault(url, MixedRequest(url, kind, issue["resolutionStatus"] == BLOCKED))
