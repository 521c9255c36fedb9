"""Web site on loopback with a configured answer per path.

Tests and benchmarks use it.

    with Site({"/": Answer("<h1>Hello</h1>"), "/old": Answer.redirect("/")}) as site:
        network.fetch(site.url + "/")
        assert [request.path for request in site.requests] == ["/"]

With `certificate` the site speaks TLS, and `site.ca_file` is the root to trust. A route may be a function of
the request. If it returns None, it has answered on `request.connection` itself, in any hostile way.
`converse` gets every raw connection before anything is read.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import http
import itertools
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Self

from msgspec import Struct

from tests.website_scan.net.tls_servers import DAY, LOOPBACK, Identity, self_signed

END_OF_HEADERS = b"\r\n\r\n"
JOIN_TIMEOUT_S = 5.0
TLS_HANDSHAKE = 0x16  # A plain HTTP site closes a connection that begins with this byte.


class Certificate(Enum):
    """Kind of certificate that an HTTPS site presents."""

    VALID = auto()  # The certificate is sent with its intermediate.
    EXPIRED = auto()
    NOT_YET_VALID = auto()
    WRONG_HOST = auto()
    SELF_SIGNED = auto()
    INCOMPLETE = auto()  # The server does not send the intermediate certificate.


class Answer(Struct, frozen=True):
    """Response of a site.

    `Content-Length` is added unless the headers already frame the body.
    """

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    delay_s: float = 0.0  # Delay before the first byte. Stopping the site ends it.

    @classmethod
    def redirect(cls, location: str, status: int = 302, **headers: str) -> Self:
        """Return a redirect.

        Underscores in the keywords become hyphens in the header names.
        """
        others = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status=status, headers={"Location": location} | others)

    def encoded(self, *, head_only: bool) -> bytes:
        """Return status line, headers and body as bytes."""
        body = self.body.encode() if isinstance(self.body, str) else self.body
        pairs = list(self.headers.items() if isinstance(self.headers, Mapping) else self.headers)
        names = {name.lower() for name, _ in pairs}
        if "content-type" not in names and body:
            pairs.append(("Content-Type", "text/html; charset=utf-8"))
        if not names & {"content-length", "transfer-encoding"}:
            pairs.append(("Content-Length", str(len(body))))
        reason = http.HTTPStatus(self.status).phrase if self.status in list(http.HTTPStatus) else "Unknown"
        head = f"HTTP/1.1 {self.status} {reason}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in pairs)
        return head.encode("latin-1") + b"\r\n" + (b"" if head_only else body)

    @property
    def closes(self) -> bool:
        """Return True if the answer has the header `Connection: close`."""
        pairs = self.headers.items() if isinstance(self.headers, Mapping) else self.headers
        return ("connection", "close") in {(name.lower(), value.lower()) for name, value in pairs}


class Request(Struct, frozen=True):
    """Request that a site received.

    `connection_number` counts the site's connections from 1.
    """

    method: str
    path: str  # The path includes the query string.
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection_number: int
    connection: socket.socket

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or None."""
        return next((value for header_name, value in self.headers if header_name.lower() == name.lower()), None)


Route = Answer | Callable[[Request], Answer | None]


class Site:
    """Web site on loopback that records its `requests`.

    It also counts its `connections`.
    """

    def __init__(
        self,
        routes: Mapping[str, Route] | None = None,
        *,
        certificate: Certificate | None = None,
        names: Sequence[str] = ("localhost", LOOPBACK),
        address: str = LOOPBACK,
        converse: Callable[[socket.socket], None] | None = None,
        tune: Callable[[ssl.SSLContext], None] | None = None,
    ) -> None:
        """Create a site.

        Routes match the path with its query, then the path alone, then `*`. Anything else is 404.

        Routes may be added at any time. `names` are those in the certificate, `tune` may change the TLS settings.
        """
        self.routes: dict[str, Route] = dict(routes or {})
        self.requests: list[Request] = []
        self.connections = 0
        self.ended = threading.Event()
        self._converse = converse
        self._cleanup = contextlib.ExitStack()
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[socket.socket, threading.Thread]] = {}
        self._lock = threading.Lock()
        self.is_https = certificate is not None
        self.ca_file: Path | None = None
        self._context: ssl.SSLContext | None = None
        if certificate is not None:
            folder = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="site-")))
            self.ca_file = root_file()
            self._context = _server_context(folder, certificate, tuple(names))
            if tune is not None:
                tune(self._context)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = self._cleanup.enter_context(socket.create_server((address, 0), family=family, backlog=128))
        self.address = address
        self.port: int = self._listener.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept, name=f"site-{self.port}", daemon=True)

    @property
    def url(self) -> str:
        """Return `http(s)://127.0.0.1:port`, without a slash at the end."""
        return self.url_as(f"[{self.address}]" if ":" in self.address else self.address)

    def url_as(self, host: str) -> str:
        """Return the site's URL under another name that resolves to it."""
        return f"{'https' if self.is_https else 'http'}://{host}:{self.port}"

    def paths(self) -> list[str]:
        """Return the requested paths, in order."""
        return [request.path for request in self.requests]

    def __enter__(self) -> Self:
        self._acceptor.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join(JOIN_TIMEOUT_S)
        with self._lock:
            pending = list(self._open.values())
        for connection, _ in pending:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for _, thread in pending:
            thread.join(JOIN_TIMEOUT_S)
        self._cleanup.close()

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            number = next(self._numbers)
            thread = threading.Thread(
                target=self._handle_connection,
                args=(connection, number),
                name=f"site-{self.port}-{number}",
                daemon=True,
            )
            with self._lock:
                self.connections += 1
                self._open[number] = (connection, thread)
            thread.start()

    def _handle_connection(self, connection: socket.socket, number: int) -> None:
        try:
            with contextlib.ExitStack() as cleanup, contextlib.suppress(OSError):
                cleanup.enter_context(connection)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._context is not None:
                    # A shutdown of the TCP connection also ends a pending TLS read or write.
                    plain = connection.dup()
                    cleanup.enter_context(plain)
                    with self._lock:
                        self._open[number] = (plain, self._open[number][1])
                    connection = self._context.wrap_socket(connection, server_side=True)
                    cleanup.enter_context(connection)
                if self._converse is not None:
                    self._converse(connection)
                else:
                    self._serve_requests(connection, number)
        finally:
            with self._lock:
                del self._open[number]

    def _serve_requests(self, connection: socket.socket, number: int) -> None:
        pending = b""
        while not self.ended.is_set():
            received = _read_request(connection, pending, number)
            if received is None:
                return
            request, pending = received
            self.requests.append(request)
            route = self._find_route(request.path)
            answer = route(request) if callable(route) else route
            if answer is None:
                return
            if answer.delay_s and self.ended.wait(answer.delay_s):
                return
            connection.sendall(answer.encoded(head_only=request.method == "HEAD"))
            if answer.closes or (request.header("Connection") or "").lower() == "close":
                return

    def _find_route(self, path: str) -> Route:
        for key in (path, path.partition("?")[0], "*"):
            if key in self.routes:
                return self.routes[key]
        return Answer("Not found", status=404)


def _read_request(connection: socket.socket, pending: bytes, number: int) -> tuple[Request, bytes] | None:
    """Read the next request.

    Return it with the bytes after it, or None if the client has finished.
    """
    while END_OF_HEADERS not in pending:
        data = connection.recv(65536)
        if not data or (not pending and data[0] == TLS_HANDSHAKE):
            return None
        pending += data
    head, _, pending = pending.partition(END_OF_HEADERS)
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    while len(pending) < length:
        data = connection.recv(65536)
        if not data:
            return None
        pending += data
    return Request(method, path, headers, pending[:length], number, connection), pending[length:]


@functools.cache
def _root_identity() -> Identity:
    return Identity.root()


@functools.cache
def _root_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder that is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="site-")


@functools.cache
def root_file() -> Path:
    """Write the root certificate of all sites to one file and return its path.

    Clients cache their TLS settings by this path, and loading all roots anew takes 0.1 s.
    """
    folder = Path(_root_folder().name)
    folder.chmod(0o755)  # A process of another user may have to read the folder.
    file = folder / "ca.pem"
    file.write_bytes(_root_identity().pem)
    return file


@functools.cache
def _intermediate_identity() -> Identity:
    return _root_identity().issue_authority()


@functools.cache
def _certificate_chain(certificate: Certificate, names: tuple[str, ...]) -> tuple[Identity, ...]:
    """Return the leaf certificate, then the other ones.

    The others are sent with it.
    """
    now = datetime.datetime.now(datetime.UTC)
    match certificate:
        case Certificate.EXPIRED:
            return (_root_identity().issue(*names, not_before=now - 90 * DAY, not_after=now - DAY),)
        case Certificate.NOT_YET_VALID:
            return (_root_identity().issue(*names, not_before=now + DAY, not_after=now + 90 * DAY),)
        case Certificate.WRONG_HOST:
            return (_root_identity().issue("another.example.org"),)
        case Certificate.SELF_SIGNED:
            return (self_signed(names[0]),)
        case Certificate.INCOMPLETE:
            return (_intermediate_identity().issue(*names),)
        case Certificate.VALID:
            return (_intermediate_identity().issue(*names), _intermediate_identity())


def _server_context(folder: Path, certificate: Certificate, names: tuple[str, ...]) -> ssl.SSLContext:
    leaf, *others = _certificate_chain(certificate, names)
    bundle = folder / "site.pem"
    bundle.write_bytes(b"".join([leaf.key_pem, leaf.pem, *(certificate.pem for certificate in others)]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(bundle)
    return context
