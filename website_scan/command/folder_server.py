"""Static web server for a folder, on loopback, with the responses of hosting services for static sites."""

from __future__ import annotations

import gzip
import mimetypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote

from website_scan.command.errors import WrongUsage
from website_scan.written_urls import split_url

HOST = "127.0.0.1"
IDLE_S = 30.0
# The only folder with a leading dot that hosting services publish (RFC 8615). Others, such as .git, are private.
WELL_KNOWN = ".well-known"
# Media types that Python's table lacks in some versions, or has with obsolete names.
TYPES = {
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".map": "application/json",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}
TEXTS = ("text/", "application/json", "application/manifest+json", "application/xml", "image/svg+xml")


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the folder, and yield the server's origin. Raises WrongUsage if the folder does not exist."""
    root = folder.resolve()
    if not root.is_dir():
        raise WrongUsage(f"--serve: {folder} is no folder.")
    with _Server(root) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, root: Path) -> None:
        self.root = root
        super().__init__((HOST, 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Write no traceback for clients that leave early, as browsers do."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as the library calls it


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: _Server

    def do_GET(self) -> None:  # http.server calls this name
        # Refuse other host names: they are an attempt to read the folder with the user's browser (DNS rebinding).
        if (self.headers.get("Host") or "").partition(":")[0] not in ("localhost", HOST):
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"")
            return
        path = unquote(split_url(self.path).path)
        file = self._file_or_index(path)
        if file is not None and file.name == "index.html" and not path.endswith(("/", "/index.html")):
            self._send(HTTPStatus.MOVED_PERMANENTLY, "text/plain", b"", Location=f"/{quote(path.strip('/'))}/")
        elif file is not None:
            self._send(HTTPStatus.OK, _type_of(file), file.read_bytes())
        else:
            page = self._file("404.html")
            body = page.read_bytes() if page else b"<!doctype html><title>Not found</title><h1>Not found</h1>"
            self._send(HTTPStatus.NOT_FOUND, "text/html", body)

    do_HEAD = do_GET  # noqa: N815  # http.server calls this name

    def _file_or_index(self, path: str) -> Path | None:
        """Return the file at a path: the file itself, the index of a folder, or the page whose ending is omitted."""
        if path.endswith("/"):
            return self._file(f"{path}index.html")
        return self._file(path) or self._file(f"{path}/index.html") or self._file(f"{path}.html")

    def _file(self, path: str) -> Path | None:
        """Return a file within the folder; None if no such file exists, or if the path or a link leaves the folder."""
        try:
            file = (self.server.root / path.lstrip("/")).resolve()
            if not (file.is_relative_to(self.server.root) and file.is_file() and os.access(file, os.R_OK)):
                return None
        except (OSError, RuntimeError, ValueError):
            return None  # a loop of links, or an invalid name
        hidden = [name for name in file.relative_to(self.server.root).parts if name.startswith(".")]
        return None if [name for name in hidden if name != WELL_KNOWN] else file

    def _send(self, status: HTTPStatus, kind: str, body: bytes, **headers: str) -> None:
        is_text = kind.startswith(TEXTS)
        self.send_response_only(status)  # without the library's Server header
        self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if is_text else kind)
        if is_text and body:
            self.send_header("Vary", "Accept-Encoding")
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                body = gzip.compress(body)
                self.send_header("Content-Encoding", "gzip")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no log of requests."""


def _type_of(path: Path) -> str:
    ending = path.suffix.lower()
    return TYPES.get(ending) or mimetypes.types_map.get(ending) or "application/octet-stream"
