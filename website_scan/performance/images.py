"""Image elements as a browser laid them out: files larger than the screen can show, and files that could be lazy.

Rules and tolerances are Lighthouse's (uses-responsive-images, offscreen-images).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from website_scan.browser.evidence import Layout, Load, LoadedRequest, RenderedImage, Viewport
from website_scan.page.css import style_images, style_references
from website_scan.page.evidence import Document, Page
from website_scan.page.image_headers import ImageFormat
from website_scan.page.markup import attribute, live, resolve
from website_scan.performance.evidence import Resource

KIB = 1024
# Per image. The second limit is for images that offer several files: their author has already adapted the sizes.
TOLERATED_BYTES, TOLERATED_BYTES_OF_CHOICES = 4 * KIB, 12 * KIB
# Smaller boxes hide their content from all but screen readers.
LEAST_BOX_PX = 2
# A lazy image further below the first screen is deferred even on a slow link, on which Chrome looks 2,500 px ahead.
SCREENS_AHEAD = 3
# An image further to the side belongs to a carousel, or is hidden.
BESIDE_PX = 100
LEAST_OFFSCREEN_BYTES = 2 * KIB


@dataclass(frozen=True, slots=True)
class Oversized:
    """An image whose file has more pixels than its box on the screen. `shown` and `file` are (width, height)."""

    image: RenderedImage
    file: tuple[int, int]
    shown: tuple[int, int]  # in device pixels
    wire_bytes: int
    wasted_bytes: int


def oversized(layout: Layout, requests: Sequence[LoadedRequest], resources: Sequence[Resource]) -> list[Oversized]:
    """Return the images that waste more than a few KiB, the worst first. A repeated file counts with its largest box.

    Left out are images without a known size: vector images, files that are hidden in one place, and files chosen from
    several whose header was not read, because the browser reports their pixels divided by their density.
    """
    sizes = _wire_bytes(requests)
    files = {each.url: each for each in resources if each.picture is not None}
    vectors = {each.url for each in requests if "svg" in each.media_type}
    found: list[Oversized] = []
    for url, images in _by_url(layout.images):
        if url not in sizes or url in vectors or not all(map(_has_box, images)):
            continue
        judged = [_judged(each, files.get(url), sizes[url], layout.viewport) for each in images]
        known = [each for each in judged if each is not None]
        if len(known) < len(judged):
            continue
        best = min(known, key=lambda each: each.wasted_bytes)
        has_choices = any(each.has_choices for each in images)
        if best.wasted_bytes > (TOLERATED_BYTES_OF_CHOICES if has_choices else TOLERATED_BYTES):
            found.append(best)
    return sorted(found, key=lambda each: -each.wasted_bytes)


def offscreen(layout: Layout, load: Load) -> list[tuple[RenderedImage, int]]:
    """Return images far below the first screen that loaded before the load event, with their bytes, topmost first.

    Each file counts once, at its highest position. Images with loading="eager" are left out: the author has decided.
    """
    sizes = _wire_bytes([each for each in load.requests if load.load_s is None or each.start_s < load.load_s])
    largest = load.lcp.url.partition("#")[0] if load.lcp else ""
    far_px = layout.viewport.height_px * (1 + SCREENS_AHEAD)
    found = [
        (min(images, key=lambda each: each.top_px), sizes[url])
        for url, images in _by_url(layout.images)
        if url != largest
        and sizes.get(url, 0) >= LEAST_OFFSCREEN_BYTES
        and all(_is_offscreen(each, far_px, layout.viewport) for each in images)
    ]
    return sorted(found, key=lambda pair: pair[0].top_px)


def _is_offscreen(image: RenderedImage, far_px: float, viewport: Viewport) -> bool:
    is_beside = image.left_px > viewport.width_px + BESIDE_PX or image.left_px + image.width_px < -BESIDE_PX
    return _has_box(image) and image.top_px > far_px and not (is_beside or image.is_lazy or image.is_eager)


def _judged(image: RenderedImage, file: Resource | None, wire_bytes: int, viewport: Viewport) -> Oversized | None:
    """Compare an image's file with its box; None if the file's own pixels are unknown."""
    width, height = image.natural_width, image.natural_height
    if image.has_choices:
        if file is None or file.picture is None or file.picture.format is ImageFormat.SVG:
            return None
        width, height = file.picture.width, file.picture.height
    if width <= 0 or height <= 0:
        return None
    shown = _needed(image, width, height, viewport.ratio)
    share = max(0.0, 1 - shown[0] * shown[1] / (width * height))
    return Oversized(image, (width, height), (round(shown[0]), round(shown[1])), wire_bytes, round(share * wire_bytes))


def _needed(image: RenderedImage, width: int, height: int, ratio: float) -> tuple[float, float]:
    """Return width and height in device pixels at which the whole file is drawn, cropped or not (CSS Images 3, 4.5)."""
    box_width, box_height = image.width_px * ratio, image.height_px * ratio
    # Photographs that are rotated when shown (EXIF) have their sides swapped.
    if (width > height) != (image.natural_width > image.natural_height):
        width, height = height, width
    across, down = box_width / width, box_height / height
    match image.fit:
        case "cover":
            scale = max(across, down)
        case "contain":
            scale = min(across, down)
        case "none":
            scale = 1.0  # used to show a part of the file
        case "scale-down":
            scale = min(across, down, 1.0)
        case _:
            return box_width, box_height
    return width * scale, height * scale


def _has_box(image: RenderedImage) -> bool:
    return image.is_visible and min(image.width_px, image.height_px) >= LEAST_BOX_PX


def _by_url(images: Sequence[RenderedImage]) -> Iterator[tuple[str, list[RenderedImage]]]:
    grouped: dict[str, list[RenderedImage]] = defaultdict(list)
    for each in images:
        grouped[each.url.partition("#")[0]].append(each)
    yield from grouped.items()


def _wire_bytes(requests: Sequence[LoadedRequest]) -> Mapping[str, int]:
    """Return the bytes of each requested URL; of several requests, those of the largest."""
    found: dict[str, int] = {}
    for each in requests:
        if each.url.startswith(("http://", "https://")) and each.wire_bytes > 0:
            found[each.url] = max(found.get(each.url, 0), each.wire_bytes)
    return found


# Limits for one attribute with several candidates.
MAX_CANDIDATES = 50
MAX_SOURCE_SET = 50_000
LINK_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>]{0,500})")
PRELOAD = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?preload\b""", re.IGNORECASE)
URGENT = re.compile(r""";\s{0,9}fetchpriority\s{0,9}=\s{0,9}"?high\b""", re.IGNORECASE)


def is_in_markup(page: Page, document: Document, url: str) -> bool:
    """Return True if the document's elements, styles or Link headers reference the image; `url` has no fragment."""
    nodes = live(document, "img, source, input, video, image, link, style, [style]")
    asked = (address for node in nodes for address in _addresses(node))
    return _is_among(document, asked, url) or _is_among(document, _preloads(page, PRELOAD), url)


def is_preloaded_urgently(page: Page, document: Document, url: str) -> bool:
    """Return True if a preload with fetchpriority="high" requests the image."""
    nodes = live(document, "link[rel~=preload i][fetchpriority=high i]")
    asked = (address for node in nodes for address in _addresses(node))
    return _is_among(document, asked, url) or _is_among(document, _preloads(page, PRELOAD, URGENT), url)


def _is_among(document: Document, addresses: Iterator[str], url: str) -> bool:
    return any(
        (found := resolve(document, address)) is not None and found.without_fragment == url for address in addresses
    )


def _addresses(node: LexborNode) -> Iterator[str]:
    for name in ("src", "href", "xlink:href", "poster"):
        if address := attribute(node, name):
            yield address.strip()
    for name in ("srcset", "imagesrcset"):
        # Descriptors are not filtered out: as URLs they match no image.
        for candidate in (attribute(node, name) or "")[:MAX_SOURCE_SET].split(maxsplit=MAX_CANDIDATES)[:MAX_CANDIDATES]:
            yield candidate.strip(",")
    if node.tag == "style":
        yield from style_references(node.text() or "").images
    else:
        yield from style_images(attribute(node, "style") or "")


def _preloads(page: Page, *parameters: re.Pattern[str]) -> Iterator[str]:
    for header in page.headers.all("Link"):
        for address, behind in LINK_VALUE.findall(header):
            if all(each.search(behind) for each in parameters):
                yield address
