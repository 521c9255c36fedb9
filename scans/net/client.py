"""The network: judged, pinned and budgeted connections, for one scan or one delivery.

Every connection, whoever asks for it, goes through `Network.connect`: resolve within a deadline, judge every
address, dial the address that was judged, check the peer. Redirects are followed here, hop by hop.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any

import requests
import urllib3

from scans.net import addresses
from scans.net.budget import Exchange, Limits, Meter
from scans.net.connections import CurrentExchange, new_session, raw_headers, trusting_context
from scans.net.deadline import Deadline, DeadlineGuard, GuardedSocket, dial
from scans.net.decoding import ACCEPT_ENCODING, decode
from scans.net.errors import BadResponse, Blocked, NotReachable, TimedOut, TlsFailed, TooManyRedirects
from scans.net.failures import Stale, connect_error, named_errors
from scans.net.policy import Policy
from scans.net.resolver import Resolver, SystemResolver
from scans.net.response import Headers, Response, TlsSession
from scans.targets import InvalidUrl, Target, parse_target

REDIRECTS = frozenset({301, 302, 303, 307, 308})
READ_BYTES = 64 * 1024
# What another origin must not see when a redirect leads there.
CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})


class Network:
    """One scan's way out. Thread-safe; `close()` ends whatever still waits in other threads.

    `resolver` and `dialer` are the seams for tests. `time_limit_s` holds for everything together.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        resolver: Resolver | None = None,
        dialer: Callable[[str, int, float], GuardedSocket] = dial,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        time_limit_s: float = 60.0,
    ) -> None:
        self.policy = policy
        self.limits = limits
        self.meter = Meter(limits)
        self._resolver = resolver or SystemResolver()
        self._dialer = dialer
        self._deadline = Deadline(time_limit_s)
        self._current = CurrentExchange()
        self._lock = threading.Lock()
        self._pins: dict[str, tuple[str, ...]] = {}
        self._resolving: dict[str, threading.Lock] = {}
        self._distrust: dict[tuple[str, int], str] = {}
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._closed = False
        self._sessions: dict[bool, requests.Session] = {}

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def remaining_s(self) -> float:
        """Seconds that this network may still be used."""
        return self._deadline.remaining_s()

    def close(self) -> None:
        """End every connection, also those that other threads wait on."""
        with self._lock:
            self._closed = True
            open_sockets = list(self._sockets)
        for each in open_sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for each_session in list(self._sessions.values()):
            each_session.close()

    def addresses(self, host: str) -> tuple[str, ...]:
        """The host's addresses, judged, and the same for the life of this network (no rebinding).

        Raises Blocked when ANY of them is not public, NotReachable when there is none.
        """
        with self._lock:
            resolving = self._resolving.setdefault(host, threading.Lock())
        with resolving:
            pinned = self._pins.get(host)
            if pinned is None:
                pinned = self._resolver.resolve(host, self._deadline.within(self.limits.connect_s))
                self._judge(host, pinned)
                self._pins[host] = pinned
        return pinned

    def connect(self, host: str, port: int, *, timeout_s: float | None = None) -> GuardedSocket:
        """A TCP connection to the host at its pinned address, whose reads and writes end with the time.

        Raises Blocked, NotReachable, TimedOut, or InvalidUrl for a port that is not allowed.
        """
        deadline = self._deadline.within(timeout_s or self.limits.connect_s)
        connection = self._dial(host, port, deadline)
        connection.guard = DeadlineGuard(self._deadline.within(timeout_s or self.limits.exchange_s))
        return connection

    def reach(self, target: Target, *, timeout_s: float = 5.0) -> None:
        """Resolve and connect, nothing more; raises Blocked, NotReachable or InvalidUrl."""
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
    ) -> Response:
        """One request and its answer, no redirects followed. `max_bytes` cuts the decoded body.

        With `verify` an untrusted certificate raises TlsFailed. Without it the certificate is tried first and
        the reason for distrust stands in `Response.tls`. Raises any NetError, or InvalidUrl.
        """
        target = url if isinstance(url, Target) else parse_target(url, self.policy)
        self.meter.request(target.host)
        if max_bytes is None:
            max_bytes = self.limits.decoded_bytes
        deadline = self._deadline.within(timeout_s or self.limits.exchange_s)
        deadline.check()
        request = self._request(method, target, headers or {}, data)
        origin = (target.host, target.port)
        if verify or not target.is_https:
            return self._exchange(target, request, deadline, max_bytes, decode)
        if origin not in self._distrust:
            try:
                return self._exchange(target, request, deadline, max_bytes, decode)
            except TlsFailed as error:
                reason = str(error)
            response = self._exchange(target, request, deadline, max_bytes, decode, distrust=reason)
            self._distrust[origin] = reason
            return response
        return self._exchange(target, request, deadline, max_bytes, decode, distrust=self._distrust[origin])

    def follow(
        self,
        url: str | Target,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout_s: float | None = None,
        verify: bool = True,
    ) -> tuple[Response, ...]:
        """Fetch and follow redirects, judging every hop like the first. The last response is final.

        Cookies that a hop sets are sent to the following hops on the same host, as some sites redirect to
        themselves until they are. Raises TooManyRedirects, and whatever `fetch` does.
        """
        target = url if isinstance(url, Target) else parse_target(url, self.policy)
        sent = dict(headers or {})
        cookies: dict[str, dict[str, str]] = {}
        hops: list[Response] = []
        seen = set()
        while True:
            own_cookies = "; ".join(f"{name}={value}" for name, value in cookies.get(target.host, {}).items())
            if (target.url, own_cookies) in seen:
                raise TooManyRedirects(f"The site redirects in a loop: {target.url} leads back to itself.")
            seen.add((target.url, own_cookies))
            own = sent | ({"Cookie": own_cookies} if own_cookies else {})
            response = self.fetch(
                target, headers=own, max_bytes=max_bytes, timeout_s=timeout_s, verify=verify
            )
            hops.append(response)
            location = response.headers.all("Location")
            if response.status not in REDIRECTS or not location:
                return tuple(hops)
            if len(hops) > self.limits.redirects:
                raise TooManyRedirects(f"The site redirects more than {self.limits.redirects} times.")
            _keep_cookies(response, cookies.setdefault(target.host, {}))
            following = _next_hop(target, location[0])
            if following.origin != target.origin:
                sent = {name: value for name, value in sent.items() if name.lower() not in CREDENTIALS}
            target = following

    def _judge(self, host: str, found: tuple[str, ...]) -> None:
        own = addresses.own_addresses()
        for each in found:
            reason = addresses.refusal(ip_address(each), self.policy.allowed_networks, own)
            if reason:
                raise Blocked(f"{host} is not publicly accessible: {reason}.")

    def _dial(self, host: str, port: int, deadline: Deadline) -> GuardedSocket:
        if self._closed:
            raise TimedOut("The scan has ended.")
        pinned = self.addresses(host)
        if port not in self.policy.allowed_ports and not self._is_exempt(pinned):
            raise InvalidUrl(f"Port {port} is not allowed here.")
        error: OSError | None = None
        for position, address in enumerate(pinned):
            share_s = deadline.check() / (len(pinned) - position)
            try:
                connection = self._dialer(address, port, share_s)
            except OSError as failure:
                error = failure
                continue
            self._check_peer(connection, address)
            self._register(connection)
            return connection
        raise connect_error(host, port, error)

    def _is_exempt(self, pinned: tuple[str, ...]) -> bool:
        return all(addresses.is_exempt(ip_address(each), self.policy.allowed_networks) for each in pinned)

    def _check_peer(self, connection: GuardedSocket, address: str) -> None:
        peer = ip_address(connection.getpeername()[0].partition("%")[0])
        if peer != ip_address(address):
            connection.close()
            raise Blocked("The connection did not lead to the address that was judged.")

    def _register(self, connection: Any) -> None:
        with self._lock:
            self._sockets.add(connection)

    def _request(
        self, method: str, target: Target, headers: Mapping[str, str], data: bytes | None
    ) -> requests.PreparedRequest:
        own = {
            "User-Agent": self.policy.user_agent,
            "Accept": "*/*",
            "Accept-Encoding": ACCEPT_ENCODING,
            **headers,
        }
        prepared = requests.Request(method, target.origin, headers=own, data=data).prepare()
        prepared.url = target.url  # the canonical form, not requests' own idea of it
        return prepared

    def _session(self, verify: bool) -> requests.Session:
        with self._lock:
            if verify not in self._sessions:
                self._sessions[verify] = new_session(
                    lambda host, port: self._dial(
                        host, port, self._current.value.deadline.within(self.limits.connect_s)
                    ),
                    self._register,
                    self._current,
                    trusting_context(self.policy.ca_bundle, verify=verify),
                )
            return self._sessions[verify]

    def _exchange(
        self,
        target: Target,
        request: requests.PreparedRequest,
        deadline: Deadline,
        max_bytes: int,
        decode: bool,
        distrust: str | None = None,
    ) -> Response:
        wire_limit = min(max_bytes, self.limits.body_bytes)
        for _ in range(2):
            exchange = self._current.value = Exchange(deadline, self.limits, self.meter, wire_limit)
            try:
                with named_errors(target):
                    return self._send(target, request, exchange, max_bytes, decode, distrust)
            except Stale:
                if not exchange.is_reused:
                    raise NotReachable("The site closed the connection without an answer.") from None
        raise NotReachable("The site closes every connection without an answer.")

    def _send(
        self,
        target: Target,
        request: requests.PreparedRequest,
        exchange: Exchange,
        max_bytes: int,
        decode_body: bool,
        distrust: str | None,
    ) -> Response:
        session = self._session(verify=distrust is None)
        begin = time.monotonic()
        sent = session.send(request, stream=True, allow_redirects=False)
        raw = sent.raw
        try:
            ttfb_s = time.monotonic() - begin - exchange.connect_s
            exchange.headers_done()
            lines = raw_headers(raw)
            header_bytes = sum(len(name) + len(value) + 4 for name, value in lines)
            if header_bytes > self.limits.header_bytes:
                raise BadResponse("The response's headers are larger than any browser would take.")
            headers = Headers(lines)
            wire, is_cut = _read(raw, min(max_bytes, self.limits.body_bytes))
            body, more = (
                decode(wire, headers.get("Content-Encoding"), max_bytes) if decode_body else (wire, False)
            )
            tls = TlsSession(exchange.tls_version, exchange.tls_cipher, distrust) if target.is_https else None
            return Response(
                url=target.url,
                status=raw.status,
                headers=headers,
                body=body[:max_bytes],
                reason=raw.reason or "",
                http_version={10: "1.0", 11: "1.1"}.get(raw.version, str(raw.version)),
                method=request.method or "GET",
                truncated=is_cut or more,
                header_bytes=header_bytes,
                body_wire_bytes=len(wire),
                address=exchange.address,
                connect_s=exchange.connect_s,
                ttfb_s=ttfb_s,
                total_s=time.monotonic() - begin,
                tls=tls,
            )
        finally:
            # A body that was not read to its end would have to be, before the connection could be used again.
            if raw._fp is not None and not raw._fp.isclosed():
                raw.close()
            sent.close()


def _read(raw: urllib3.response.BaseHTTPResponse, limit: int) -> tuple[bytes, bool]:
    """The body as it came, at most `limit` bytes, and whether it was cut off, here or by the server."""
    chunks: list[bytes] = []
    size = 0
    try:
        for chunk in raw.stream(READ_BYTES, decode_content=False):
            chunks.append(chunk[: limit - size])
            size += len(chunk)
            if size > limit:
                return b"".join(chunks), True
    except (urllib3.exceptions.ProtocolError, http.client.HTTPException, ConnectionError, ssl.SSLError):
        # Browsers show what came before the connection broke.
        return b"".join(chunks), True
    return b"".join(chunks), False


def _keep_cookies(response: Response, jar: dict[str, str]) -> None:
    for line in response.headers.all("Set-Cookie"):
        pair, _, attributes = line.partition(";")
        name, _, value = pair.strip().partition("=")
        jar.pop(name, None)
        if name and "max-age=0" not in attributes.lower():
            jar[name] = value


def _next_hop(target: Target, location: str) -> Target:
    try:
        # Header text is latin-1 to Python; browsers take its bytes for UTF-8.
        location = location.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return target.join(location)
    except InvalidUrl as error:
        raise BadResponse(f"The site redirects to an address that can't be used. {error}") from None
