"""Sites to scan, each in a process of its own, whose processor time and memory do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    ca_file: Path
    _pipe: Connection

    def requests(self) -> Counter[str]:
        """Return the paths that were requested since the last call."""
        self._pipe.send(None)
        found: Counter[str] = self._pipe.recv()
        return found


@contextmanager
def templated(pages: int) -> Iterator[Templated]:
    """Run a site of that many pages, with HTTPS."""
    with elsewhere(_serve_templated, pages) as pipe:
        yield Templated(*pipe.recv(), pipe)


def _serve_templated(pipe: Connection, pages: int) -> None:
    with templated_site(pages, certificate=Certificate.VALID) as site:
        pipe.send((site.url_as("localhost"), site.ca_file))
        while True:
            pipe.recv()
            pipe.send(Counter(each.path for each in site.requests))
            site.requests.clear()


@contextmanager
def slow(seconds: float, page: str = PAGE, *, only_page: bool = True) -> Iterator[tuple[str, Path | None]]:
    """Run a site whose page takes `seconds`; yield the page's address, and the root certificate.

    Without `only_page` all other answers take as long, and the site has HTTPS.
    """
    with elsewhere(_serve_slow, seconds, page, only_page) as pipe:
        yield pipe.recv()


def _serve_slow(pipe: Connection, seconds: float, page: str, only_page: bool) -> None:
    other = Answer("Not found", status=404, delay_s=0 if only_page else seconds)
    routes = {"/": Answer(page, delay_s=seconds), "*": other}
    with Site(routes, certificate=None if only_page else Certificate.VALID) as site:
        pipe.send((f"{site.url}/", site.ca_file))
        pipe.recv()
