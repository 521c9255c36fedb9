"""HTTP client and network of one scan or one delivery: every connection is checked, pinned and budgeted.

The `Dialer` opens every connection. Redirects are followed here, hop by hop.
"""

from __future__ import annotations

import functools
import threading
import time
from dataclasses import replace

from website_scan.net.budget import Exchange, Limits, Meter, Meters, SharedBudget
from website_scan.net.credentials import OriginCredentials
from website_scan.net.deadline import Deadline, GuardedSocket, GuardedTlsSocket, dial
from website_scan.net.dialer import Dial, Dialer
from website_scan.net.dns_records import DnsAnswer, Lookup, SystemLookup
from website_scan.net.errors import NotReachable, TimedOut, TooManyRedirects, Untrusted
from website_scan.net.failures import NoAnswer, named_errors
from website_scan.net.http.answers import Answers, Wish, key_of
from website_scan.net.http.connections import (
    CurrentExchange,
    GuardedAdapter,
    Trust,
    targeted,
    tls_context,
)
from website_scan.net.http.decoding import decode
from website_scan.net.http.messages import LenientResponse, read_body
from website_scan.net.http.redirects import Trail, following, with_referrer
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response, TlsSession
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver, SystemResolver
from website_scan.net.targets import Target, parse_target

DEFAULT_LIMITS = Limits()
# Methods whose requests may be sent twice (RFC 9110, section 9.2.2). Other requests get a new connection.
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
PACKING_BYTES = 1024


class Network:
    """Network access of one scan. Thread-safe; `close()` wakes and ends everything that waits in other threads.

    Tests replace `resolver`, `lookup` and `dialer`; a dialer is called with address, port and seconds, and returns a
    connected socket or raises OSError. `time_limit_s` is the limit for everything together. `answers` is a response
    cache that may outlive the network: a cached response costs no request. `credentials` are sent only with requests
    that have `with_credentials`, only to their own origin, redirects included, and never if the certificate is not
    trusted. `shared` counts every request and connection in addition to the limits of this network.
    """

    def __init__(  # noqa: PLR0913 -- a policy, and options by keyword
        self,
        policy: Policy,
        *,
        resolver: Resolver | None = None,
        lookup: Lookup | None = None,
        dialer: Dial | None = None,
        limits: Limits = DEFAULT_LIMITS,
        time_limit_s: float = 60.0,
        credentials: OriginCredentials | None = None,
        answers: Answers | None = None,
        shared: SharedBudget | None = None,
    ) -> None:
        self.policy = policy
        self.credentials = credentials
        self._answers = answers or Answers()
        self.limits = limits
        self._meter = Meter(limits)
        self._shared = shared
        self._begin = time.monotonic()
        self._deadline = Deadline(time_limit_s)
        self._dialer = Dialer(
            policy, resolver or SystemResolver(policy.name_servers), dialer or dial, limits, self._deadline
        )
        self._lookup = lookup or SystemLookup(policy.name_servers)
        self._current = CurrentExchange()
        self._lock = threading.Lock()
        self._adapters: dict[Trust, GuardedAdapter] = {}
        self._distrusted: dict[tuple[str, int], str] = {}

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, also those that other threads wait for. Later connections are refused."""
        self._dialer.close()
        with self._lock:
            adapters = list(self._adapters.values())
        for adapter in adapters:
            adapter.close()

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since this network was created."""
        return time.monotonic() - self._begin

    @property
    def remaining_s(self) -> float:
        """Return the remaining seconds of this network's time limit."""
        return self._deadline.remaining_s()

    @property
    def requests(self) -> int:
        """Return the number of requests so far, redirects included."""
        return self._meter.requests

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """Return the host and address of each connection that the guard has refused. Not for publication."""
        return tuple(self._dialer.refused)

    @property
    def received_bytes(self) -> int:
        """Return the bytes received so far, headers included, without the overhead of TLS."""
        return self._meter.received_bytes

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the host's addresses, checked for a port. They never change for this network (no DNS rebinding).

        Raises Blocked if ANY address may not be contacted on that port, NotReachable if there is none, TimedOut, or
        InvalidUrl for a port that is not allowed.
        """
        return self._dialer.addresses(host, port, self._deadline.within(self.limits.connect_s))

    def records(self, name: str, record_type: str) -> DnsAnswer:
        """Return DNS records such as TXT or CAA as text; empty if there are none. Raises NotReachable, TimedOut."""
        return self._lookup.lookup(name, record_type, self._deadline.within(self.limits.connect_s))

    def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> GuardedSocket:
        """Open a TCP connection to the host at its pinned address.

        `timeout_s` limits the opening and, once more, the use of the connection; the caller may set a shorter time-out
        on the socket. Raises Blocked, NotReachable, TimedOut, BudgetExceeded, or InvalidUrl for a port that is not
        allowed.
        """
        self._count(host, port)
        connection, _ = self._dialer.open(host, port, self._deadline.within(timeout_s or self.limits.connect_s))
        connection.guard = Meters(self._deadline.within(timeout_s or self.limits.total_s), self._meter)
        return connection

    def tunnel(self, target: Target, meter: Meter) -> GuardedSocket:
        """Open a connection for the browser, with a budget of its own, which lasts as long as this network.

        Raises Blocked, NotReachable, TimedOut, BudgetExceeded, or InvalidUrl for a port that is not allowed.
        """
        meter.request(target.host)
        self._count(target.host, target.port)
        connection, _ = self._dialer.open(target.host, target.port, self._deadline.within(self.limits.connect_s))
        connection.guard = Meters(self._deadline, meter)
        return connection

    def count_in_tunnel(self, host: str, port: int) -> None:
        """Count a request that the browser sends through a tunnel. Never resolves a name. Raises BudgetExceeded."""
        if self._shared is not None:
            self._shared.request(host, port, self._dialer.known_addresses(host, port))

    def _count(self, host: str, port: int) -> None:
        """Count a request in the shared budget. Raises BudgetExceeded, and the errors of `addresses`."""
        if self._shared is not None:
            self._shared.request(host, port, self.addresses(host, port))

    def reach(self, target: Target, *, timeout_s: float = 5.0) -> None:
        """Resolve the host and connect, without a request. Raises Blocked, NotReachable or InvalidUrl."""
        try:
            self.connect(target.host, target.port, timeout_s=timeout_s).close()
        except TimedOut as error:
            raise NotReachable(str(error)) from None

    def fetch(self, request: Request | Target | str) -> Response:
        """Send one request and return its response; a URL alone is a GET. Does not follow redirects.

        Raises any NetError, or InvalidUrl.
        """
        request = with_referrer(self._judged(request))
        limit = self.limits.decoded_bytes if request.max_bytes is None else request.max_bytes
        is_longer = request.is_kept and self._answers.outlive_visit
        request = replace(request, max_bytes=max(limit, request.kept_bytes) if is_longer else limit)
        if not request.is_kept:
            return self._request(request)
        # The key includes the credentials: a response to a request with them must not be reused for one without.
        private = self._with_credentials(request)
        key = key_of(private)
        wish = Wish(limit, request.verify, is_private=private is not request)
        if request.reuse is Reuse.ALLOWED:
            wait_s = self._deadline.within(request.timeout_s or self.limits.total_s).check()
            return self._answers.answer(key, wish, functools.partial(self._request, request), wait_s)
        if (cached := self._answers.of_earlier_visit(key, wish)) is not None:
            return cached
        response = self._request(request)
        self._answers.keep_beginning(key, response, is_private=wish.is_private)
        return response

    def follow(self, request: Request | Target | str) -> tuple[Response, ...]:
        """Fetch a URL and follow redirects, each checked like the first request. The last response is the final one.

        Raises TooManyRedirects, and the errors of `fetch`.
        """
        hop: Request | None = self._judged(request)
        trail = Trail()
        responses: list[Response] = []
        while hop is not None:
            if len(responses) > self.limits.redirects:
                raise TooManyRedirects(f"The site redirects more than {self.limits.redirects} times.")
            response = self.fetch(trail.with_cookies(hop))
            responses.append(response)
            trail.keep_cookies(hop, response)
            hop = following(hop, response)
        return tuple(responses)

    def _judged(self, request: Request | Target | str) -> Request:
        """Return the request with a parsed and checked target. Raises InvalidUrl or Blocked."""
        if not isinstance(request, Request):
            request = Request(request)
        if isinstance(request.url, Target):
            return request
        return replace(request, url=parse_target(request.url, self.policy))

    def _with_credentials(self, request: Request) -> Request:
        """Return the request with the credentials for its origin, or unchanged if there are none for it."""
        if self.credentials is None or not request.with_credentials:
            return request
        headers = self.credentials.added_to(request.headers, request.target.origin)
        return request if headers is request.headers else replace(request, headers=headers)

    def _request(self, request: Request) -> Response:
        target = request.target
        self._meter.request(target.host)
        self._count(target.host, target.port)
        deadline = self._deadline.within(request.timeout_s or self.limits.total_s)
        deadline.check()
        private = self._with_credentials(request)
        if request.verify or not target.is_https:
            return self._exchange(private, deadline, Trust.STRICT)
        origin = (target.host, target.port)
        if origin not in self._distrusted:
            try:
                return self._exchange(private, deadline, Trust.LENIENT)
            except Untrusted as error:
                self._distrusted[origin] = error.reason
        # The server's identity is unknown, so the request is sent without credentials.
        response = self._exchange(request, deadline, Trust.NONE)
        assert response.tls is not None
        return replace(response, tls=replace(response.tls, trust_error=self._distrusted[origin]))

    # Methods for the pooled connections (`connections.Opener`).

    def open_for(self, exchange: Exchange, host: str, port: int) -> tuple[GuardedSocket, str]:
        """Open a connection for an exchange, within its time limit."""
        return self._dialer.open(host, port, exchange.deadline.within(self.limits.connect_s))

    def register(self, connection: GuardedTlsSocket) -> None:
        """Register a connection, so that `close` ends it as well."""
        self._dialer.register(connection)

    def _adapter(self, trust: Trust) -> GuardedAdapter:
        with self._lock:
            if trust not in self._adapters:
                context = functools.partial(tls_context, self.policy.ca_bundle, trust)
                self._adapters[trust] = GuardedAdapter(self, self._current, self.limits, context)
            return self._adapters[trust]

    def _exchange(self, request: Request, deadline: Deadline, trust: Trust) -> Response:
        target = request.target
        exchange = Exchange(deadline, self.limits, self._meter, target.path, is_fresh=request.method not in IDEMPOTENT)
        try:
            return self._send(request, trust, exchange)
        except NoAnswer:
            if not exchange.is_reused:
                raise NotReachable(f"{target.host} closed the connection without an answer.") from None
        # Servers may close a kept-alive connection at any time, so send the request again.
        self._count(target.host, target.port)
        exchange = Exchange(deadline, self.limits, self._meter, target.path, is_fresh=True)
        try:
            return self._send(request, trust, exchange)
        except NoAnswer:
            raise NotReachable(f"{target.host} closed the connection without an answer.") from None

    def _send(self, request: Request, trust: Trust, exchange: Exchange) -> Response:
        target, max_bytes = request.target, request.max_bytes or 0
        prepared = targeted(request, self.policy.user_agent)
        begin = time.monotonic()
        self._current.value = exchange
        with self._dialer.until_closed(), named_errors(target.host):
            adapter = self._adapter(trust)
            message = adapter.send(prepared, stream=True).raw
            ttfb_s = time.monotonic() - exchange.sent_at
            assert isinstance(message, LenientResponse)
            head = message.head
            is_read = False
            try:
                exchange.reading_body()
                # Compressed data may be a little longer than its content.
                wire_bytes = max_bytes + PACKING_BYTES if "Content-Encoding" in head.headers else max_bytes
                body = read_body(message.fp, message.frame, min(wire_bytes, self.limits.body_bytes))
                is_read = body.is_read
            finally:
                adapter.release(message, is_reusable=is_read and not message.will_close)
        content, is_more = body.content, False
        limit = min(max_bytes, self.limits.decoded_bytes)
        if request.decode:
            content, is_more = decode(content, head.headers.get("Content-Encoding"), limit)
        elif len(content) > limit:
            content, is_more = content[:limit], True
        return Response(
            url=target.url,
            status=head.status,
            headers=head.headers,
            body=content,
            reason=head.reason,
            http_version=head.version,
            method=prepared.method or "GET",
            truncated=body.is_cut or is_more,
            header_bytes=head.size_bytes,
            body_wire_bytes=len(body.content),
            address=exchange.address,
            connect_s=exchange.connect_s,
            ttfb_s=ttfb_s,
            total_s=time.monotonic() - begin,
            tls=TlsSession(exchange.tls_version, exchange.tls_cipher) if target.is_https else None,
        )
