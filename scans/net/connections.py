"""How `requests` opens connections: only through the guard, with name, SNI and certificate intact."""

from __future__ import annotations

import functools
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifi
import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import BaseHTTPResponse

from scans.net.budget import Exchange
from scans.net.deadline import GuardedSocket, GuardedTlsSocket

# Hosts of one page with a connection kept open, and connections kept open to each.
POOLS = 50
CONNECTIONS_PER_HOST = 8

# ssl names it from Python 3.12 on.
OP_LEGACY_SERVER_CONNECT = 0x4

Dial = Callable[[str, int], GuardedSocket]


@functools.lru_cache(maxsize=8)
def trusting_context(ca_bundle: Path | None, *, verify: bool) -> ssl.SSLContext:
    """The TLS settings of a client: the system's, certifi's and the operator's certificates.

    Without `verify` it also speaks with servers that only offer what is long outdated: a scan has to see such
    a site to report it, and sends it no secret.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.sslsocket_class = GuardedTlsSocket
    context.set_alpn_protocols(["http/1.1"])
    if verify:
        context.load_default_certs()
        context.load_verify_locations(certifi.where())
        if ca_bundle is not None:
            context.load_verify_locations(ca_bundle)
    else:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.options |= OP_LEGACY_SERVER_CONNECT
    return context


class CurrentExchange(threading.local):
    """The exchange that this thread is busy with: an exchange never leaves its thread."""

    value: Exchange

    # A pooled connection outlives the exchange it was opened for, so it asks for the current one.
    def timeout_s(self) -> float:
        """The current exchange's time; see `Guard`."""
        return self.value.timeout_s()

    def received(self, count: int) -> None:
        """The current exchange's bytes; see `Guard`."""
        self.value.received(count)


def new_session(
    dial: Dial, opened: Callable[[object], None], current: CurrentExchange, context: ssl.SSLContext
) -> requests.Session:
    """A `requests` session that connects through `dial` only.

    `opened` is told of every socket. No proxies or credentials from the environment, no cookies, no retries.
    """
    made = requests.Session()
    made.trust_env = False
    made.headers.clear()
    adapter = _Adapter(dial, opened, current, context)
    for scheme in ("http://", "https://"):
        made.mount(scheme, adapter)
    return made


class _Adapter(HTTPAdapter):
    def __init__(
        self,
        dial: Dial,
        opened: Callable[[object], None],
        current: CurrentExchange,
        context: ssl.SSLContext,
    ) -> None:
        self._pool_classes = _pool_classes(dial, opened, current)
        self._context = context
        super().__init__(max_retries=0, pool_connections=POOLS, pool_maxsize=CONNECTIONS_PER_HOST)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        self.poolmanager = PoolManager(num_pools=connections, maxsize=maxsize, ssl_context=self._context)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[Any, Any]:
        # Trust is settled by the context; requests would load certifi's file anew for every connection.
        host, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return host, {}

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        return None


def _pool_classes(
    dial: Dial, opened: Callable[[object], None], current: CurrentExchange
) -> dict[str, type[HTTPConnectionPool]]:
    """urllib3's pools with connections that are bound to one network."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> GuardedSocket:
            return _open(self, dial, current)

        def getresponse(self) -> Any:
            _note(self.sock, current.value)
            return super().getresponse()

    class Tls(HTTPSConnection):
        def _new_conn(self) -> GuardedSocket:
            return _open(self, dial, current)

        def connect(self) -> None:
            begin = time.monotonic()
            super().connect()
            assert isinstance(self.sock, GuardedTlsSocket)
            self.sock.guard = current
            opened(self.sock)
            current.value.connect_s = time.monotonic() - begin

        def getresponse(self) -> Any:
            _note(self.sock, current.value)
            return super().getresponse()

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = Tls

    return {"http": PlainPool, "https": TlsPool}


def _open(connection: HTTPConnection, dial: Dial, current: CurrentExchange) -> GuardedSocket:
    exchange = current.value
    exchange.is_reused = False
    begin = time.monotonic()
    opened = dial(connection.host, connection.port or connection.default_port)
    exchange.connect_s = time.monotonic() - begin
    opened.guard = current
    # The TLS handshake is one operation to Python; the time it may take is the socket's time-out.
    opened.settimeout(exchange.timeout_s())
    return opened


def _note(connection: Any, exchange: Exchange) -> None:
    exchange.address = connection.getpeername()[0]
    if isinstance(connection, GuardedTlsSocket):
        exchange.tls_version = connection.version() or ""
        exchange.tls_cipher = (connection.cipher() or ("",))[0]


def raw_headers(raw: BaseHTTPResponse) -> tuple[tuple[str, str], ...]:
    """Every header line that came, repeated ones apart."""
    return tuple(raw.headers.iteritems())
