"""Find oversized images and images that could be loaded lazily.

Oversized images have too many pixels.

Rules and tolerances are Lighthouse's (uses-responsive-images, offscreen-images).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from selectolax.lexbor import LexborNode

from website_scan.browser.devices import PHONE
from website_scan.browser.evidence import Layout, Load, LoadedRequest, RenderedImage, Viewport
from website_scan.page.css import style_images, style_references
from website_scan.page.evidence import Document, Page
from website_scan.page.image_headers import ImageFormat
from website_scan.page.markup import attribute, live, resolve
from website_scan.performance.evidence import Resource

KIB = 1024
# Images with a srcset have a higher limit, because their author provided several sizes.
MAX_TOLERATED_WASTE_BYTES, MAX_TOLERATED_SRCSET_WASTE_BYTES = 4 * KIB, 12 * KIB
# Smaller elements contain content that only screen readers announce.
MIN_VISIBLE_SIZE_PX = 2
# Even on a slow link, Chrome loads lazy images within 2,500 px.
LAZY_LOADING_SCREENS = 3
# An image far to the side of the screen belongs to a carousel or is hidden.
MAX_SIDE_DISTANCE_PX = 100
MIN_OFFSCREEN_BYTES = 2 * KIB
# Nobody sees more than two image pixels per CSS pixel (Lighthouse, image-size-responsive).
MAX_JUDGED_PIXEL_RATIO = 2.0
SMALL_IMAGE_PX = 64
LARGE_IMAGE_TOLERANCE = 0.75
# Smaller files are icons, or placeholders that are replaced when the image is loaded.
MIN_JUDGED_FILE_PX = 48


class OversizedFile(Struct, frozen=True):
    """Image whose file has more pixels than displayed.

    Sizes are (width, height).
    """

    image: RenderedImage
    file_size: tuple[int, int]  # Width and height of the image file in pixels.
    displayed_size: tuple[int, int]  # Width and height on the screen in device pixels.
    wire_bytes: int
    wasted_bytes: int


class LowResolutionImage(Struct, frozen=True):
    """Image whose file has fewer pixels than the screen displays.

    Sizes are (width, height).
    """

    image: RenderedImage
    file_size: tuple[int, int]  # Width and height of the image file in pixels.
    # Size in device pixels on a screen whose pixel ratio is at most MAX_JUDGED_PIXEL_RATIO.
    displayed_size: tuple[int, int]


def oversized_images(
    layout: Layout, requests: Sequence[LoadedRequest], resources: Sequence[Resource]
) -> list[OversizedFile]:
    """Return the images that waste more than a few KiB, the worst first.

    A repeated file counts at its largest size.

    Images without a known size are left out: vector images, files with an element that is hidden, and files of a srcset
    whose header was not read, because the browser reports their pixels divided by their density.
    """
    sizes = _received_bytes_by_url(requests)
    files = {resource.url: resource for resource in resources if resource.picture is not None}
    vectors = {request.url for request in requests if "svg" in request.media_type}
    oversized_images: list[OversizedFile] = []
    for url, images in _group_by_url(layout.images):
        if url not in sizes or url in vectors or not all(map(_has_visible_size, images)):
            continue
        compared = [_compare_with_box(image, files.get(url), sizes[url], layout.viewport) for image in images]
        measured = [result for result in compared if result is not None]
        if len(measured) < len(compared):
            continue
        least_wasteful_use = min(measured, key=lambda result: result.wasted_bytes)
        has_srcset = any(image.has_several_files for image in images)
        if least_wasteful_use.wasted_bytes > (
            MAX_TOLERATED_SRCSET_WASTE_BYTES if has_srcset else MAX_TOLERATED_WASTE_BYTES
        ):
            oversized_images.append(least_wasteful_use)
    return sorted(oversized_images, key=lambda result: -result.wasted_bytes)


def blurry_images(layout: Layout, resources: Sequence[Resource]) -> list[LowResolutionImage]:
    """Return the images with too few pixels for the screen.

    The worst image comes first (image-size-responsive).

    Images are left out that are intended to have few pixels (icons, placeholders of lazy images, spacers, pixel art),
    vector images, and images of a srcset whose file was not read.
    """
    files = {resource.url: resource.picture for resource in resources if resource.picture is not None}
    ratio = min(layout.viewport.ratio, MAX_JUDGED_PIXEL_RATIO)
    blurry: list[LowResolutionImage] = []
    for image in layout.images:
        file = files.get(image.url)
        if file is None or file.format is ImageFormat.SVG or min(file.width, file.height) < MIN_JUDGED_FILE_PX:
            continue
        if image.is_pixelated_or_blurred or not _has_visible_size(image) or min(image.natural_width, 1) <= 0:
            continue
        width, height = _compute_drawn_size(image, file.width, file.height, ratio)
        tolerance = 1.0 if max(image.width_px, image.height_px) <= SMALL_IMAGE_PX else LARGE_IMAGE_TOLERANCE
        if file.width * file.height < width * height * tolerance**2:
            blurry.append(LowResolutionImage(image, (file.width, file.height), (round(width), round(height))))
    return sorted(blurry, key=lambda low: low.file_size[0] / low.displayed_size[0])


def offscreen_images(layout: Layout, load: Load) -> list[tuple[RenderedImage, int]]:
    """Return the images that loaded early far below the first screen.

    They loaded before the load event and come with their bytes.

    They are sorted from top to bottom. Each file counts once, at its topmost position. Images with loading="eager" are
    left out: eager by choice.
    """
    sizes = _received_bytes_by_url(
        [request for request in load.requests if load.load_s is None or request.start_s < load.load_s]
    )
    largest = load.lcp.url.partition("#")[0] if load.lcp else ""
    min_top_px = layout.viewport.height_px * (1 + LAZY_LOADING_SCREENS)
    pairs = [
        (min(images, key=lambda image: image.top_px), sizes[url])
        for url, images in _group_by_url(layout.images)
        if url != largest
        and sizes.get(url, 0) >= MIN_OFFSCREEN_BYTES
        and all(_is_offscreen_image(image, min_top_px, layout.viewport) for image in images)
    ]
    return sorted(pairs, key=lambda pair: pair[0].top_px)


def _is_offscreen_image(image: RenderedImage, min_top_px: float, viewport: Viewport) -> bool:
    is_beside_screen = (
        image.left_px > viewport.width_px + MAX_SIDE_DISTANCE_PX
        or image.left_px + image.width_px < -MAX_SIDE_DISTANCE_PX
    )
    return (
        _has_visible_size(image)
        and image.top_px > min_top_px
        and not (is_beside_screen or image.is_lazy or image.is_eager)
    )


def _compare_with_box(
    image: RenderedImage, file: Resource | None, wire_bytes: int, viewport: Viewport
) -> OversizedFile | None:
    """Compare an image file's width and height with the displayed size.

    None if they are unknown.
    """
    width, height = image.natural_width, image.natural_height
    if image.has_several_files:
        if file is None or file.picture is None or file.picture.format is ImageFormat.SVG:
            return None
        width, height = file.picture.width, file.picture.height
    if width <= 0 or height <= 0:
        return None
    drawn = _compute_drawn_size(image, width, height, viewport.ratio)
    share = max(0.0, 1 - drawn[0] * drawn[1] / (width * height))
    return OversizedFile(
        image, (width, height), (round(drawn[0]), round(drawn[1])), wire_bytes, round(share * wire_bytes)
    )


def _compute_drawn_size(image: RenderedImage, width: int, height: int, ratio: float) -> tuple[float, float]:
    """Return width and height of the displayed image before cropping.

    They are in device pixels (CSS Images 3, section 4.5).
    """
    box_width, box_height = image.width_px * ratio, image.height_px * ratio
    # Browsers rotate photographs according to EXIF, which may swap width and height.
    if (width > height) != (image.natural_width > image.natural_height):
        width, height = height, width
    across, down = box_width / width, box_height / height
    match image.fit:
        case "cover":
            scale = max(across, down)
        case "contain":
            scale = min(across, down)
        case "none":
            scale = 1.0  # With `object-fit: none`, pages display a part of the image file.
        case "scale-down":
            scale = min(across, down, 1.0)
        case _:
            return box_width, box_height
    return width * scale, height * scale


def _has_visible_size(image: RenderedImage) -> bool:
    return image.is_visible and min(image.width_px, image.height_px) >= MIN_VISIBLE_SIZE_PX


def _group_by_url(images: Sequence[RenderedImage]) -> Iterator[tuple[str, list[RenderedImage]]]:
    grouped: dict[str, list[RenderedImage]] = defaultdict(list)
    for image in images:
        grouped[image.url.partition("#")[0]].append(image)
    yield from grouped.items()


def _received_bytes_by_url(requests: Sequence[LoadedRequest]) -> Mapping[str, int]:
    """Return the received bytes by URL.

    The largest response counts if there are several requests for a URL.
    """
    sizes: dict[str, int] = {}
    for request in requests:
        if request.url.startswith(("http://", "https://")) and request.wire_bytes > 0:
            sizes[request.url] = max(sizes.get(request.url, 0), request.wire_bytes)
    return sizes


MAX_SRCSET_CANDIDATES = 50
MAX_SRCSET_CHARACTERS = 50_000
LINK_HEADER_VALUE = re.compile(r"<([^<>]{1,2000})>([^<>]{0,500})")
PRELOAD = re.compile(r""";\s{0,9}rel\s{0,9}=\s{0,9}"?preload\b""", re.IGNORECASE)
FOR_IMAGES = re.compile(r""";\s{0,9}as\s{0,9}=\s{0,9}"?image\b""", re.IGNORECASE)
MEDIA_PARAMETER = re.compile(r""";\s{0,9}media\s{0,9}=\s{0,9}"([^"]{0,300})["]""", re.IGNORECASE)
WIDTH_LIMIT = re.compile(r"\((min|max)-width\s{0,9}:\s{0,9}(\d{1,6}(?:\.\d{1,6})?)(px|r?em)\s{0,9}\)")
LANDSCAPE = "orientation: landscape"
MAX_MEDIA_CHARACTERS = 1_000
EM_PX = 16.0
URGENT = re.compile(r""";\s{0,9}fetchpriority\s{0,9}=\s{0,9}"?high\b""", re.IGNORECASE)


def is_in_markup(page: Page, document: Document, url: str) -> bool:
    """Return True if the document refers to the image.

    Elements, styles and Link headers count. `url` has no fragment.
    """
    nodes = live(document, "img, source, input, video, image, link, style, [style]")
    addresses = (address for node in nodes for address in _image_addresses(node))
    return _contains_url(document, addresses, url) or _contains_url(document, _preloaded_addresses(page, PRELOAD), url)


def is_preloaded_urgently(page: Page, document: Document, url: str) -> bool:
    """Return True if the page preloads the image with fetchpriority="high".

    `url` has no fragment.
    """
    return _is_preloaded(page, document, url, "[fetchpriority=high i]", URGENT)


def is_preloaded(page: Page, document: Document, url: str) -> bool:
    """Return True if a link element or Link header preloads the image.

    `url` has no fragment.
    """
    return _is_preloaded(page, document, url, "")


def _is_preloaded(page: Page, document: Document, url: str, selector: str, *parameters: re.Pattern[str]) -> bool:
    """Return True if a preload is for images and for the scanning screen.

    HTML, "Link type preload".
    """
    nodes = (
        node
        for node in live(document, f"link[rel~=preload i][as=image i]{selector}")
        if _matches_screen(attribute(node, "media") or "")
    )
    addresses = (address for node in nodes for address in _image_addresses(node))
    headers = _preloaded_addresses(page, PRELOAD, FOR_IMAGES, *parameters)
    return _contains_url(document, addresses, url) or _contains_url(document, headers, url)


def _matches_screen(media: str) -> bool:
    """Return False if the media queries exclude the scanning screen.

    Conditions other than widths count as met.
    """
    return any(_is_query_met(query) for query in media[:MAX_MEDIA_CHARACTERS].lower().split(","))


def _is_query_met(query: str) -> bool:
    if query.split()[:1] == ["print"] or LANDSCAPE in query:
        return False
    for limit, number, unit in WIDTH_LIMIT.findall(query):
        width = float(number) * (1 if unit == "px" else EM_PX)
        if (limit == "min" and width > PHONE.width) or (limit == "max" and width < PHONE.width):
            return False
    return True


def _contains_url(document: Document, addresses: Iterator[str], url: str) -> bool:
    return any(
        (resolved := resolve(document, address)) is not None and resolved.without_fragment == url
        for address in addresses
    )


def _image_addresses(node: LexborNode) -> Iterator[str]:
    for name in ("src", "href", "xlink:href", "poster"):
        if address := attribute(node, name):
            yield address.strip()
    for name in ("srcset", "imagesrcset"):
        # Descriptors such as `2x` are also yielded, because they match no image's URL.
        for candidate in (attribute(node, name) or "")[:MAX_SRCSET_CHARACTERS].split(maxsplit=MAX_SRCSET_CANDIDATES)[
            :MAX_SRCSET_CANDIDATES
        ]:
            yield candidate.strip(",")
    if node.tag == "style":
        yield from style_references(node.text() or "").images
    else:
        yield from style_images(attribute(node, "style") or "")


def _preloaded_addresses(page: Page, *parameters: re.Pattern[str]) -> Iterator[str]:
    for header in page.headers.all("Link"):
        for address, attributes in LINK_HEADER_VALUE.findall(header):
            media = MEDIA_PARAMETER.search(attributes)
            is_for_screen = media is None or _matches_screen(media[1])
            if is_for_screen and all(parameter.search(attributes) for parameter in parameters):
                yield address
