"""Pages for the comparison with other tools: a tiny one, one of a shop, a dashboard, and one with many images.

This module imports no models, because Django is not set up in the process that serves the pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from benchmarks.sites import run_in_process
from tests.targets.server import Answer, Certificate, Site
from tests.targets.templated import noise_png, page_paths, templated_site

HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>{title}</title>'
)
TINY = HEAD.format(title="Page about tea") + '<main><h1>Tea</h1><p>Hello there, <a href="/more">more</a></main>'
DASHBOARD_STYLES = (
    "body{margin:0;font:16px sans-serif;display:grid;grid-template-columns:240px 1fr}nav{background:#123;color:#fff}"
    "nav a{color:#cde}@media(max-width:700px){body{display:block}nav ul{display:none}}"
    ".faint{background:#eee;color:#999}td{padding:4px}"
)
LINKS, COLUMNS, ROWS, FIELDS = 40, 8, 120, 30
IMAGES, IMAGE_WIDTH, IMAGE_HEIGHT = 40, 200, 120
SITE_PAGES, SITE_PAGE = 30, 7
HTML = {"Content-Type": "text/html; charset=utf-8"}
IMAGE = {"Content-Type": "image/png", "Cache-Control": "max-age=9999999"}


def dashboard() -> str:
    """Return a page with a navigation, a table of 960 cells, a third of them with low contrast, and a form."""
    links = "".join(f'<li><a href="/{number}">Section {number}</a>' for number in range(LINKS))
    heads = "".join(f'<th scope="col">H{column}' for column in range(COLUMNS))
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td class="{"usual" if column % 3 else "faint"}">Value {row}.{column}</td>' for column in range(COLUMNS)
        )
        for row in range(ROWS)
    )
    fields = "".join(f'<p><label>Field {number} <input name="f{number}"></label>' for number in range(FIELDS))
    return (
        f"{HEAD.format(title='Dashboard of a water works')}<style>{DASHBOARD_STYLES}</style>"
        f'<nav aria-label="Main"><ul>{links}</ul></nav>'
        f"<main><h1>Numbers</h1><table><tr>{heads}</tr>{rows}</table><form>{fields}</form></main>"
    )


def gallery() -> str:
    """Return a page with 40 images of 70 kB."""
    figures = "".join(
        f'<figure><img width="{IMAGE_WIDTH}" height="{IMAGE_HEIGHT}" alt="Cup {number}" src="/{number}.png">'
        f"<figcaption>Cup number {number} of the collection</figcaption></figure>"
        for number in range(IMAGES)
    )
    return f"{HEAD.format(title='Pictures of cups')}<main><h1>Pictures</h1>{figures}</main>"


def _sites() -> Iterator[tuple[str, Site, str]]:
    """Yield the name of each page, its site, and its path."""
    yield "tiny", Site({"/": Answer(TINY, headers=HTML)}, certificate=Certificate.VALID), "/"
    yield "shop", templated_site(SITE_PAGES, certificate=Certificate.VALID), page_paths(SITE_PAGES)[SITE_PAGE]
    yield "dashboard", Site({"/": Answer(dashboard(), headers=HTML)}, certificate=Certificate.VALID), "/"
    images = {
        f"/{number}.png": Answer(noise_png(Random(number), IMAGE_WIDTH, IMAGE_HEIGHT), headers=IMAGE)
        for number in range(IMAGES)
    }
    yield "gallery", Site({"/": Answer(gallery(), headers=HTML), **images}, certificate=Certificate.VALID), "/"


@contextmanager
def run_peer_pages() -> Iterator[Mapping[str, tuple[str, Path]]]:
    """Serve the pages over HTTPS in another process. Yields their URLs and root certificates by name."""
    with run_in_process(_serve) as pipe:
        yield pipe.recv()


def _serve(pipe: Connection) -> None:
    with ExitStack() as cleanup:
        pages = {}
        for name, site, path in _sites():
            cleanup.enter_context(site)
            pages[name] = (f"{site.url_as('localhost')}{path}", site.ca_file)
        pipe.send(pages)
        pipe.recv()
