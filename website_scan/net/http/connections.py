"""Adapter for `requests` with guarded connections.

The network guard opens all connections.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import http.client
import re
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
from website_scan.net.errors import Http2Only, TimedOut, TlsFailed, Untrusted
from website_scan.net.http.decoding import ACCEPT_ENCODING
from website_scan.net.http.messages import LenientResponse
from website_scan.net.http.request import Request
from website_scan.net.targets import Target
from website_scan.net.tls.roots import additional_roots

# Maximum number of idle connections, more than a scan's probes open.
MAX_IDLE_CONNECTIONS = 100

# Python's ssl module has this constant only since version 3.12.
OP_LEGACY_SERVER_CONNECT = 0x4


class Trust(enum.Enum):
    """Requirements for a server's TLS version and certificate.

    A scan must be able to load a site with outdated TLS or a bad certificate, to report the fault. Without trust, the
    scan sends no credentials.
    """

    STRICT = enum.auto()  # OpenSSL's default requirements apply.
    LENIENT = enum.auto()  # Outdated TLS is allowed, but the certificate must be trusted.
    NONE = enum.auto()  # Any certificate is accepted.


@functools.lru_cache(maxsize=24)
def tls_context(ca_bundle: Path | None, trust: Trust) -> ssl.SSLContext:
    """Return a client's TLS settings.

    It trusts the certificates of the system, certifi and the operator.
    """
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
        context.hostname_checks_common_name = False  # Browsers ignore the common name, too (RFC 9525, section 6.1).
        context.load_default_certs()
        if more := additional_roots():
            context.load_verify_locations(cadata=b"".join(more))
        if ca_bundle is not None:
            context.load_verify_locations(ca_bundle)
    return context


class Opener(Protocol):
    """Interface through which the network opens connections."""

    def open_connection(self, exchange: Exchange, host: str, port: int) -> tuple[GuardedSocket, str]:
        """Open a connection to the host.

        Returns the connection and the peer's address. Raises a NetError.
        """

    def register(self, connection: GuardedTlsSocket) -> None:
        """Register a TLS connection.

        It replaces the TCP connection from `open_connection`.
        """


class CurrentExchange(threading.local):
    """Current HTTP exchange of each thread.

    This object is the guard of the pooled connections. The guard can't be the exchange itself, because pooled
    connections are used for several exchanges.
    """

    value: Exchange

    def timeout_s(self) -> float:
        """Return the remaining seconds of this thread's exchange.

        See `Guard`.
        """
        return self.value.timeout_s()

    def received(self, count: int) -> None:
        """Count received bytes for this thread's exchange.

        See `Guard`.
        """
        self.value.received(count)


# TLS sessions by server (scheme, host, port). They belong to one visit and one `Trust`.
_Sessions = dict[tuple[str, str, int], ssl.SSLSession]


class TargetedRequest(requests.PreparedRequest):
    """Prepared request with its parsed target.

    Thus no second parser can determine another host.
    """

    target: Target


class GuardedAdapter(HTTPAdapter):
    """Adapter for `requests` that keeps connections alive.

    It connects only through `opener`. The adapter is used without a `requests.Session`, which would read proxies and
    credentials from the environment, keep cookies, and read the body of a redirect without a limit. It keeps
    connections of urllib3 itself: with urllib3's pool and responses, a request took twice as long (ADR 4).
    """

    def __init__(
        self, opener: Opener, current: CurrentExchange, limits: Limits, context: Callable[[], ssl.SSLContext]
    ) -> None:
        super().__init__()
        self._opener, self._current, self._limits = opener, current, limits
        self._make_context = context
        self._context: ssl.SSLContext | None = None
        self._lock = threading.Lock()
        self._idle_connections: list[_GuardedConnection] = []
        self._sessions: _Sessions = {}
        self._is_closed = False

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Send a request and read the head of its response.

        The caller must pass the response's `raw` to `release`.
        """
        assert isinstance(request, TargetedRequest)
        connection = self._get_connection(request.target)
        response = requests.Response()
        try:
            response.raw = connection.exchange(request)
        except BaseException:
            connection.close()
            raise
        return response

    def release(self, message: LenientResponse, *, is_reusable: bool) -> None:
        """Keep a response's connection alive for later requests.

        Closes the connection if it is not reusable.
        """
        connection = dropped = message.connection
        connection.store_tls_session()
        message.close()
        with self._lock:
            if is_reusable and not self._is_closed:
                self._idle_connections.append(connection)
                dropped = self._idle_connections.pop(0) if len(self._idle_connections) > MAX_IDLE_CONNECTIONS else None
        if dropped is not None:
            dropped.close()

    def close(self) -> None:
        """Close all idle connections, and stop keeping connections alive."""
        with self._lock:
            self._is_closed, idle, self._idle_connections = True, self._idle_connections, []
        for connection in idle:
            connection.close()

    def _get_connection(self, target: Target) -> _GuardedConnection:
        """Return a connection to the target.

        The most recently used open connection, or else a new one.
        """
        server_key = (target.scheme, target.host, target.port)
        while True:
            with self._lock:
                connections = reversed(self._idle_connections)
                connection = next((idle for idle in connections if idle.server_key == server_key), None)
                if connection is None:
                    break
                self._idle_connections.remove(connection)
            if connection.is_connected:
                return connection
            connection.close()
        if target.is_https:
            return _GuardedTlsConnection(self._sessions, target, self._opener, self._current, self._limits, self._tls())
        return _GuardedConnection(target, self._opener, self._current, self._limits)

    def _tls(self) -> ssl.SSLContext:
        """Return the TLS context of all connections.

        Created at first use, because loading the roots takes 20 ms.
        """
        with self._lock:
            if self._context is None:
                self._context = self._make_context()
            return self._context


def prepare_request(request: Request, user_agent: str) -> TargetedRequest:
    """Prepare a request for sending, with default headers."""
    defaults = {
        "Host": request.target.address.host_and_port,
        "User-Agent": user_agent,
        "Accept": "*/*",
        "Accept-Encoding": ACCEPT_ENCODING,
    }
    replaced = {name.lower() for name in request.headers}
    remaining = {name: value for name, value in defaults.items() if name.lower() not in replaced}
    prepared = TargetedRequest()
    prepared.target, prepared.url = request.target, request.target.url
    prepared.prepare_method(request.method)
    prepared.prepare_headers(remaining | dict(request.headers))
    prepared.prepare_body(request.body, None)
    return prepared


class _GuardedConnection(HTTPConnection):
    """HTTP connection that the network guard opens.

    A connection of urllib3, reused for several requests.
    """

    def __init__(self, target: Target, opener: Opener, current: CurrentExchange, limits: Limits, **tls: Any) -> None:
        super().__init__(target.host, target.port, timeout=None, **tls)
        self.response_class = functools.partial(LenientResponse, limits.header_bytes)  # type: ignore[assignment]  # only called
        self.server_key = (target.scheme, target.host, target.port)
        self._opener = opener
        self._current = current
        self._address = self._tls_version = self._tls_cipher = ""

    def store_tls_session(self) -> None:
        """Store the TLS session, if there is any.

        Handshakes of later connections are then shorter.
        """

    def exchange(self, request: TargetedRequest) -> LenientResponse:
        """Send a request and read the head of its response."""
        exchange = self._current.value
        _begin_exchange(self, exchange)
        exchange.address = self._address
        exchange.tls_version, exchange.tls_cipher = self._tls_version, self._tls_cipher
        # urllib3's methods do more than needed.
        body, headers = request.body, request.headers
        # Servers may respond early, such as with 413, and close the connection.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            http.client.HTTPConnection.request(self, request.method or "", exchange.request_path, body, headers)
        message = http.client.HTTPConnection.getresponse(self)
        assert isinstance(message, LenientResponse)
        message.connection = self
        return message

    def _new_conn(self) -> GuardedSocket:
        exchange = self._current.value
        exchange.start_connecting()
        begin = time.monotonic()
        opened, self._address = self._opener.open_connection(exchange, self.host, self.port)
        exchange.connect_s = time.monotonic() - begin
        opened.guard = self._current
        return opened


class _GuardedTlsConnection(_GuardedConnection, HTTPSConnection):
    """HTTPS connection that resumes an earlier TLS session.

    This takes half the time.
    """

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

    def store_tls_session(self) -> None:
        # The session ticket of TLS 1.3 comes only after the handshake.
        if self.server_key not in self._sessions and (session := self._tls.session) is not None and session.has_ticket:
            self._sessions[self.server_key] = session

    def connect(self) -> None:
        begin = time.monotonic()
        with _Handshake(self._opener, self._current, self._sessions.get(self.server_key)):
            super().connect()
        assert isinstance(self.sock, GuardedTlsSocket)
        self._tls = self.sock  # `sock` becomes None when a response ends the connection.
        self.sock.settimeout(None)  # From now on, the guard enforces the time limit.
        self._current.value.connect_s = time.monotonic() - begin
        self._tls_version = self.sock.version() or ""
        self._tls_cipher = (self.sock.cipher() or ("",))[0]


def _begin_exchange(connection: HTTPConnection, exchange: Exchange) -> None:
    if exchange.needs_new_connection and exchange.is_connection_reused:
        connection.close()
    if connection.sock is None:
        connection.connect()
    exchange.start_sending()


class _Handshake:
    """Context manager for a TLS handshake.

    It guards the TLS socket and converts errors.
    """

    def __init__(self, opener: Opener, current: CurrentExchange, session: ssl.SSLSession | None) -> None:
        self._opener = opener
        self._current = current
        self._session = session

    def __enter__(self) -> None:
        self._token = before_handshake.set(self._guard_tls_socket)

    def _guard_tls_socket(self, connection: GuardedTlsSocket) -> None:
        connection.guard = self._current
        if self._session is not None:
            connection.session = self._session
        self._current.value.start_connecting()
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
            reason = _error_reason(error)
            if "no application protocol" in reason:
                raise Http2Only from None  # The connection offers http/1.1 only (RFC 7301, section 3.2).
            raise TlsFailed(f"The TLS handshake failed: {reason}.") from None


def _error_reason(error: ssl.SSLError) -> str:
    """Return OpenSSL's reason for the error.

    Python has no `reason` for alerts that it does not know. The error's text contains it.
    """
    text = re.fullmatch(r"\[[A-Z]+\] ([^()]+) \(_ssl\.c:\d+\)", str(error.args[-1]) if error.args else "")
    return (error.reason or (text[1] if text else "no reason given")).replace("_", " ").lower()
