"""Sites and webhook receivers for benchmarks.

They run in other processes, whose cost is not measured.

This module imports no models, because Django is not set up in these processes.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tests.targets.server import Answer, Certificate, Site
from tests.targets.templated import templated_site

PAGE = '<!doctype html><html lang="en"><title>A page</title><h1>Hello</h1>'
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


@contextmanager
def run_in_process(work: Callable[..., None], *arguments: object) -> Iterator[Connection]:
    """Run `work(pipe, *arguments)` in a separate process and yield the local end of the pipe."""
    context = multiprocessing.get_context("spawn")
    parent_pipe, child_pipe = context.Pipe()
    process = context.Process(target=work, args=(child_pipe, *arguments), daemon=True)
    process.start()
    try:
        yield parent_pipe
    finally:
        process.kill()
        process.join()


class Templated(Struct, frozen=True):
    """A site in another process.

    A few templates with many files render its pages.
    """

    base: str
    ca_file: Path | None
    _pipe: Connection

    def requests(self) -> Counter[str]:
        """Return the number of requests per path since the last call."""
        self._pipe.send(None)
        paths: Counter[str] = self._pipe.recv()
        return paths


@contextmanager
def run_templated_site(pages: int, certificate: Certificate | None = None, answer_s: float = 0) -> Iterator[Templated]:
    """Run a site with this number of pages.

    Pages and files respond after `answer_s` seconds.
    """
    with run_in_process(_serve_templated, pages, certificate, answer_s) as pipe:
        base, ca_file = pipe.recv()
        yield Templated(base, ca_file, pipe)


def _serve_templated(pipe: Connection, pages: int, certificate: Certificate | None, answer_s: float) -> None:
    with templated_site(pages, certificate=certificate) as site:
        for path, route in site.routes.items():
            if isinstance(route, Answer):
                site.routes[path] = replace(route, delay_s=answer_s)
        pipe.send((site.url_as("localhost"), site.ca_file))
        while True:
            pipe.recv()
            pipe.send(Counter(request.path for request in site.requests))
            site.requests.clear()


@contextmanager
def run_slow_site(
    seconds: float, page: str = PAGE, others_s: float = 0, certificate: Certificate | None = None
) -> Iterator[tuple[str, Path | None]]:
    """Run a site whose page responds after `seconds`.

    Other paths respond after `others_s`.

    Yields the URL and the root certificate.
    """
    with run_in_process(_serve_slow, seconds, page, others_s, certificate) as pipe:
        yield pipe.recv()


def _serve_slow(pipe: Connection, seconds: float, page: str, others_s: float, certificate: Certificate | None) -> None:
    routes = {"/": Answer(page, delay_s=seconds), "*": Answer("Not found", status=404, delay_s=others_s)}
    with Site(routes, certificate=certificate) as site:
        pipe.send((f"{site.url}/", site.ca_file))
        pipe.recv()


class Receivers(Struct, frozen=True):
    """Webhook receivers in another process, by host and port.

    The first ones may hang.
    """

    hosts: list[str]
    _pipe: Connection

    def stop(self) -> tuple[float, int]:
        """Stop the receivers.

        Return the first request's time and the number of requests.
        """
        self._pipe.send(None)
        first_request_at, requests = self._pipe.recv()
        return first_request_at, requests


@contextmanager
def receivers(number: int, hanging: int) -> Iterator[Receivers]:
    """Run webhook receivers.

    The first `hanging` receivers accept connections and never respond.
    """
    with run_in_process(_run_receivers, number, hanging) as pipe:
        yield Receivers(pipe.recv(), pipe)


def _run_receivers(pipe: Connection, number: int, hanging: int) -> None:
    asyncio.run(_receive_all(pipe, number, hanging))


async def _receive_all(pipe: Connection, receiver_count: int, hanging: int) -> None:
    first_request_at, requests = 0.0, 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal first_request_at, requests
        first_request_at = first_request_at or time.time()
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        requests += 1
        writer.write(RESPONSE)
        writer.close()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # The receiver waits until the client closes the connection.
        writer.close()

    servers = [
        await asyncio.start_server(hang if receiver_count < hanging else answer, "127.0.0.1", 0, backlog=512)
        for receiver_count in range(receiver_count)
    ]
    pipe.send([f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers])
    await asyncio.to_thread(pipe.recv)
    pipe.send((first_request_at, requests))
