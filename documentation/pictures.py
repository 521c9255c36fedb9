"""Pictures of the guides: files in static/img/, each in a light and a dark version.

The documents have them as `<picture>` elements, which GitHub shows by the reader's colour scheme. All other HTML in a
document is escaped, so that these elements become Markdown images first.
"""

from __future__ import annotations

import functools
import re
from html import escape

from django.conf import settings
from django.templatetags.static import static
from django.utils.safestring import SafeString

from website_scan.page.image_headers import ImageHeader, read_image_header

ELEMENT = re.compile(
    r'^<picture>\n  <source media="\(prefers-color-scheme: dark\)" srcset="(\S+)-dark\.webp">\n'
    r'  <img src="\1-light\.webp" alt="([^"\[\]\n]+)">\n</picture>$',
    re.MULTILINE,
)
# Path of a picture relative to docs/.
PATH = re.compile(r"\.\./static/(img/[\w/-]+)-light\.webp")


def with_markdown_images(text: str) -> str:
    """Return a document with its `<picture>` elements as Markdown images of their light versions."""
    return ELEMENT.sub(r"![\2](\1-light.webp)", text)


def picture(target: str, description: str) -> SafeString:
    """Return the HTML of a picture, or its escaped description if `target` is no picture of this repository.

    The browser chooses the version by the colour scheme, and knows the size before it loads the file.
    """
    match = PATH.fullmatch(target)
    if match is None:
        return SafeString(escape(description))
    light, dark = (f"{match[1]}-{theme}.webp" for theme in ("light", "dark"))
    size = _size(light)
    return SafeString(
        f'<picture><source srcset="{static(dark)}" media="(prefers-color-scheme: dark)">'
        f'<img src="{static(light)}" width="{size.width}" height="{size.height}" alt="{escape(description)}" '
        'loading="lazy"></picture>'
    )


@functools.cache
def _size(name: str) -> ImageHeader:
    header = read_image_header((settings.BASE_DIR / "static" / name).read_bytes())
    assert header is not None, name
    return header
