"""Adapter for `requests` that opens connections through the guard only; name, SNI and certificate check stay intact."""

from __future__ import annotations

import contextlib
import enum
import functools
import http.client
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection

from website_scan.net.budget import Exchange, Limits
from website_scan.net.deadline import GuardedSocket, GuardedTlsSocket, before_handshake
from website_scan.net.errors import TimedOut, TlsFailed, Untrusted
from website_scan.net.http.decoding import ACCEPT_ENCODING
from website_scan.net.http.messages import LenientResponse
from website_scan.net.http.request import Request
from website_scan.net.targets import Target
from website_scan.net.tls.roots import additional_roots

# Number of connections kept alive: more than the probes of a scan, which run concurrently, open.
MAX_IDLE = 100

# Python's ssl module has this constant since 3.12.
OP_LEGACY_SERVER_CONNECT = 0x4


class Trust(enum.Enum):
    """Requirements for a server's TLS.

    A scan must be able to load a site with outdated TLS or a bad certificate, to report it. Without trust it sends no
    secrets.
    """

    STRICT = enum.auto()  # OpenSSL's defaults
    LENIENT = enum.auto()  # also outdated versions and ciphers, but only a trusted certificate
    NONE = enum.auto()  # any certificate


@functools.lru_cache(maxsize=24)
def tls_context(ca_bundle: Path | None, trust: Trust) -> ssl.SSLContext:
    """Return a client's TLS settings. Trusts the certificates of the system, of certifi and of the operator."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = GuardedTlsSocket
    if trust is not Trust.STRICT:
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.options |= OP_LEGACY_SERVER_CONNECT
    if trust is Trust.NONE:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.hostname_checks_common_name = False  # as in browsers (RFC 9525, section 6.1)
        context.load_default_certs()
        if more := additional_roots():
            context.load_verify_locations(cadata=b"".join(more))
        if ca_bundle is not None:
            context.load_verify_locations(ca_bundle)
    return context


class Opener(Protocol):
    """Protocol of the network as the connections use it."""

    def open_for(self, exchange: Exchange, host: str, port: int) -> tuple[GuardedSocket, str]:
        """Open a connection to the host. Returns it with the address it leads to; raises a NetError."""

    def register(self, connection: GuardedTlsSocket) -> None:
        """Remember a connection that replaces the one from `open_for`."""


class CurrentExchange(threading.local):
    """The current exchange of this thread: an exchange never changes its thread.

    It is the guard of every pooled connection, because connections outlive the exchange that they were opened for.
    """

    value: Exchange

    def timeout_s(self) -> float:
        """Return the time left for the current exchange; see `Guard`."""
        return self.value.timeout_s()

    def received(self, count: int) -> None:
        """Count received bytes for the current exchange; see `Guard`."""
        self.value.received(count)


# The TLS session of each server (scheme, host, port), whose certificate was checked when it began. They belong to one
# adapter, so to one visit and one trust.
_Sessions = dict[tuple[str, str, int], ssl.SSLSession]


class TargetedRequest(requests.PreparedRequest):
    """A request with its parsed target, so that no second parser decides on its host."""

    target: Target


class GuardedAdapter(HTTPAdapter):
    """A `requests` adapter that connects through `opener` only, and keeps connections alive.

    It is used without a `requests.Session`, which would read proxies and credentials from the environment, keep
    cookies, and read the body of a redirect without a limit. It keeps connections of urllib3 itself: with urllib3's
    pool and responses, a request took twice as long (ADR 4).
    """

    def __init__(
        self, opener: Opener, current: CurrentExchange, limits: Limits, context: Callable[[], ssl.SSLContext]
    ) -> None:
        super().__init__()
        self._opener, self._current, self._limits = opener, current, limits
        self._make_context = context
        self._context: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        self._idle: list[_Guarded] = []
        self._sessions: _Sessions = {}
        self._is_closed = False

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Send a request and read the head of its response, `raw`, which `release` must get afterwards."""
        assert isinstance(request, TargetedRequest)
        connection = self._take(request.target)
        response = requests.Response()
        try:
            response.raw = connection.exchange(request)
        except BaseException:
            connection.close()
            raise
        return response

    def release(self, message: LenientResponse, *, is_reusable: bool) -> None:
        """Keep the connection of a response for later requests. Close it unless the whole message was read."""
        connection = dropped = message.connection
        connection.keep_session()
        message.close()
        with self._lock:
            if is_reusable and not self._is_closed:
                self._idle.append(connection)
                dropped = self._idle.pop(0) if len(self._idle) > MAX_IDLE else None
        if dropped is not None:
            dropped.close()

    def close(self) -> None:
        """Close all connections that carry no request, and keep none from now on."""
        with self._lock:
            self._is_closed, idle, self._idle = True, self._idle, []
        for each in idle:
            each.close()

    def _take(self, target: Target) -> _Guarded:
        """Return the connection to the target that was used last and is still open, else a new one."""
        leads_to = (target.scheme, target.host, target.port)
        while True:
            with self._lock:
                kept = next((each for each in reversed(self._idle) if each.leads_to == leads_to), None)
                if kept is None:
                    break
                self._idle.remove(kept)
            if kept.is_connected:
                return kept
            kept.close()
        if target.is_https:
            return _GuardedTls(self._sessions, target, self._opener, self._current, self._limits, self._tls())
        return _Guarded(target, self._opener, self._current, self._limits)

    def _tls(self) -> ssl.SSLContext:
        """Return the context of all connections, made for the first: its roots take 20 ms, and HTTP needs none."""
        with self._lock:
            if self._context is None:
                self._context = self._make_context()
            return self._context


def targeted(request: Request, user_agent: str) -> TargetedRequest:
    """Prepare a request for the connections."""
    own = {
        "Host": request.target.address.host_and_port,
        "User-Agent": user_agent,
        "Accept": "*/*",
        "Accept-Encoding": ACCEPT_ENCODING,
    }
    given = {name.lower() for name in request.headers}
    kept = {name: value for name, value in own.items() if name.lower() not in given}
    prepared = TargetedRequest()
    prepared.target, prepared.url = request.target, request.target.url
    prepared.prepare_method(request.method)
    prepared.prepare_headers(kept | dict(request.headers))
    prepared.prepare_body(request.body, None)
    return prepared


class _Guarded(HTTPConnection):
    """A connection of urllib3 that is opened by the guard and carries one request after the other."""

    def __init__(self, target: Target, opener: Opener, current: CurrentExchange, limits: Limits, **tls: Any) -> None:
        super().__init__(target.host, target.port, timeout=None, **tls)
        self.response_class = functools.partial(LenientResponse, limits.header_bytes)  # type: ignore[assignment]  # only called
        self.leads_to = (target.scheme, target.host, target.port)
        self._opener = opener
        self._current = current
        self._address = self._tls_version = self._tls_cipher = ""

    def keep_session(self) -> None:
        """Keep what makes later handshakes with the server shorter, if there is any."""

    def exchange(self, request: TargetedRequest) -> LenientResponse:
        """Send a request and read the head of its response."""
        exchange = self._current.value
        _begin(self, exchange)
        exchange.address = self._address
        exchange.tls_version, exchange.tls_cipher = self._tls_version, self._tls_cipher
        # Not urllib3's methods of these names, which prepare and wrap what nobody here needs.
        body, headers = request.body, request.headers
        # A server that answers early, such as with 413, may close while the body is still sent: its answer counts.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            http.client.HTTPConnection.request(self, request.method or "", exchange.request_path, body, headers)
        message = http.client.HTTPConnection.getresponse(self)
        assert isinstance(message, LenientResponse)
        message.connection = self
        return message

    def _new_conn(self) -> GuardedSocket:
        exchange = self._current.value
        exchange.connecting()
        begin = time.monotonic()
        opened, self._address = self._opener.open_for(exchange, self.host, self.port)
        exchange.connect_s = time.monotonic() - begin
        opened.guard = self._current
        return opened


class _GuardedTls(_Guarded, HTTPSConnection):
    """The same over TLS. Later connections resume the session of the first, which takes half the time."""

    def __init__(
        self,
        sessions: _Sessions,
        target: Target,
        opener: Opener,
        current: CurrentExchange,
        limits: Limits,
        context: ssl.SSLContext,
    ) -> None:
        super().__init__(target, opener, current, limits, ssl_context=context)
        self._sessions = sessions

    def keep_session(self) -> None:
        # In TLS 1.3 the ticket comes after the handshake, so it is there once a response has been read.
        if self.leads_to not in self._sessions and (session := self._tls.session) is not None and session.has_ticket:
            self._sessions[self.leads_to] = session

    def connect(self) -> None:
        begin = time.monotonic()
        with _Handshake(self._opener, self._current, self._sessions.get(self.leads_to)):
            super().connect()
        assert isinstance(self.sock, GuardedTlsSocket)
        self._tls = self.sock  # `sock` is None as soon as a response has begun that ends the connection
        self.sock.settimeout(None)  # remove the handshake's time-out; from here on the guard decides
        self._current.value.connect_s = time.monotonic() - begin
        self._tls_version = self.sock.version() or ""
        self._tls_cipher = (self.sock.cipher() or ("",))[0]


def _begin(connection: HTTPConnection, exchange: Exchange) -> None:
    if exchange.is_fresh and exchange.is_reused:
        connection.close()
    if connection.sock is None:
        connection.connect()
    exchange.sending()


class _Handshake:
    """Guard the TLS socket from its first byte on, and translate errors of the handshake."""

    def __init__(self, opener: Opener, current: CurrentExchange, session: ssl.SSLSession | None) -> None:
        self._opener = opener
        self._current = current
        self._session = session

    def __enter__(self) -> None:
        self._token = before_handshake.set(self._adopt)

    def _adopt(self, connection: GuardedTlsSocket) -> None:
        connection.guard = self._current
        if self._session is not None:
            connection.session = self._session
        self._current.value.connecting()
        self._opener.register(connection)

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        before_handshake.reset(self._token)
        if isinstance(error, ssl.SSLCertVerificationError):
            raise Untrusted(error.verify_message.rstrip(".")) from None
        if isinstance(error, TimeoutError):
            raise TimedOut("The TLS handshake took too long.") from None
        if isinstance(error, ssl.SSLEOFError | ConnectionError):
            raise TlsFailed("The server closed the connection during the TLS handshake.") from None
        if isinstance(error, ssl.SSLError):
            raise TlsFailed(f"The TLS handshake failed: {_reason(error)}.") from None


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or "no reason given").replace("_", " ").lower()
