"""Sites to scan, each in a process of its own, whose processor time and memory do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.usage import elsewhere
from tests.targets.server import Answer, Certificate, Site
from tests.targets.templated import templated_site

PAGE = '<!doctype html><html lang="en"><title>A page</title><h1>Hello</h1>'


@dataclass(frozen=True)
class Templated:
    """Site of some templates with many files, in another process."""

    base: str
    ca_file: Path | None
    _pipe: Connection

    def requests(self) -> Counter[str]:
        """Return the paths that were requested since the last call."""
        self._pipe.send(None)
        found: Counter[str] = self._pipe.recv()
        return found


@contextmanager
def templated(pages: int, certificate: Certificate | None = None, answer_s: float = 0) -> Iterator[Templated]:
    """Run a site of that many pages; its files and pages take `answer_s` to answer."""
    with elsewhere(_serve_templated, pages, certificate, answer_s) as pipe:
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
            pipe.send(Counter(each.path for each in site.requests))
            site.requests.clear()


@contextmanager
def slow(
    seconds: float, page: str = PAGE, others_s: float = 0, certificate: Certificate | None = None
) -> Iterator[tuple[str, Path | None]]:
    """Run a site whose page takes `seconds` and others `others_s`; yield the page's URL and the root certificate."""
    with elsewhere(_serve_slow, seconds, page, others_s, certificate) as pipe:
        yield pipe.recv()


def _serve_slow(pipe: Connection, seconds: float, page: str, others_s: float, certificate: Certificate | None) -> None:
    routes = {"/": Answer(page, delay_s=seconds), "*": Answer("Not found", status=404, delay_s=others_s)}
    with Site(routes, certificate=certificate) as site:
        pipe.send((f"{site.url}/", site.ca_file))
        pipe.recv()
