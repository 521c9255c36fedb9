"""The public pages as static files, with relative links: for any host, for a folder of it, and for file: URLs.

The pages are those of the service, found from its start page by their links and rendered by its views and templates
(docs/adr/0021-the-public-pages-as-files.md).
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.urls import reverse

from documentation.search import search_index
from website_scan.written_urls import split_url

# Paths that mean something without the service.
PUBLIC = re.compile(r"/(?:docs/.*|samples/.*|report/sample/.+|card/\w+\.png|static/.+|openapi\.yaml|licence)?")
# Addresses within the service in the house's templates, whose attributes have double quotes.
LINK = re.compile(r'(?<=[ \n])(href|src|srcset|action|data-index)="(/[^"]*)"')
INDEX = "index.html"
MISSING = "/404"
HTML = "text/html"
# Sample reports are about sites that do not exist.
NOT_INDEXED = '<meta name="robots" content="noindex'


class BrokenSite(Exception):
    """A page has a link that only the service could answer, or that leads nowhere."""


def build(folder: Path, url: str = "") -> int:
    """Write the site into an empty folder and return the number of its pages.

    `url` is the address that the site will have, with a slash at its end. Without it, the site has no sitemap, no
    canonical addresses and no pictures for previews of links, which would need it. Raises BrokenSite.
    """
    plain = settings.STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    with override_settings(
        STATIC_SITE=True, STORAGES=plain, STATIC_ROOT=settings.BASE_DIR / "static", ACCESS_LOG=False
    ):
        return _Site(folder, url).write()


def file_of(target: str) -> str:
    """Return the file of a path of the service with its query, relative to the site's root."""
    parts = split_url(target)
    if parts.path == reverse("licence"):
        return "licence.txt"
    path = parts.path.removeprefix("/")
    if parts.query:
        # A list with a filter: /docs/checks/?type=seo
        name = "-".join(each for pair in parse_qsl(parts.query) for each in pair)
        return f"{path}{name}.html"
    if not path or path.endswith("/"):
        return f"{path}{INDEX}"
    return path if "." in posixpath.basename(path) else f"{path}.html"


class _Site:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.client = Client(SERVER_NAME=split_url(settings.BASE_URL).hostname or "localhost")
        self.waiting = deque([reverse("landing"), reverse("docs"), reverse("schema"), MISSING])
        self.known = set(self.waiting)
        self.pages = 0
        self.listed: list[str] = []  # in the sitemap
        # The links and pictures of previews, which need whole addresses.
        base = re.escape(settings.BASE_URL)
        self.absolute = re.compile(rf'[ ]*<(?:link|meta)[^>]* (?:href|content)="({base}(/[^"]*))"[^>]*>\n?')

    def write(self) -> int:
        while self.waiting:
            self._write_path(self.waiting.popleft())
        index = reverse("docs-search")
        start = posixpath.dirname(file_of(index))
        self._save(file_of(index), search_index(lambda path: self._relative(path, start)).encode())
        if self.url:
            urls = [self._public(file_of(each)) for each in self.listed]
            self._save("sitemap.xml", render_to_string("documentation/sitemap.xml", {"urls": urls}).encode())
        return self.pages

    def _write_path(self, path: str) -> None:
        if path.startswith(settings.STATIC_URL):
            found = finders.find(path.removeprefix(settings.STATIC_URL))
            if found is None:
                raise BrokenSite(f"There is no file {path}.")
            self._save(file_of(path), Path(found).read_bytes())
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
            # A host shows this page at any address, so its links begin at the root of the host.
            root = split_url(self.url).path or "/"
            return self._linked(path, text, lambda target: f"{root}{target}")
        if NOT_INDEXED not in text:
            self.listed.append(path)
        self.pages += 1
        start = posixpath.dirname(file_of(path))
        return self._linked(path, text, lambda target: posixpath.relpath(target, start or "."))

    def _linked(self, path: str, text: str, address: Callable[[str], str]) -> str:
        """Return the page with each link to a path of the service led to its file, whose address `address` returns."""

        def absolute(found: re.Match[str]) -> str:
            if not self.url or path == MISSING:
                return ""
            return found[0].replace(found[1], self._public(self._linked_file(path, found[2])))

        def relative(found: re.Match[str]) -> str:
            target, mark, fragment = found[2].partition("#")
            return f'{found[1]}="{address(self._linked_file(path, target))}{mark}{fragment}"'

        return LINK.sub(relative, self.absolute.sub(absolute, text))

    def _linked_file(self, page: str, target: str) -> str:
        target = target.replace("&amp;", "&")
        if not PUBLIC.fullmatch(split_url(target).path):
            raise BrokenSite(f"{page} has a link to {target}, which only the service answers.")
        if target not in self.known and target != reverse("docs-search"):
            self.known.add(target)
            self.waiting.append(target)
        return file_of(target)

    def _public(self, name: str) -> str:
        """Return the address of a file."""
        folder, base = posixpath.split(f"{self.url}{name}")
        return f"{folder}/" if base == INDEX else f"{folder}/{base}"

    def _relative(self, target: str, start: str) -> str:
        path, mark, fragment = target.partition("#")
        if path not in self.known:
            raise BrokenSite(f"The search leads to {path}, which no page has a link to.")
        return f"{posixpath.relpath(file_of(path), start)}{mark}{fragment}"

    def _save(self, name: str, content: bytes) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
