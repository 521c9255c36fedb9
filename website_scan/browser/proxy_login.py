"""Log the browser in to the scan's proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.net.proxy import BrowserProxy

# Chromium asks for a proxy password only for paused requests.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
# Pausing all requests slows a fast server down, so that layout shifts are measured.
ALL_REQUESTS = {"urlPattern": "*"}


class ProxyLogin:
    """Handler that sends the proxy's password on request."""

    def __init__(self, page: Session, proxy: BrowserProxy) -> None:
        self._page = page
        self._proxy = proxy
        self._authenticated: set[str] = set()  # IDs of requests for which the proxy's password was sent.

    async def start(self, *, is_measured: bool) -> None:
        """Start handling authentication.

        A measured load pauses all requests. Raises `ProtocolError`.
        """
        self._page.on("Fetch.authRequired", self._on_auth_required)
        self._page.on("Fetch.requestPaused", self._on_request_paused)
        await self._page.send(
            "Fetch.enable", {"handleAuthRequests": True, "patterns": [ALL_REQUESTS if is_measured else DOCUMENTS]}
        )

    def _on_request_paused(self, event: Mapping[str, Any]) -> None:
        self._page.post("Fetch.continueRequest", {"requestId": event["requestId"]})

    def _on_auth_required(self, event: Mapping[str, Any]) -> None:
        challenge, request = event["authChallenge"], str(event["requestId"])
        response = {"response": "Default"}  # The site, not the proxy, requires a password.
        if challenge.get("source") == "Proxy" and challenge["origin"] == self._proxy.url:
            password = {"username": self._proxy.username, "password": self._proxy.password}
            response = {"response": "ProvideCredentials", **password}
            if request in self._authenticated:
                response = {"response": "CancelAuth"}
            self._authenticated.add(request)
        self._page.post("Fetch.continueWithAuth", {"requestId": request, "authChallengeResponse": response})
