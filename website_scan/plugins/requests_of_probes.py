"""Network requests of a plug-in's probes, which the scanner sends through its guarded network."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

from website_scan.errors import Refusal
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded
from website_scan.net.http.request import Request, Reuse
from website_scan.net.targets import Target
from website_scan.page.registrable_domain import is_same_site
from website_scan.plugins.json_checking import WrongData, items, text

MAX_REQUESTS = 20
MAX_BYTES = 5 * 1024 * 1024
MAX_BODY_BYTES = 1024 * 1024
REQUEST_TIMEOUT_S = 5.0
MAX_URL = 2_000
# Addresses are missing: the scanner resolves them itself, and refuses those that are not public.
RECORD_TYPES = frozenset({"CAA", "CNAME", "DNSKEY", "DS", "MX", "NS", "SOA", "TLSA", "TXT"})


class ProbeRequests:
    """Budget and answers of all network requests that one plug-in's probes send for one page.

    A request that another check has sent is answered from memory.
    """

    def __init__(self, network: Network, page: Target) -> None:
        self._network = network
        self._page = page
        self._requests = 0
        self._bytes = 0
        self._answers: dict[str, dict[str, Any]] = {}

    def answer(self, request: Mapping[str, Any], ends: float) -> dict[str, Any]:
        """Return the answer, or an error with its code, as JSON. `ends` is on the monotonic clock."""
        key = repr(sorted(request.items()))
        if key not in self._answers:
            try:
                self._answers[key] = self._send(request, ends)
            except WrongData as wrong:
                return {"error": f"Wrong request: {wrong}.", "code": "INVALID_PARAMS"}
            except Refusal as refusal:
                self._answers[key] = {"error": str(refusal), "code": refusal.code}
        return self._answers[key]

    def _send(self, request: Mapping[str, Any], ends: float) -> dict[str, Any]:
        if self._requests >= MAX_REQUESTS:
            raise BudgetExceeded(
                f"All probes of a plug-in may send {MAX_REQUESTS} requests for a page, with redirects."
            )
        if self._bytes >= MAX_BYTES:
            raise BudgetExceeded("All probes of a plug-in may receive 5 MiB for a page.")
        self._requests += 1
        if "records" in request:
            name, record_type = items(request["records"], "the DNS query", 2)
            return {"records": self._records(text(name, "the name", 255), text(record_type, "the type", 20))}
        timeout_s = min(REQUEST_TIMEOUT_S, max(0.1, ends - time.monotonic()))
        hops = self._network.follow(
            Request(
                text(request.get("get"), "the URL", MAX_URL),
                max_bytes=min(MAX_BODY_BYTES, MAX_BYTES - self._bytes),
                timeout_s=timeout_s,
                reuse=Reuse.ALLOWED,
            )
        )
        self._requests += len(hops) - 1
        response = hops[-1]
        self._bytes += len(response.body)
        return {
            "url": response.url,
            "status": response.status,
            "headers": response.headers.items,
            "body": base64.b64encode(response.body).decode(),
        }

    def _records(self, name: str, record_type: str) -> tuple[str, ...]:
        if record_type not in RECORD_TYPES:
            raise WrongData(f"the type of DNS records is not one of {', '.join(sorted(RECORD_TYPES))}")
        if not is_same_site(name.rstrip("."), self._page.host):
            raise WrongData("the name is not in the domain of the page")
        return self._network.records(name, record_type).records
