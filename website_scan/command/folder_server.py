"""Local web server of `--serve`.

It serves a folder on loopback as hosting services serve static sites.
"""

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
IDLE_TIMEOUT_S = 30.0
# Hosting services publish only this folder with a leading dot (RFC 8615).
WELL_KNOWN_FOLDER = ".well-known"
# Media types that are missing or obsolete in the table of some Python versions.
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
    """Start a web server for the folder, and yield its origin.

    Raises WrongUsage if the folder does not exist.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise WrongUsage(f"--serve: {folder} is not a folder.")
    with _FolderServer(root) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()


class _FolderServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, root: Path) -> None:
        self.root = root
        super().__init__((HOST, 0), _FolderHandler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Suppress the traceback if the client closes the connection.

        Browsers often close connections early.
        """
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as the library calls it


class _FolderHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    server: _FolderServer

    def do_GET(self) -> None:
        # A site could use another host name to read the folder through the browser (DNS rebinding).
        if (self.headers.get("Host") or "").partition(":")[0] not in ("localhost", HOST):
            self._send(HTTPStatus.MISDIRECTED_REQUEST, "text/plain", b"")
            return
        path = unquote(split_url(self.path).path)
        file = self._file_or_index(path)
        if file is not None and file.name == "index.html" and not path.endswith(("/", "/index.html")):
            self._send(HTTPStatus.MOVED_PERMANENTLY, "text/plain", b"", Location=f"/{quote(path.strip('/'))}/")
        elif file is not None:
            self._send(HTTPStatus.OK, _media_type(file), file.read_bytes())
        else:
            page = self._file("404.html")
            body = page.read_bytes() if page else b"<!doctype html><title>Not found</title><h1>Not found</h1>"
            self._send(HTTPStatus.NOT_FOUND, "text/html", body)

    do_HEAD = do_GET  # noqa: N815

    def _file_or_index(self, path: str) -> Path | None:
        """Return the file at a URL path.

        A folder stands for its index.html, and the extension .html may be missing.
        """
        if path.endswith("/"):
            return self._file(f"{path}index.html")
        return self._file(path) or self._file(f"{path}/index.html") or self._file(f"{path}.html")

    def _file(self, path: str) -> Path | None:
        """Return the readable file at the path.

        None if the file is missing, hidden or outside the served folder.
        """
        try:
            file = (self.server.root / path.lstrip("/")).resolve()
            if not (file.is_relative_to(self.server.root) and file.is_file() and os.access(file, os.R_OK)):
                return None
        except (OSError, RuntimeError, ValueError):
            # Python raises these errors for link loops and invalid names.
            return None
        hidden = [name for name in file.relative_to(self.server.root).parts if name.startswith(".")]
        return None if [name for name in hidden if name != WELL_KNOWN_FOLDER] else file

    def _send(self, status: HTTPStatus, kind: str, body: bytes, **headers: str) -> None:
        is_text_type = kind.startswith(TEXTS)
        # Unlike send_response, this method does not send a Server header.
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if is_text_type else kind)
        if is_text_type and body:
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
        """Suppress the access log of the base class."""


def _media_type(path: Path) -> str:
    ending = path.suffix.lower()
    return TYPES.get(ending) or mimetypes.types_map.get(ending) or "application/octet-stream"
