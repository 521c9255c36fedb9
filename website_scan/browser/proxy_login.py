"""Authentication of the browser at its proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.net.proxy import BrowserProxy

# Chromium asks for a proxy password only for paused requests. After the request for the page, Chromium sends the
# password with all other requests. Pausing documents costs little, because a page has few frames.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
# Files of a server nearby would arrive before the first paint, so that layout shifts that real visitors see would be
# missing. The short delay of a pause is enough to measure them.
ALL_REQUESTS = {"urlPattern": "*"}


class ProxyLogin:
    """Handler that answers the authentication requests of a browser context's proxy."""

    def __init__(self, page: Session, proxy: BrowserProxy) -> None:
        self._page = page
        self._proxy = proxy
        self._answered: set[str] = set()  # IDs of requests whose authentication was answered with the password

    async def start(self, *, is_measured: bool) -> None:
        """Start answering authentication requests. A measured load pauses all requests. Raises `ProtocolError`."""
        self._page.on("Fetch.authRequired", self._on_auth_required)
        self._page.on("Fetch.requestPaused", self._on_paused)
        await self._page.send(
            "Fetch.enable", {"handleAuthRequests": True, "patterns": [ALL_REQUESTS if is_measured else DOCUMENTS]}
        )

    def _on_paused(self, event: Mapping[str, Any]) -> None:
        self._page.post("Fetch.continueRequest", {"requestId": event["requestId"]})

    def _on_auth_required(self, event: Mapping[str, Any]) -> None:
        challenge, request = event["authChallenge"], str(event["requestId"])
        response = {"response": "Default"}  # the site, not the proxy, requires a password
        if challenge.get("source") == "Proxy" and challenge["origin"] == self._proxy.url:
            password = {"username": self._proxy.username, "password": self._proxy.password}
            response = {"response": "ProvideCredentials", **password}
            if request in self._answered:
                response = {"response": "CancelAuth"}
            self._answered.add(request)
        self._page.post("Fetch.continueWithAuth", {"requestId": request, "authChallengeResponse": response})
