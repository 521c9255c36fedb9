"""Image elements in a browser's layout: files with more pixels than the screen shows, and files that could be lazy.

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
# Tolerated waste of an image. Images with several files (srcset) have a higher limit: their author adapted the sizes.
TOLERATED_BYTES, TOLERATED_BYTES_OF_CHOICES = 4 * KIB, 12 * KIB
# Smaller boxes are for content that only screen readers announce.
MIN_BOX_PX = 2
# Chrome defers a lazy image this far below the first screen even on a slow link, where it loads 2,500 px ahead.
SCREENS_AHEAD = 3
# An image further beside the screen belongs to a carousel, or is hidden.
BESIDE_PX = 100
MIN_OFFSCREEN_BYTES = 2 * KIB


@dataclass(frozen=True, slots=True)
class Oversized:
    """Image whose file has more pixels than its box on the screen, both as (width, height)."""

    image: RenderedImage
    file_size: tuple[int, int]  # in pixels of the file
    displayed_size: tuple[int, int]  # in device pixels
    wire_bytes: int
    wasted_bytes: int


def oversized_images(
    layout: Layout, requests: Sequence[LoadedRequest], resources: Sequence[Resource]
) -> list[Oversized]:
    """Return the images that waste more than a few KiB, the worst first. A repeated file counts with its largest box.

    Images without a known size are left out: vector images, files with an element that is hidden, and files of a srcset
    whose header was not read, because the browser reports their pixels divided by their density.
    """
    sizes = _wire_bytes(requests)
    files = {resource.url: resource for resource in resources if resource.picture is not None}
    vectors = {request.url for request in requests if "svg" in request.media_type}
    oversized_images: list[Oversized] = []
    for url, images in _by_url(layout.images):
        if url not in sizes or url in vectors or not all(map(_has_box, images)):
            continue
        compared = [_compare_with_box(image, files.get(url), sizes[url], layout.viewport) for image in images]
        measured = [result for result in compared if result is not None]
        if len(measured) < len(compared):
            continue
        least_wasteful = min(measured, key=lambda result: result.wasted_bytes)
        has_choices = any(image.has_choices for image in images)
        if least_wasteful.wasted_bytes > (TOLERATED_BYTES_OF_CHOICES if has_choices else TOLERATED_BYTES):
            oversized_images.append(least_wasteful)
    return sorted(oversized_images, key=lambda result: -result.wasted_bytes)


def offscreen_images(layout: Layout, load: Load) -> list[tuple[RenderedImage, int]]:
    """Return images far below the first screen that loaded before the load event, with their bytes, topmost first.

    Each file counts once, at its topmost position. Images with loading="eager" are left out: eager by choice.
    """
    sizes = _wire_bytes([request for request in load.requests if load.load_s is None or request.start_s < load.load_s])
    largest = load.lcp.url.partition("#")[0] if load.lcp else ""
    far_px = layout.viewport.height_px * (1 + SCREENS_AHEAD)
    pairs = [
        (min(images, key=lambda image: image.top_px), sizes[url])
        for url, images in _by_url(layout.images)
        if url != largest
        and sizes.get(url, 0) >= MIN_OFFSCREEN_BYTES
        and all(_is_offscreen(image, far_px, layout.viewport) for image in images)
    ]
    return sorted(pairs, key=lambda pair: pair[0].top_px)


def _is_offscreen(image: RenderedImage, far_px: float, viewport: Viewport) -> bool:
    is_beside = image.left_px > viewport.width_px + BESIDE_PX or image.left_px + image.width_px < -BESIDE_PX
    return _has_box(image) and image.top_px > far_px and not (is_beside or image.is_lazy or image.is_eager)


def _compare_with_box(
    image: RenderedImage, file: Resource | None, wire_bytes: int, viewport: Viewport
) -> Oversized | None:
    """Compare an image's file with its box; None if the pixels of the file are unknown."""
    width, height = image.natural_width, image.natural_height
    if image.has_choices:
        if file is None or file.picture is None or file.picture.format is ImageFormat.SVG:
            return None
        width, height = file.picture.width, file.picture.height
    if width <= 0 or height <= 0:
        return None
    drawn = _drawn_size(image, width, height, viewport.ratio)
    share = max(0.0, 1 - drawn[0] * drawn[1] / (width * height))
    return Oversized(image, (width, height), (round(drawn[0]), round(drawn[1])), wire_bytes, round(share * wire_bytes))


def _drawn_size(image: RenderedImage, width: int, height: int, ratio: float) -> tuple[float, float]:
    """Return width and height, in device pixels, of the whole file as drawn before cropping (CSS Images 3, 4.5)."""
    box_width, box_height = image.width_px * ratio, image.height_px * ratio
    # Browsers rotate photographs by their EXIF orientation, which swaps width and height.
    if (width > height) != (image.natural_width > image.natural_height):
        width, height = height, width
    across, down = box_width / width, box_height / height
    match image.fit:
        case "cover":
            scale = max(across, down)
        case "contain":
            scale = min(across, down)
        case "none":
            scale = 1.0  # pages use `none` to show a part of the file
        case "scale-down":
            scale = min(across, down, 1.0)
        case _:
            return box_width, box_height
    return width * scale, height * scale


def _has_box(image: RenderedImage) -> bool:
    return image.is_visible and min(image.width_px, image.height_px) >= MIN_BOX_PX


def _by_url(images: Sequence[RenderedImage]) -> Iterator[tuple[str, list[RenderedImage]]]:
    grouped: dict[str, list[RenderedImage]] = defaultdict(list)
    for image in images:
        grouped[image.url.partition("#")[0]].append(image)
    yield from grouped.items()


def _wire_bytes(requests: Sequence[LoadedRequest]) -> Mapping[str, int]:
    """Return the received bytes by URL; of several requests for a URL, those of the largest response."""
    sizes: dict[str, int] = {}
    for request in requests:
        if request.url.startswith(("http://", "https://")) and request.wire_bytes > 0:
            sizes[request.url] = max(sizes.get(request.url, 0), request.wire_bytes)
    return sizes


# Limits for a srcset: number of candidates, and characters.
MAX_CANDIDATES = 50
MAX_SOURCE_SET = 50_000
LINK_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>]{0,500})")
PRELOAD = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?preload\b""", re.IGNORECASE)
URGENT = re.compile(r""";\s{0,9}fetchpriority\s{0,9}=\s{0,9}"?high\b""", re.IGNORECASE)


def is_in_markup(page: Page, document: Document, url: str) -> bool:
    """Return True if the document's elements, styles or Link headers refer to the image. `url` has no fragment."""
    nodes = live(document, "img, source, input, video, image, link, style, [style]")
    addresses = (address for node in nodes for address in _addresses(node))
    return _is_among(document, addresses, url) or _is_among(document, _preloads(page, PRELOAD), url)


def is_preloaded_urgently(page: Page, document: Document, url: str) -> bool:
    """Return True if the page preloads the image with fetchpriority="high". `url` has no fragment."""
    nodes = live(document, "link[rel~=preload i][fetchpriority=high i]")
    addresses = (address for node in nodes for address in _addresses(node))
    return _is_among(document, addresses, url) or _is_among(document, _preloads(page, PRELOAD, URGENT), url)


def _is_among(document: Document, addresses: Iterator[str], url: str) -> bool:
    return any(
        (resolved := resolve(document, address)) is not None and resolved.without_fragment == url
        for address in addresses
    )


def _addresses(node: LexborNode) -> Iterator[str]:
    for name in ("src", "href", "xlink:href", "poster"):
        if address := attribute(node, name):
            yield address.strip()
    for name in ("srcset", "imagesrcset"):
        # Descriptors such as `2x` are yielded as well: as URLs they match no image.
        for candidate in (attribute(node, name) or "")[:MAX_SOURCE_SET].split(maxsplit=MAX_CANDIDATES)[:MAX_CANDIDATES]:
            yield candidate.strip(",")
    if node.tag == "style":
        yield from style_references(node.text() or "").images
    else:
        yield from style_images(attribute(node, "style") or "")


def _preloads(page: Page, *parameters: re.Pattern[str]) -> Iterator[str]:
    for header in page.headers.all("Link"):
        for address, attributes in LINK_VALUE.findall(header):
            if all(parameter.search(attributes) for parameter in parameters):
                yield address
