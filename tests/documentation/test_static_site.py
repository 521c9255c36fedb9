"""Tests for the static site from `manage.py site_docs`.

Its links work from any folder and from file: URLs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from lxml import etree, html

from documentation.static_site import BrokenSite, build, file_of
from tests.page_reading import parsed, strings

URL = "https://docs.example.com/scans/"
LINKS = "//@href | //@src | //@srcset | //@action | //@data-index"


def build_site(folder: Path, *arguments: str) -> Path:
    """Build the site in a separate process, like `make site-docs`."""
    environment = {"PATH": os.environ["PATH"], "SECRET_KEY": "x" * 40, "DATA_DIR": "/dev/null"}
    command = [sys.executable, "-W", "error", "manage.py", "site_docs", str(folder), *arguments]
    ran = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site") / "built", "--url", URL)


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, html.HtmlElement]:
    return {path: parsed(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def links(pages: dict[Path, html.HtmlElement]) -> Iterator[tuple[Path, str]]:
    for file, page in pages.items():
        for link in page.xpath(LINKS):
            if not urlsplit(link).scheme:
                yield file, link


def test_static_site_links_are_valid(site: Path, pages: dict[Path, html.HtmlElement]) -> None:
    broken, count = [], 0
    for file, link in links(pages):
        if file.name == "404.html":
            continue
        path, _, anchor = link.partition("#")
        target = (file.parent / unquote(path.partition("?")[0])).resolve() if path.partition("?")[0] else file
        count += 1
        is_existing_file = target.is_file() and target.is_relative_to(site.resolve())
        if not is_existing_file or (anchor and target.suffix == ".html" and anchor not in pages[target].xpath("//@id")):
            broken.append((str(file.relative_to(site)), link))
    assert broken == []
    assert count > 10_000


def test_static_site_links_are_relative(
    pages: dict[Path, html.HtmlElement],
) -> None:
    """The host serves 404.html at any URL.

    Relative links would be wrong there.
    """
    for file, link in links(pages):
        if file.name == "404.html":
            assert link.startswith(("/scans/", "#")), link
        else:
            assert not link.startswith("/"), (file, link)


def test_static_site_has_no_forms(site: Path, pages: dict[Path, html.HtmlElement]) -> None:
    for file, page in pages.items():
        assert page.xpath("//form[@method='post']") == [], file
        assert page.xpath("//a[contains(@href, 'login') or contains(@href, 'signup')]") == [], file
        assert [
            element for element in page.xpath("//link/@href | //script/@src | //img/@src") if "//localhost" in element
        ] == []
        assert page.xpath("//script[not(@src)]") == page.xpath("//style") == page.xpath("//@style") == [], file


def test_static_site_contains_guides_and_samples(site: Path) -> None:
    for name in (
        "index.html", "404.html", "openapi.yaml", "licence.txt", "docs/index.html", "docs/walkthrough.html",
        "docs/operations.html", "docs/upgrades.html", "docs/comparison.html", "docs/compatibility.html",
        "docs/api/scans.html", "docs/checks/index.html", "docs/checks/hsts.html", "docs/checks/type-seo.html",
        "samples/index.html", "samples/site.html", "samples/list.html", "report/sample/blog-accessibility.html",
    ):  # fmt: skip
        assert (site / name).is_file(), name


def test_sitemap_lists_canonical_urls(site: Path, pages: dict[Path, html.HtmlElement]) -> None:
    locations = strings(etree.fromstring((site / "sitemap.xml").read_bytes()), "//*[local-name()='loc']/text()")
    assert {URL, f"{URL}docs/", f"{URL}docs/checks/hsts.html"} <= {*locations}
    for location in locations:
        file = site / location.removeprefix(URL)
        file = file / "index.html" if location.endswith("/") else file
        assert pages[file].xpath("//link[@rel='canonical']/@href") == [location]
    listed = [page for page in pages.values() if not page.xpath("//meta[@name='robots']")]
    assert len(locations) == len(listed) > 280
    (picture,) = pages[site / "index.html"].xpath("//meta[@property='og:image']/@content")
    assert (site / picture.removeprefix(URL)).read_bytes()[:4] == b"\x89PNG"


def test_search_results_link_to_files(site: Path) -> None:
    text = (site / "docs" / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("globalThis.searchIndex = ").removesuffix(";\n"))
    targets = {address.partition("#")[0] for *_, address in index["sections"]}
    assert {"operations.html", "checks/hsts.html", "api/scans.html"} <= targets
    assert [target for target in targets if not (site / "docs" / target).is_file()] == []


def test_site_without_url_has_no_canonical_urls(tmp_path: Path) -> None:
    site = build_site(tmp_path / "built")
    assert not (site / "sitemap.xml").exists()
    page = parsed((site / "docs" / "index.html").read_text(encoding="utf-8"))
    assert page.xpath("//link[@rel='canonical'] | //meta[@property='og:url' or @property='og:image']") == []


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("/", "index.html"),
        ("/docs/", "docs/index.html"),
        ("/docs/checks/?type=seo", "docs/checks/type-seo.html"),
        ("/docs/checks/hsts", "docs/checks/hsts.html"),
        ("/licence", "licence.txt"),
        ("/report/sample/seo/film/0.jpg", "report/sample/seo/film/0.jpg"),
    ],
)
def test_path_is_written_to_the_expected_file(target: str, file: str) -> None:
    assert file_of(target) == file


def test_static_site_cannot_link_to_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("documentation.static_site.PUBLIC", re.compile("/(?:docs/)?"))
    with pytest.raises(BrokenSite, match="which only the service answers"):
        build(tmp_path)


def test_site_docs_does_not_overwrite_other_folders(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(CommandError, match="something other"):
        call_command("site_docs", str(tmp_path))
    with pytest.raises(CommandError, match="is not an address"):
        call_command("site_docs", str(tmp_path / "new"), "--url", "docs.example.com")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
