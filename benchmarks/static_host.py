"""Static file server on loopback.

It responds like a usual web server, so that only pages cause findings.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import mimetypes
import os
import posixpath
import re
import socket
import tempfile
import threading
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Self

import psutil
from hypercorn.asyncio import serve
from hypercorn.config import Config
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from tests.website_scan.net.tls_servers import LOOPBACK, Identity

NAME = "localhost"
COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")
HEADERS = {
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "strict-origin-when-cross-origin",
}
RANGE = re.compile(r"bytes=(\d+)-(\d*)")
NOT_FOUND_PAGE = b"<!doctype html><title>Not found</title><h1>Not found</h1>"
STOP_TIMEOUT_S, STOP_RETRY_S = 10.0, 0.1


class StaticHost:
    """Host that serves a folder over HTTP/2 and HTTP/1.1 at `url`.

    Text is compressed and assets are cached long.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listener = socket.create_server((LOOPBACK, 0), backlog=128)
        self._port: int = self._listener.getsockname()[1]
        self.url = f"https://{NAME}:{self._port}"
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._certificate = str(_files_by_path()[1])
        self._thread = threading.Thread(target=self._run, name="static-host", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server. Raises TimeoutError if it does not end."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(STOP_TIMEOUT_S)
        if self._thread.is_alive():
            raise TimeoutError("the static host does not stop")

    def _run(self) -> None:
        config = Config()
        config.bind = [f"fd://{self._listener.detach()}"]
        config.certfile = config.keyfile = self._certificate
        config.errorlog = None
        config.graceful_timeout = 0.0
        # Connections that clients reset are not logged.
        self._loop.set_exception_handler(lambda *_: None)
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve(config))

    async def _serve(self, config: Config) -> None:
        """Serve until `_stop` is set, and then until all connections are closed."""
        server = asyncio.create_task(serve(self._respond, config, shutdown_trigger=self._stop.wait, mode="asgi"))
        stop = asyncio.create_task(self._stop.wait())
        await asyncio.wait({server, stop}, return_when=asyncio.FIRST_COMPLETED)
        while self._shut_down_connections() or not server.done():
            await asyncio.sleep(STOP_RETRY_S)
        stop.cancel()
        await server

    def _shut_down_connections(self) -> int:
        """Shut down all connections, and return how many were open.

        Otherwise hypercorn would wait until stalled clients have read their responses.
        """
        connections = [
            connection
            for connection in psutil.Process().net_connections("tcp")
            if connection.raddr and connection.laddr.port == self._port
        ]
        for connection in connections:
            # The client may have reset the connection in the meantime.
            with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection.fd)) as duplicate:
                duplicate.shutdown(socket.SHUT_RDWR)
        return len(connections)

    async def _respond(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Respond to a request in the event loop, because a thread would wait for a client that has stopped reading."""
        if scope["type"] != "http":
            return
        request_headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        status, headers, body = self._response(scope["path"], request_headers)
        if headers.get("Content-Type", "").startswith(COMPRESSED):
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in request_headers.get("accept-encoding", ""):
                headers["Content-Encoding"] = "gzip"
                body = gzip.compress(body, 6, mtime=0)
        headers["Content-Length"] = str(len(body))
        fields = [(name.lower().encode(), value.encode()) for name, value in (HEADERS | headers).items()]
        await send({"type": "http.response.start", "status": status, "headers": fields, "trailers": False})
        content = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": content, "more_body": False})

    def _response(self, path: str, request_headers: Mapping[str, str]) -> tuple[HTTPStatus, dict[str, str], bytes]:
        """Return the status, headers and body that a path without a query gets."""
        # The function `normpath` removes "..", but symbolic links may lead to files of other packages.
        file = self._folder / posixpath.normpath(f"/{path}").lstrip("/")
        if file.is_dir() and not path.endswith("/"):
            return HTTPStatus.MOVED_PERMANENTLY, {"Location": f"{path}/"}, b""
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return HTTPStatus.NOT_FOUND, {"Content-Type": "text/html"}, NOT_FOUND_PAGE
        media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        cache_lifetime_s = 600 if media_type == "text/html" else 31_536_000
        headers = {"Content-Type": media_type, "Cache-Control": f"max-age={cache_lifetime_s}"}
        body = file.read_bytes()
        # Browsers request a video in byte ranges.
        if (byte_range := RANGE.fullmatch(request_headers.get("range", ""))) and media_type.startswith("video/"):
            first_byte, last_byte = int(byte_range[1]), min(int(byte_range[2] or len(body)), len(body) - 1)
            headers["Content-Range"] = f"bytes {first_byte}-{last_byte}/{len(body)}"
            return HTTPStatus.PARTIAL_CONTENT, headers, body[first_byte : last_byte + 1]
        return HTTPStatus.OK, headers, body


def authority() -> Path:
    """Return the file with the root certificate for all hosts in this process."""
    return _files_by_path()[0]


@functools.cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder that is deleted when the process ends."""
    return tempfile.TemporaryDirectory(prefix="static-host-")


@functools.cache
def _files_by_path() -> tuple[Path, Path]:
    return certificate_files(Path(_temporary_folder().name), NAME)


def certificate_files(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a root certificate, and a file with a host's key and certificate chain.

    Return both paths.
    """
    folder.chmod(0o755)  # The browser may run as another user.
    root = Identity.root()
    intermediate = root.issue_authority()
    leaf = intermediate.issue(name)
    root_certificate_file, host_certificate_file = folder / "root.pem", folder / "host.pem"
    root_certificate_file.write_bytes(root.pem)
    host_certificate_file.write_bytes(leaf.key_pem + leaf.pem + intermediate.pem)
    return root_certificate_file, host_certificate_file
