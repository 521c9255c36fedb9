"""Adapter for `requests` that opens connections through the guard only; name, SNI and certificate check stay intact."""

from __future__ import annotations

import enum
import functools
import logging
import ssl
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import certifi
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection

from scanner.net.budget import Exchange, Limits
from scanner.net.deadline import GuardedSocket, GuardedTlsSocket, before_handshake
from scanner.net.errors import TimedOut, TlsFailed, Untrusted
from scanner.net.http.decoding import ACCEPT_ENCODING
from scanner.net.http.messages import LenientResponse
from scanner.net.targets import Target

# Number of hosts with connections kept alive, and of connections kept alive to each. The latter is more than the probes
# of a scan, which run concurrently, open to the page's own host: urllib3 discards the rest, with a warning for each.
POOLS = 50
CONNECTIONS_PER_HOST = 32

# It would log every URL, with everything that a site has put into it.
logging.getLogger("urllib3.connectionpool").setLevel(logging.INFO)

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
        context.load_verify_locations(certifi.where())
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


class GuardedAdapter(HTTPAdapter):
    """A `requests` adapter that connects through `opener` only, and keeps connections alive.

    It is used without a `requests.Session`, which would read proxies and credentials from the environment, keep
    cookies, and read the body of a redirect without a limit.
    """

    def __init__(self, opener: Opener, current: CurrentExchange, limits: Limits, context: ssl.SSLContext) -> None:
        self._pool_classes = _pool_classes(opener, current, limits)
        self._context = context
        super().__init__(max_retries=0, pool_connections=POOLS, pool_maxsize=CONNECTIONS_PER_HOST)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        self.poolmanager = PoolManager(num_pools=connections, maxsize=maxsize, ssl_context=self._context)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        # Host and port are those of our own parser; the context decides on trust.
        assert isinstance(request, TargetedRequest)
        return {"scheme": request.scheme, "host": request.host, "port": request.port}, {}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Do nothing: requests would load certifi's file again for every connection."""


class TargetedRequest(requests.PreparedRequest):
    """A request with its parsed target, so that no second parser decides on its host."""

    scheme: str
    host: str
    port: int


def targeted(
    target: Target, method: str, headers: Mapping[str, str], data: bytes | None, user_agent: str
) -> TargetedRequest:
    """Prepare a request to a target. `headers` replace our own of the same names."""
    own = {
        "Host": target.origin.partition("://")[2],
        "User-Agent": user_agent,
        "Accept": "*/*",
        "Accept-Encoding": ACCEPT_ENCODING,
    }
    given = {name.lower() for name in headers}
    kept = {name: value for name, value in own.items() if name.lower() not in given}
    request = TargetedRequest()
    request.prepare(method, target.origin, headers=kept | dict(headers), data=data)
    request.url = target.url
    request.scheme, request.host, request.port = target.scheme, target.host, target.port
    return request


def _pool_classes(opener: Opener, current: CurrentExchange, limits: Limits) -> dict[str, type[HTTPConnectionPool]]:
    """Return urllib3's pool classes with connections that are bound to one network."""

    class BoundResponse(LenientResponse):
        header_limit_bytes = limits.header_bytes

    class Plain(HTTPConnection):
        response_class = BoundResponse
        address = ""

        def _new_conn(self) -> GuardedSocket:
            opened, self.address = _open(self, opener, current)
            return opened

        def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            _begin(self, current.value)
            current.value.address = self.address
            super().request(method, current.value.request_path, *args, **kwargs)

    class Tls(HTTPSConnection):
        response_class = BoundResponse
        address = ""

        def _new_conn(self) -> GuardedSocket:
            opened, self.address = _open(self, opener, current)
            return opened

        def connect(self) -> None:
            begin = time.monotonic()
            with _Handshake(opener, current):
                super().connect()
            assert isinstance(self.sock, GuardedTlsSocket)
            self.sock.settimeout(None)  # remove the handshake's time-out; from here on the guard decides
            current.value.connect_s = time.monotonic() - begin

        def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            exchange = current.value
            _begin(self, exchange)
            assert isinstance(self.sock, GuardedTlsSocket)
            exchange.address = self.address
            exchange.tls_version = self.sock.version() or ""
            exchange.tls_cipher = (self.sock.cipher() or ("",))[0]
            super().request(method, exchange.request_path, *args, **kwargs)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

        def _validate_conn(self, conn: Any) -> None:
            # urllib3 connects here and warns about unverified connections; this client records that in the response
            # instead.
            if conn.is_closed:
                conn.connect()

    return {"http": PlainPool, "https": TlsPool}


def _open(connection: HTTPConnection, opener: Opener, current: CurrentExchange) -> tuple[GuardedSocket, str]:
    exchange = current.value
    exchange.connecting()
    begin = time.monotonic()
    opened, address = opener.open_for(exchange, connection.host, connection.port or connection.default_port)
    exchange.connect_s = time.monotonic() - begin
    opened.guard = current
    return opened, address


def _begin(connection: HTTPConnection, exchange: Exchange) -> None:
    if exchange.is_fresh and exchange.is_reused:
        connection.close()
    if connection.sock is None:
        connection.connect()
    exchange.sending()


class _Handshake:
    """Guard the TLS socket from its first byte on, and translate errors of the handshake."""

    def __init__(self, opener: Opener, current: CurrentExchange) -> None:
        self._opener = opener
        self._current = current

    def __enter__(self) -> None:
        self._token = before_handshake.set(self._adopt)

    def _adopt(self, connection: GuardedTlsSocket) -> None:
        connection.guard = self._current
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
