"""Tests for the static file server of the benchmarks."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.static_host import STOP_TIMEOUT_S, StaticHost, authority

SILENT_CLIENTS = 40  # A thread pool usually has fewer threads.


@pytest.fixture
def host(tmp_path: Path) -> Iterator[StaticHost]:
    (tmp_path / "index.html").write_text("<!doctype html><title>Start</title>")
    (tmp_path / "film.mp4").write_bytes(b"0123456789" * 500_000)
    with StaticHost(tmp_path) as running:
        yield running


def response(host: StaticHost, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    address = urlsplit(host.url)
    context = ssl.create_default_context(cafile=str(authority()))
    connection = http.client.HTTPSConnection(address.netloc, context=context, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()


def request_without_reading(cleanup: contextlib.ExitStack, host: StaticHost, path: str) -> None:
    """Send a request over a connection that stays open until `cleanup`, and never read the response."""
    address = urlsplit(host.url)
    context = ssl.create_default_context(cafile=str(authority()))
    plain = socket.create_connection(("127.0.0.1", address.port or 0))
    silent = cleanup.enter_context(context.wrap_socket(plain, server_hostname=address.hostname))
    silent.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


def test_stalled_clients_do_not_block_others(host: StaticHost) -> None:
    with contextlib.ExitStack() as cleanup:
        for _ in range(SILENT_CLIENTS):
            request_without_reading(cleanup, host, "/film.mp4")
        assert response(host, "/")[0].status == 200


def test_host_stops_although_clients_have_stalled(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(b"0123456789" * 500_000)
    with contextlib.ExitStack() as cleanup:
        with StaticHost(tmp_path) as host:
            for _ in range(SILENT_CLIENTS):
                request_without_reading(cleanup, host, "/film.mp4")
            assert response(host, "/film.mp4", Range="bytes=0-1")[1] == b"01"
            start = time.monotonic()
        assert time.monotonic() - start < STOP_TIMEOUT_S / 2


def test_text_is_compressed(host: StaticHost) -> None:
    page, _ = response(host, "/", **{"Accept-Encoding": "gzip"})
    assert page.headers["Content-Encoding"] == "gzip"
    part, body = response(host, "/film.mp4", Range="bytes=3-5")
    assert (part.status, part.headers["Content-Range"], body) == (206, "bytes 3-5/5000000", b"345")
    assert response(host, "/absent")[0].status == 404
