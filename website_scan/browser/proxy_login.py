"""Log-in of the browser at its proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from website_scan.browser.devtools import Session
from website_scan.net.proxy import BrowserProxy

# Chromium asks for a password only for requests that it pauses. After the page itself it has the password, and sends it
# with all other requests. Documents of frames are few.
DOCUMENTS = {"urlPattern": "*", "resourceType": "Document"}
# Files of a server nearby would be there before the first paint, and the layout shifts that they cause elsewhere would
# not be seen. The moment for which a request is paused is enough.
ALL = {"urlPattern": "*"}


class ProxyLogin:
    """Answers Chromium when the proxy of a context asks for its password."""

    def __init__(self, page: Session, proxy: BrowserProxy) -> None:
        self._page = page
        self._proxy = proxy
        self._given: set[str] = set()  # requests for which the proxy has been given its password

    async def start(self, *, is_measured: bool) -> None:
        """Answer from now on; a load that is measured pauses all requests. Raises `ProtocolError`."""
        self._page.on("Fetch.authRequired", self._asked)
        self._page.on("Fetch.requestPaused", self._paused)
        await self._page.send(
            "Fetch.enable", {"handleAuthRequests": True, "patterns": [ALL if is_measured else DOCUMENTS]}
        )

    def _paused(self, event: Mapping[str, Any]) -> None:
        self._page.post("Fetch.continueRequest", {"requestId": event["requestId"]})

    def _asked(self, event: Mapping[str, Any]) -> None:
        challenge, request = event["authChallenge"], str(event["requestId"])
        answer = {"response": "Default"}  # a site asks for a password of its own
        if challenge.get("source") == "Proxy" and challenge["origin"] == self._proxy.url:
            password = {"username": self._proxy.username, "password": self._proxy.password}
            answer = {"response": "ProvideCredentials", **password}
            if request in self._given:
                answer = {"response": "CancelAuth"}
            self._given.add(request)
        self._page.post("Fetch.continueWithAuth", {"requestId": request, "authChallengeResponse": answer})
