"""Render the public pages as a static site.

Relative links work on any host, in a subfolder or from a file: URL.

A crawl from the start page finds the pages, which the service's views and templates render
(docs/adr/0021-the-public-pages-as-files.md).
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

from bs4 import BeautifulSoup, Tag
from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import reverse

from documentation.search import search_index
from website_scan.written_urls import split_url

# Paths that the static site contains. All others need the service.
PUBLIC = re.compile(r"/(?:docs/.*|samples/.*|report/sample/.+|card/\w+\.png|static/.+|openapi\.yaml|licence)?")
# Attributes with paths of the service in its templates.
LINK_ATTRIBUTES = ("href", "src", "srcset", "action", "data-index")
INDEX = "index.html"
MISSING = "/404"
HTML = "text/html"
# Sample reports have this tag, because they are about sites that do not exist.
NOT_INDEXED = '<meta name="robots" content="noindex'


class BrokenSite(Exception):
    """Raised for a page with a broken link, or with a link that needs the service."""


def build(folder: Path, url: str = "") -> int:
    """Write the site into an empty folder and return how many pages it has.

    `url` is the future URL of the site, with a slash at the end. Without `url`, the site has no sitemap, no canonical
    URLs and no pictures for link previews, which must be absolute. Raises BrokenSite.
    """
    storages = settings.STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(
        STATIC_SITE=True, STORAGES=storages, STATIC_ROOT=settings.BASE_DIR / "static", ACCESS_LOG=False
    ):
        return _Site(folder, url).write()


def file_of(target: str) -> str:
    """Return the file for a path and query on the service, relative to the site's root folder."""
    parts = split_url(target)
    if parts.path == reverse("licence"):
        return "licence.txt"
    path = parts.path.removeprefix("/")
    if parts.query:
        # For example, /docs/checks/?type=seo becomes docs/checks/type-seo.html.
        name = "-".join(word for pair in parse_qsl(parts.query) for word in pair)
        return f"{path}{name}.html"
    if not path or path.endswith("/"):
        return f"{path}{INDEX}"
    return path if "." in posixpath.basename(path) else f"{path}.html"


class _Site:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.client = Client(SERVER_NAME=split_url(settings.BASE_URL).hostname or "localhost")
        self.queue = deque([reverse("landing"), reverse("docs"), reverse("schema"), MISSING])
        self.targets = set(self.queue)
        self.pages = 0
        self.indexed: list[str] = []  # The sitemap lists these paths.

    def write(self) -> int:
        while self.queue:
            self._write_path(self.queue.popleft())
        index = reverse("docs-search")
        start = posixpath.dirname(file_of(index))
        self._save(file_of(index), search_index(lambda path: self._relative(path, start)).encode())
        if self.url:
            urls = [self._public_url(file_of(path)) for path in self.indexed]
            self._save("sitemap.xml", render_to_string("documentation/sitemap.xml", {"urls": urls}).encode())
        return self.pages

    def _write_path(self, path: str) -> None:
        if path.startswith(settings.STATIC_URL):
            file = finders.find(path.removeprefix(settings.STATIC_URL))
            if file is None:
                raise BrokenSite(f"There is no file {path}.")
            self._save(file_of(path), Path(file).read_bytes())
            return
        response = self.client.get(path)
        if response.status_code != (404 if path == MISSING else 200):
            raise BrokenSite(f"{path} is answered with status {response.status_code}.")
        content = b"".join(response) if response.streaming else response.content
        if response["Content-Type"].partition(";")[0] == HTML:
            content = self._page(path, content.decode()).encode()
        self._save(file_of(path), content)

    def _page(self, path: str, text: str) -> str:
        if path == MISSING:
            # A host serves the 404 page at any URL, so its links begin at the root of the host.
            root = split_url(self.url).path or "/"
            return self._rewrite_links(path, text, lambda target: f"{root}{target}")
        if NOT_INDEXED not in text:
            self.indexed.append(path)
        self.pages += 1
        start = posixpath.dirname(file_of(path))
        return self._rewrite_links(path, text, lambda target: posixpath.relpath(target, start or "."))

    def _rewrite_links(self, path: str, text: str, address: Callable[[str], str]) -> str:
        """Return the page with its links to the service replaced.

        `address` returns a file's URL.
        """
        soup = BeautifulSoup(text, "html.parser")
        for element in soup.find_all(["link", "meta"]):
            self._rewrite_absolute_url(path, element)
        for element in soup.find_all(True):
            for name in LINK_ATTRIBUTES:
                if (value := str(element.get(name, ""))).startswith("/"):
                    target, mark, fragment = value.partition("#")
                    element[name] = f"{address(self._enqueue(path, target))}{mark}{fragment}"
        return str(soup)

    def _rewrite_absolute_url(self, path: str, element: Tag) -> None:
        """Replace the URL in a canonical link or a link preview, which must be absolute, or delete the element."""
        for name in ("href", "content"):
            value = str(element.get(name, ""))
            if not value.startswith(f"{settings.BASE_URL}/"):
                continue
            if not self.url or path == MISSING:
                element.decompose()
                return
            element[name] = self._public_url(self._enqueue(path, value.removeprefix(settings.BASE_URL)))

    def _enqueue(self, page: str, target: str) -> str:
        """Return the file for a link's target, and enqueue the target if it is new.

        Raises BrokenSite.
        """
        if not PUBLIC.fullmatch(split_url(target).path):
            raise BrokenSite(f"{page} has a link to {target}, which only the service answers.")
        if target not in self.targets and target != reverse("docs-search"):
            self.targets.add(target)
            self.queue.append(target)
        return file_of(target)

    def _public_url(self, name: str) -> str:
        """Return a file's absolute URL."""
        folder, base = posixpath.split(f"{self.url}{name}")
        return f"{folder}/" if base == INDEX else f"{folder}/{base}"

    def _relative(self, target: str, start: str) -> str:
        path, mark, fragment = target.partition("#")
        if path not in self.targets:
            raise BrokenSite(f"The search leads to {path}, which no page has a link to.")
        return f"{posixpath.relpath(file_of(path), start)}{mark}{fragment}"

    def _save(self, name: str, content: bytes) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
