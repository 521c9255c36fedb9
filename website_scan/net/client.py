"""HTTP client and network of one scan or one delivery: checked, pinned and budgeted connections.

The `Dialer` opens every connection. Redirects are followed here, hop by hop.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Mapping

from website_scan.net.budget import Exchange, Limits, Meter, Meters, SharedBudget
from website_scan.net.credentials import OriginCredentials
from website_scan.net.deadline import Deadline, GuardedSocket, GuardedTlsSocket, dial
from website_scan.net.dialer import Dial, Dialer
from website_scan.net.dns_records import DnsAnswer, Lookup, SystemLookup
from website_scan.net.errors import NotReachable, TimedOut, TooManyRedirects, Untrusted
from website_scan.net.failures import NoAnswer, named_errors
from website_scan.net.http.answers import Answers, Reuse, Wish, key_of
from website_scan.net.http.connections import (
    CurrentExchange,
    GuardedAdapter,
    TargetedRequest,
    Trust,
    targeted,
    tls_context,
)
from website_scan.net.http.decoding import decode
from website_scan.net.http.messages import LenientResponse, read_body
from website_scan.net.http.redirects import Hop, Trail, with_referrer
from website_scan.net.http.response import Response, TlsSession
from website_scan.net.policy import Policy
from website_scan.net.resolver import Resolver, SystemResolver
from website_scan.net.targets import Target, parse_target

DEFAULT_LIMITS = Limits()
# Idempotent methods: requests that may be sent twice (RFC 9110, section 9.2.2). Others get a connection of their own.
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
PACKING_BYTES = 1024


class Network:
    """Network access of one scan. Thread-safe; `close()` ends everything that still waits in other threads.

    `resolver`, `lookup` and `dialer` are the seams for tests; a dialer takes address, port and seconds, and returns a
    connected socket or raises OSError. `time_limit_s` is the limit for everything together. `answers` may outlive the
    network: an answer from it costs no request. `credentials` are sent only if a request asks for them
    (`with_credentials`), only to their own origin, redirects included, and never if the certificate is not trusted.
    `shared` counts every request and connection, beside the limits of this network.
    """

    def __init__(
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
        """End every connection, also those that other threads wait on. No connection can be opened afterwards."""
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
        """Return the seconds for which this network may still be used."""
        return self._deadline.remaining_s()

    @property
    def requests(self) -> int:
        """Return the number of requests so far, redirects included."""
        return self._meter.requests

    @property
    def refused(self) -> tuple[tuple[str, str], ...]:
        """Return the hosts and addresses of the connections that the guard has refused so far. Not for strangers."""
        return tuple(self._dialer.refused)

    @property
    def received_bytes(self) -> int:
        """Return the bytes received so far, headers included, without the overhead of TLS."""
        return self._meter.received_bytes

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the host's addresses, checked for a port. They never change for this network (no DNS rebinding).

        Raises Blocked if ANY of them may not be contacted on that port, NotReachable if there is none, TimedOut, or
        InvalidUrl for a port that is not allowed.
        """
        return self._dialer.addresses(host, port, self._deadline.within(self.limits.connect_s))

    def records(self, name: str, record_type: str) -> DnsAnswer:
        """Return DNS records such as TXT or CAA as text; empty if there are none. Raises NotReachable, TimedOut."""
        return self._lookup.lookup(name, record_type, self._deadline.within(self.limits.connect_s))

    def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> GuardedSocket:
        """Open a TCP connection to the host at its pinned address.

        `timeout_s` limits opening it and, again, using it; the caller may set a shorter time-out on the socket. Raises
        Blocked, NotReachable, TimedOut, BudgetExceeded, or InvalidUrl for a port that is not allowed.
        """
        self._count(host, port)
        connection, _ = self._dialer.open(host, port, self._deadline.within(timeout_s or self.limits.connect_s))
        connection.guard = Meters(self._deadline.within(timeout_s or self.limits.total_s), self._meter)
        return connection

    def tunnel(self, target: Target, meter: Meter) -> GuardedSocket:
        """Open a connection for the browser's bytes, with a budget of its own, until this network's time is up.

        Raises Blocked, NotReachable, TimedOut, BudgetExceeded, or InvalidUrl for a port that is not allowed.
        """
        meter.request(target.host)
        self._count(target.host, target.port)
        connection, _ = self._dialer.open(target.host, target.port, self._deadline.within(self.limits.connect_s))
        connection.guard = Meters(self._deadline, meter)
        return connection

    def count_in_tunnel(self, host: str, port: int) -> None:
        """Count a request that the browser sends through a tunnel. Raises BudgetExceeded. Never waits for a name."""
        if self._shared is not None:
            self._shared.request(host, port, self._dialer.known_addresses(host, port))

    def _count(self, host: str, port: int) -> None:
        """Count a request in the shared budget. Raises BudgetExceeded, and the errors of `addresses`."""
        if self._shared is not None:
            self._shared.request(host, port, self.addresses(host, port))

    def reach(self, target: Target, *, timeout_s: float = 5.0) -> None:
        """Resolve and connect, nothing more. Raises Blocked, NotReachable or InvalidUrl."""
        try:
            self.connect(target.host, target.port, timeout_s=timeout_s).close()
        except TimedOut as error:
            raise NotReachable(str(error)) from None

    def fetch(
        self,
        url: str | Target,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
        max_bytes: int | None = None,
        timeout_s: float | None = None,
        verify: bool = True,
        decode: bool = True,
        with_credentials: bool = False,
        reuse: Reuse = Reuse.NEVER,
        kept_bytes: int = 0,
    ) -> Response:
        """Send one request and return its response. Does not follow redirects.

        `max_bytes` cuts the body, compressed or not. With `verify`, an untrusted certificate raises Untrusted. Without
        it, the certificate is checked first and `Response.tls` says why it is not trusted; outdated TLS versions are
        allowed, too. Without `decode` the body stays as it was sent, still compressed. Set `with_credentials` for the
        page and its resources; requests for resources that everybody can see go without. A reusable response also
        serves other requests for the same, now or later, for as many bytes or fewer; in an audit, up to `kept_bytes`
        are read for them. Raises any NetError, or InvalidUrl.
        """
        target = url if isinstance(url, Target) else parse_target(url, self.policy)
        limit = self.limits.decoded_bytes if max_bytes is None else max_bytes
        shown = anonymous = with_referrer(headers or {}, target)
        if with_credentials and self.credentials is not None:
            shown = self.credentials.added_to(anonymous, target.origin)
        is_kept = reuse is not Reuse.NEVER and method == "GET"
        read = max(limit, kept_bytes) if is_kept and self._answers.outlive_visit else limit
        ask = functools.partial(self._ask, target, method, shown, anonymous, data, read, timeout_s, verify, decode)
        if not is_kept:
            return ask()
        # The key includes the credentials: an answer to a request with them must not go to one without.
        key = key_of(target.url, shown, decode=decode)
        wish = Wish(limit, verify, is_private=shown is not anonymous)
        if reuse is Reuse.ALLOWED:
            wait_s = self._deadline.within(timeout_s or self.limits.total_s).check()
            return self._answers.answer(key, wish, ask, wait_s)
        if (found := self._answers.of_earlier_visit(key, wish)) is not None:
            return found
        response = ask()
        self._answers.keep_beginning(key, response, is_private=wish.is_private)
        return response

    def _ask(
        self,
        target: Target,
        method: str,
        shown: Mapping[str, str],
        anonymous: Mapping[str, str],
        data: bytes | None,
        max_bytes: int,
        timeout_s: float | None,
        verify: bool,
        decode: bool,
    ) -> Response:
        self._meter.request(target.host)
        self._count(target.host, target.port)
        deadline = self._deadline.within(timeout_s or self.limits.total_s)
        deadline.check()
        send = functools.partial(
            self._exchange,
            target=target,
            request=targeted(target, method, shown, data, self.policy.user_agent),
            deadline=deadline,
            max_bytes=max_bytes,
            decode_body=decode,
        )
        if verify or not target.is_https:
            return send(trust=Trust.STRICT)
        origin = (target.host, target.port)
        if origin not in self._distrusted:
            try:
                return send(trust=Trust.LENIENT)
            except Untrusted as error:
                self._distrusted[origin] = error.reason
        # The server's identity is unknown, so it gets no credentials.
        unknown = targeted(target, method, anonymous, data, self.policy.user_agent)
        return send(request=unknown, trust=Trust.NONE, trust_error=self._distrusted[origin])

    def follow(
        self,
        url: str | Target,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
        max_bytes: int | None = None,
        timeout_s: float | None = None,
        verify: bool = True,
        decode: bool = True,
        with_credentials: bool = False,
        reuse: Reuse = Reuse.NEVER,
        kept_bytes: int = 0,
    ) -> tuple[Response, ...]:
        """Fetch a URL and follow redirects; each hop is checked like the first. The last response is the final one.

        `timeout_s` is for each hop. Raises TooManyRedirects, and the errors of `fetch`.
        """
        target = url if isinstance(url, Target) else parse_target(url, self.policy)
        hop: Hop | None = Hop(target, method, headers or {}, data)
        trail = Trail()
        responses: list[Response] = []
        while hop is not None:
            if len(responses) > self.limits.redirects:
                raise TooManyRedirects(f"The site redirects more than {self.limits.redirects} times.")
            response = self.fetch(
                hop.target,
                method=hop.method,
                headers=trail.headers_for(hop),
                data=hop.data,
                max_bytes=max_bytes,
                timeout_s=timeout_s,
                verify=verify,
                decode=decode,
                with_credentials=with_credentials,
                reuse=reuse,
                kept_bytes=kept_bytes,
            )
            responses.append(response)
            trail.keep_cookies(hop, response)
            hop = hop.next(response)
        return tuple(responses)

    # Methods for the pooled connections (`connections.Opener`).

    def open_for(self, exchange: Exchange, host: str, port: int) -> tuple[GuardedSocket, str]:
        """Open a connection for an exchange, within its time."""
        return self._dialer.open(host, port, exchange.deadline.within(self.limits.connect_s))

    def register(self, connection: GuardedTlsSocket) -> None:
        """Have `close` end this connection as well."""
        self._dialer.register(connection)

    def _adapter(self, trust: Trust) -> GuardedAdapter:
        with self._lock:
            if trust not in self._adapters:
                context = functools.partial(tls_context, self.policy.ca_bundle, trust)
                self._adapters[trust] = GuardedAdapter(self, self._current, self.limits, context)
            return self._adapters[trust]

    def _exchange(
        self,
        *,
        target: Target,
        request: TargetedRequest,
        deadline: Deadline,
        max_bytes: int,
        decode_body: bool,
        trust: Trust,
        trust_error: str | None = None,
    ) -> Response:
        is_fresh = request.method not in IDEMPOTENT
        exchange = Exchange(deadline, self.limits, self._meter, target.path, is_fresh=is_fresh)
        send = functools.partial(self._send, target, request, max_bytes, decode_body, trust, trust_error)
        try:
            return send(exchange)
        except NoAnswer:
            if not exchange.is_reused:
                raise NotReachable(f"{target.host} closed the connection without an answer.") from None
        # Servers may close a kept-alive connection at any time, so send the request again.
        self._count(target.host, target.port)
        exchange = Exchange(deadline, self.limits, self._meter, target.path, is_fresh=True)
        try:
            return send(exchange)
        except NoAnswer:
            raise NotReachable(f"{target.host} closed the connection without an answer.") from None

    def _send(
        self,
        target: Target,
        request: TargetedRequest,
        max_bytes: int,
        decode_body: bool,
        trust: Trust,
        trust_error: str | None,
        exchange: Exchange,
    ) -> Response:
        begin = time.monotonic()
        self._current.value = exchange
        with self._dialer.until_closed(), named_errors(target.host):
            adapter = self._adapter(trust)
            message = adapter.send(request, stream=True).raw
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
        if decode_body:
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
            method=request.method or "GET",
            truncated=body.is_cut or is_more,
            header_bytes=head.size_bytes,
            body_wire_bytes=len(body.content),
            address=exchange.address,
            connect_s=exchange.connect_s,
            ttfb_s=ttfb_s,
            total_s=time.monotonic() - begin,
            tls=TlsSession(exchange.tls_version, exchange.tls_cipher, trust_error) if target.is_https else None,
        )
