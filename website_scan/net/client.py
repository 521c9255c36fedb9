"""HTTP client for scans and webhook deliveries.

Every connection is checked, pinned and budgeted. The `Dialer` opens every connection. Redirects are followed here, hop
by hop.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Sequence

from msgspec.structs import replace

from website_scan.net.budget import ConnectionGuard, Exchange, Limits, Meter, SharedBudget
from website_scan.net.credentials import OriginCredentials
from website_scan.net.deadline import Deadline, GuardedSocket, GuardedTlsSocket, dial, dial_datagrams
from website_scan.net.dialer import Dial, Dialer
from website_scan.net.dns_records import DnsAnswer, Lookup, SystemLookup
from website_scan.net.domain_queries import DomainQueries
from website_scan.net.errors import NotReachable, TimedOut, TooManyRedirects, Untrusted
from website_scan.net.failures import NoAnswer, named_errors
from website_scan.net.http.answers import AnswerRequirements, Answers, answer_key
from website_scan.net.http.connections import (
    CurrentExchange,
    GuardedAdapter,
    Trust,
    prepare_request,
    tls_context,
)
from website_scan.net.http.decoding import decode
from website_scan.net.http.messages import LenientResponse, read_body
from website_scan.net.http.redirects import Trail, limit_referrer, next_request
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response, TlsSession
from website_scan.net.mail_connections import MailConnections
from website_scan.net.policy import Policy
from website_scan.net.resolver import FixedResolver, Resolver, SystemResolver
from website_scan.net.targets import Target, parse_target

DEFAULT_LIMITS = Limits()
# Requests with these methods may be repeated (RFC 9110, section 9.2.2).
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
MAX_COMPRESSION_OVERHEAD_BYTES = 1024


class Network:
    """Network access of a scan.

    Thread-safe. `close()` ends all operations, also those of other threads. Tests replace `resolver`, `lookup` and
    the dialers for TCP (`dialer`) and UDP (`datagrams`); a dialer is called with address, port and seconds, and returns
    a connected socket or raises OSError.
    `time_limit_s` is the limit for everything together. `answers` is a response cache that may outlive the network: a
    cached response costs no request. `credentials` are sent only with requests that have `with_credentials`, only to
    their own origin, redirects included, and never if the certificate is not trusted. `shared` counts every request and
    connection in addition to the limits of this network.
    """

    def __init__(  # noqa: PLR0913 -- a policy, and options by keyword
        self,
        policy: Policy,
        *,
        resolver: Resolver | None = None,
        lookup: Lookup | None = None,
        dialer: Dial | None = None,
        datagrams: Dial | None = None,
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
        self._dial, self._datagrams = dialer or dial, datagrams or dial_datagrams
        resolver = resolver or SystemResolver(policy.name_servers)
        self._dialer = Dialer(policy, resolver, self._dial, limits, self._deadline, self._datagrams)
        self._lookup = lookup or SystemLookup(policy.name_servers)
        # Queries about domains, to the configured name servers and to those of the domain.
        self.dns = DomainQueries(
            policy, self._lookup, self._dialer, self._meter, self._deadline, shared, limits.connect_s
        )
        self.mail = MailConnections(policy, self._dialer, self._meter, self._deadline, shared)
        self._current = CurrentExchange()
        self._lock = threading.Lock()
        self._adapters: dict[Trust, GuardedAdapter] = {}
        self._distrusted: dict[tuple[str, int], str] = {}
        self._parts: list[Network] = []

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections, and refuse new ones.

        Connections of other threads end, too.
        """
        self._dialer.close()
        with self._lock:
            parts: list[GuardedAdapter | Network] = [*self._adapters.values(), *self._parts]
        for part in parts:
            part.close()

    def only_at(self, host: str, addresses: Sequence[str], time_limit_s: float) -> Network:
        """Return a network that reaches one host only, at these addresses, which are checked as usual.

        Its requests count in the budget of several scans, but not in the limits of this network. It ends with this
        network. Credentials are not sent.
        """
        network = Network(
            self.policy,
            resolver=FixedResolver(host, addresses),
            lookup=self._lookup,
            dialer=self._dial,
            datagrams=self._datagrams,
            limits=self.limits,
            time_limit_s=min(time_limit_s, self.remaining_s),
            shared=self._shared,
        )
        with self._lock:
            self._parts.append(network)
        self._dialer.refuse_when_closed()
        return network

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the scan's network access was created."""
        return time.monotonic() - self._begin

    @property
    def remaining_s(self) -> float:
        """Return the remaining seconds of the scan's time limit."""
        return self._deadline.remaining_s()

    @property
    def requests(self) -> int:
        """Return the number of requests so far, including redirects."""
        return self._meter.requests

    @property
    def dns_queries(self) -> int:
        """Return the number of DNS queries that were sent, except for addresses of hosts."""
        return self._meter.dns_queries

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """Return host and address of each refused connection.

        Do not publish them: they may reveal internal names.
        """
        return tuple(self._dialer.refused)

    @property
    def received_bytes(self) -> int:
        """Return the number of bytes received so far.

        Headers count, but the overhead of TLS does not.
        """
        return self._meter.received_bytes

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the host's checked addresses for a port.

        They never change during a scan, to prevent DNS rebinding. Raises Blocked if ANY address may not be contacted on
        that port, NotReachable if there is none, TimedOut, or InvalidUrl for a port that is not allowed.
        """
        return self._dialer.addresses(host, port, self._deadline.within(self.limits.connect_s))

    def records(self, name: str, record_type: str) -> DnsAnswer:
        """Return DNS records such as TXT or CAA as text.

        Empty if there are none. Raises NotReachable, TimedOut or BudgetExceeded.
        """
        return self.dns.records(name, record_type)

    def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> GuardedSocket:
        """Open a TCP connection to the host at one of its pinned addresses.

        `timeout_s` limits the opening and, once more, the use of the connection; the caller may set a shorter time-out
        on the socket. Raises Blocked, NotReachable, TimedOut, BudgetExceeded, or InvalidUrl for a port that is not
        allowed.
        """
        self._count_shared_request(host, port)
        connection, _ = self._dialer.open(host, port, self._deadline.within(timeout_s or self.limits.connect_s))
        connection.guard = ConnectionGuard(self._deadline.within(timeout_s or self.limits.total_s), self._meter)
        return connection

    def tunnel(self, target: Target, meter: Meter) -> GuardedSocket:
        """Open a connection for the browser, with a separate budget.

        The connection may last until the scan ends. Raises Blocked, NotReachable, TimedOut, BudgetExceeded, or
        InvalidUrl for a port that is not allowed.
        """
        meter.request(target.host)
        self._count_shared_request(target.host, target.port)
        connection, _ = self._dialer.open(target.host, target.port, self._deadline.within(self.limits.connect_s))
        connection.guard = ConnectionGuard(self._deadline, meter)
        return connection

    def count_in_tunnel(self, host: str, port: int) -> None:
        """Count a request that the browser sends through a proxy tunnel.

        Raises BudgetExceeded.
        """
        if self._shared is not None:
            self._shared.request(host, port, self._dialer.known_addresses(host, port))

    def _count_shared_request(self, host: str, port: int) -> None:
        """Count a request in the budget of several scans.

        Raises BudgetExceeded, and the errors of `addresses`.
        """
        if self._shared is not None:
            self._shared.request(host, port, self.addresses(host, port))

    def reach(self, target: Target, *, timeout_s: float = 5.0) -> None:
        """Check that a target accepts TCP connections.

        Raises Blocked, NotReachable or InvalidUrl.
        """
        try:
            self.connect(target.host, target.port, timeout_s=timeout_s).close()
        except TimedOut as error:
            raise NotReachable(str(error)) from None

    def fetch(self, request: Request | Target | str) -> Response:
        """Send a request and return its response, without following redirects.

        A URL alone is a GET request. Raises any NetError, or InvalidUrl.
        """
        request = limit_referrer(self._with_parsed_target(request))
        limit = self.limits.decoded_bytes if request.max_bytes is None else request.max_bytes
        reads_more_for_cache = request.is_kept and self._answers.outlives_visit
        request = replace(request, max_bytes=max(limit, request.cached_body_bytes) if reads_more_for_cache else limit)
        if not request.is_kept:
            return self._request(request)
        # Requests without the credentials must not get the private response.
        private = self._with_credentials(request)
        key = answer_key(private)
        requirements = AnswerRequirements(limit, request.verify, is_private=private is not request)
        if request.reuse is Reuse.ALLOWED:
            max_wait_s = self._deadline.within(request.timeout_s or self.limits.total_s).check()
            return self._answers.answer(key, requirements, functools.partial(self._request, request), max_wait_s)
        if (cached := self._answers.find_from_earlier_visit(key, requirements)) is not None:
            return cached
        response = self._request(request)
        self._answers.store_beginning(key, response, is_private=requirements.is_private)
        return response

    def follow(self, request: Request | Target | str) -> tuple[Response, ...]:
        """Fetch a URL with redirects, and return the responses of all hops.

        Each hop is checked like the first. Raises TooManyRedirects, and the errors of `fetch`.
        """
        hop: Request | None = self._with_parsed_target(request)
        trail = Trail()
        responses: list[Response] = []
        while hop is not None:
            if len(responses) > self.limits.redirects:
                raise TooManyRedirects(f"The site redirects more than {self.limits.redirects} times.")
            response = self.fetch(trail.add_cookies(hop))
            responses.append(response)
            trail.store_cookies(hop, response)
            hop = next_request(hop, response)
        return tuple(responses)

    def _with_parsed_target(self, request: Request | Target | str) -> Request:
        """Return the request with its URL parsed and checked.

        Raises InvalidUrl or Blocked.
        """
        if not isinstance(request, Request):
            request = Request(request)
        if isinstance(request.url, Target):
            return request
        return replace(request, url=parse_target(request.url, self.policy))

    def _with_credentials(self, request: Request) -> Request:
        """Return the request with its origin's credentials.

        Unchanged if its origin has no credentials.
        """
        if self.credentials is None or not request.with_credentials:
            return request
        headers = self.credentials.add_to_headers(request.headers, request.target.origin)
        return request if headers is request.headers else replace(request, headers=headers)

    def _request(self, request: Request) -> Response:
        target = request.target
        self._meter.request(target.host)
        self._count_shared_request(target.host, target.port)
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
        # The server's identity is unknown, so the request has no credentials.
        response = self._exchange(request, deadline, Trust.NONE)
        assert response.tls is not None
        return replace(response, tls=replace(response.tls, trust_error=self._distrusted[origin]))

    # The pooled connections call `open_connection` and `register`.

    def open_connection(self, exchange: Exchange, host: str, port: int) -> tuple[GuardedSocket, str]:
        """Open a connection for an HTTP exchange.

        The time limit for connecting applies.
        """
        return self._dialer.open(host, port, exchange.deadline.within(self.limits.connect_s))

    def register(self, connection: GuardedTlsSocket) -> None:
        """Register a connection, so that `close` ends the connection."""
        self._dialer.register(connection)

    def _adapter(self, trust: Trust) -> GuardedAdapter:
        with self._lock:
            if trust not in self._adapters:
                context = functools.partial(tls_context, self.policy.ca_bundle, trust)
                self._adapters[trust] = GuardedAdapter(self, self._current, self.limits, context)
            return self._adapters[trust]

    def _exchange(self, request: Request, deadline: Deadline, trust: Trust) -> Response:
        target = request.target
        exchange = Exchange(
            deadline, self.limits, self._meter, target.path, needs_new_connection=request.method not in IDEMPOTENT
        )
        try:
            return self._send(request, trust, exchange)
        except NoAnswer:
            if not exchange.is_connection_reused:
                raise NotReachable(f"{target.host} closed the connection without an answer.") from None
        # Servers may close a kept-alive connection at any time.
        self._count_shared_request(target.host, target.port)
        exchange = Exchange(deadline, self.limits, self._meter, target.path, needs_new_connection=True)
        try:
            return self._send(request, trust, exchange)
        except NoAnswer:
            raise NotReachable(f"{target.host} closed the connection without an answer.") from None

    def _send(self, request: Request, trust: Trust, exchange: Exchange) -> Response:
        target, max_bytes = request.target, request.max_bytes or 0
        prepared = prepare_request(request, self.policy.user_agent)
        begin = time.monotonic()
        self._current.value = exchange
        with self._dialer.until_closed(), named_errors(target.host):
            adapter = self._adapter(trust)
            message = adapter.send(prepared, stream=True).raw
            ttfb_s = time.monotonic() - exchange.sent_at
            assert isinstance(message, LenientResponse)
            head = message.head
            is_message_complete = False
            try:
                exchange.start_reading_body()
                # Compressed data may be a little longer than the decoded content.
                max_wire_bytes = (
                    max_bytes + MAX_COMPRESSION_OVERHEAD_BYTES if "Content-Encoding" in head.headers else max_bytes
                )
                body = read_body(message.fp, message.frame, min(max_wire_bytes, self.limits.body_bytes))
                is_message_complete = body.is_message_complete
            finally:
                adapter.release(message, is_reusable=is_message_complete and not message.will_close)
        content, has_more_content = body.content, False
        limit = min(max_bytes, self.limits.decoded_bytes)
        if request.decode:
            content, has_more_content = decode(content, head.headers.get("Content-Encoding"), limit)
        elif len(content) > limit:
            content, has_more_content = content[:limit], True
        return Response(
            url=target.url,
            status=head.status,
            headers=head.headers,
            body=content,
            reason=head.reason,
            http_version=head.version,
            method=prepared.method or "GET",
            truncated=body.is_cut or has_more_content,
            header_bytes=head.size_bytes,
            body_wire_bytes=len(body.content),
            address=exchange.address,
            connect_s=exchange.connect_s,
            ttfb_s=ttfb_s,
            total_s=time.monotonic() - begin,
            tls=TlsSession(exchange.tls_version, exchange.tls_cipher) if target.is_https else None,
        )
