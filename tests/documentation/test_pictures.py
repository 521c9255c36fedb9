"""Tests for pictures of the guides on the documentation pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from documentation.contents import resolver
from documentation.markdown import Chunk, render
from documentation.pictures import with_markdown_images
from tests.page_reading import page_of, parsed, strings
from website_scan.page.image_headers import ImageFormat, read_image_header

MAX_BYTES = 60 * 1024
DOCUMENT = (settings.BASE_DIR / "docs" / "statement.md").read_text(encoding="utf-8")
PICTURE = """<picture>
  <source media="(prefers-color-scheme: dark)" srcset="../static/img/statement/scan-dark.webp">
  <img src="../static/img/statement/scan-light.webp" alt="A form, with “quotes” & <signs>.">
</picture>"""


def file_of(url: str) -> bytes:
    return Path(finders.find(url.removeprefix("/static/")) or "").read_bytes()


def test_guide_shows_each_picture_in_both_themes() -> None:
    page = page_of(Client().get("/docs/statement"))
    images = page.xpath("//main//picture//img")
    assert len(images) == DOCUMENT.count("<picture>") == 8
    assert "<picture" not in page.text_content()
    for image in images:
        (dark,) = strings(image, "ancestor::picture//source[@media='(prefers-color-scheme: dark)']/@srcset")
        light = image.get("src")
        assert dark == light.replace("-light.webp", "-dark.webp") != light
        assert len(image.get("alt")) > 40
        for url in (light, dark):
            content = file_of(url)
            header = read_image_header(content)
            assert header is not None
            assert header.format is ImageFormat.WEBP
            # A wrong size would shift the text when the picture arrives.
            assert (header.width, header.height) == (int(image.get("width")), int(image.get("height")))
            assert len(content) < MAX_BYTES, url


def test_every_committed_picture_is_in_the_guide() -> None:
    files = {path.name for path in (settings.BASE_DIR / "static" / "img" / "statement").iterdir()}
    assert files == set(re.findall(r"statement/([\w-]+\.webp)", DOCUMENT))


def test_picture_element_becomes_a_picture_with_an_escaped_description() -> None:
    rendered, _ = render([Chunk(2, "Title", "", with_markdown_images(PICTURE))], resolver("statement.md"))
    (image,) = parsed(f"<main>{rendered}</main>").xpath("//picture//img")
    assert image.get("alt") == "A form, with “quotes” & <signs>."


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.test/a-light.webp",
        "../static/img/../../secret-light.webp",
        "../static/img/statement/scan.webp",
        "/static/img/statement/scan-light.webp",
        "../static/js/site-light.webp",
    ],
)
def test_other_images_are_shown_as_their_description(target: str) -> None:
    rendered, _ = render([Chunk(2, "Title", "", f"![a **fine** <b>day]({target})")], resolver("statement.md"))
    page = parsed(f"<main>{rendered}</main>")
    assert page.xpath("//img | //picture | //b") == []
    assert "day" in page.text_content()


@pytest.mark.parametrize(
    "changed",
    [
        PICTURE.replace("scan-dark", "report-dark"),
        PICTURE.replace("<img src", "<img onerror='alert(1)' src"),
        PICTURE.replace("<img", "<script></script><img"),
    ],
)
def test_other_elements_of_pictures_are_escaped(changed: str) -> None:
    rendered, _ = render([Chunk(2, "Title", "", with_markdown_images(changed))], resolver("statement.md"))
    assert parsed(f"<main>{rendered}</main>").xpath("//img | //picture | //script") == []
