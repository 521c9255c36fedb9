"""Checks for layout shifts and oversized image files."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from selectolax.lexbor import LexborNode

from website_scan.addresses import normal_address
from website_scan.browser.evidence import BrowserLoad, Layout
from website_scan.catalogue import Category, States, check
from website_scan.elements import element
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import KIB, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Fail, Pass, Verdict, Warn, beyond, judge_by_limits, outcome
from website_scan.page.css import declarations, may_fix_height
from website_scan.page.evidence import Document
from website_scan.page.image_headers import ImageFormat
from website_scan.page.markup import attribute, live, resolve
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resource, Resources, Styles
from website_scan.performance.images import LAZY_LOADING_SCREENS, blurry_images, offscreen_images, oversized_images
from website_scan.places import Column, Identity, Place, PlaceUrl, Url, WireBytes, as_written
from website_scan.values import Bytes, Count, Share
from website_scan.written_urls import WrittenUrl

CATEGORY = Category("Images", weight=8, html=True, content=True)

NO_IMAGES = NotApplicable("The page loads no image.")
NO_RENDERED_IMAGES = NotApplicable("The page shows no image element.")
GOOD_UNSIZED_IMAGES, POOR_UNSIZED_IMAGES = 0, 4
# Images up to this height, such as icons, do not count: they shift text by less than a line.
MIN_SHIFTING_HEIGHT_PX = 32
MAX_WASTED_BYTES_TO_PASS, MAX_WASTED_BYTES_TO_WARN = 20 * KIB, 200 * KIB
MAX_SMALL_FILE_BYTES = 4 * KIB
GOOD_WASTED_BYTES, POOR_WASTED_BYTES = 20 * KIB, 300 * KIB
GOOD_OFFSCREEN_IMAGES, POOR_OFFSCREEN_IMAGES = 1, 12
MAX_CACHED_NAMES = 500  # Limit of cached combinations of ID and classes.
# Estimated size of images in AVIF (Lighthouse, modern-image-formats).
AVIF_BYTES_PER_PIXEL = 1 / 6
MIN_LARGE_GIF_BYTES = 100 * KIB
OLD_FORMATS = frozenset({ImageFormat.PNG, ImageFormat.JPEG, ImageFormat.BMP})
# A percentage reserves no space for an image, because the width of the parent is not known yet.
LENGTH = re.compile(r"\s*+\d{1,9}(?:\.\d{0,9})?(?!\s*+%)(?!\d)")


class UnsizedImage(Place, frozen=True):
    """Image element without width and height."""

    kind: ClassVar[str] = "unsized-image"

    src: Annotated[str, Identity(normal_address), Column("Address", "address")]


class OldImage(Place, frozen=True):
    """Image file that would be smaller in a modern format."""

    kind: ClassVar[str] = "image-file"

    url: PlaceUrl
    format: Annotated[str | None, Column("Format", "short")]
    width: Annotated[int | None, Column("Width", "number", "px")]
    height: Annotated[int | None, Column("Height", "number", "px")]
    wire_bytes: WireBytes
    estimated_saving_bytes: Annotated[int, Column("Could save", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 120)} ({size(self.wire_bytes or 0)})"


class Gif(Place, frozen=True):
    """GIF file.

    `animated` is None if the number of frames is unknown.
    """

    kind: ClassVar[str] = "gif"

    url: PlaceUrl
    wire_bytes: WireBytes
    animated: Annotated[bool | None, Column("Animated", "short")]


class ImageElement(Place, frozen=True):
    """Base class of places for rendered image elements.

    Fingerprints use the image's URL rather than the selector.
    """

    are_counted: ClassVar[bool] = True

    url: Url
    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]

    @property
    def label(self) -> str:
        return cut(self.url, 120)

    def normal(self, page: WrittenUrl) -> str:
        return element(self.selector, "", page, source=self.url)


class OversizedImage(ImageElement, frozen=True):
    """Image element whose file has more pixels than a phone displays."""

    kind: ClassVar[str] = "oversized-image"

    file: Annotated[str, Column("File", "short")]
    shown: Annotated[str, Column("Shown at", "short")]
    wire_bytes: WireBytes
    wasted_bytes: Annotated[int, Column("Could save", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 100)} ({self.file}, shown as {self.shown})"


class LowResolution(ImageElement, frozen=True):
    """Image element whose file has fewer pixels than a phone displays."""

    kind: ClassVar[str] = "low-resolution-image"

    file: Annotated[str, Column("File", "short")]
    shown: Annotated[str, Column("Shown at", "short")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 100)} ({self.file}, shown as {self.shown})"


class OffscreenImage(ImageElement, frozen=True):
    """Image element that is far below the first screen."""

    kind: ClassVar[str] = "offscreen-image"

    top_px: Annotated[int, Column("Distance from the top", "number", "px")]
    wire_bytes: WireBytes


@check(
    "image-dimensions",
    name="Images have width and height",
    outcomes={"unsized": "Images without dimensions"},
    why="Without its dimensions, an image shifts the content below it when it loads.",
    judged=document_thresholds(GOOD_UNSIZED_IMAGES, POOR_UNSIZED_IMAGES)
    + " An image counts only if no rule could give it a height.",
    severity=MEDIUM,
    fix="Set the image's own width and height on each `<img>`, as numbers; with `height: auto` in the CSS it still "
    "scales.",
    references=("web.dev: optimize CLS", "HTML, dimension attributes"),
)
def image_dimensions(document: Document, styles: Styles, resources: Resources) -> Verdict:
    """Count only images that no CSS rule can give a height.

    Any other image may have a height after layout.

    Missing images and images of a line's height do not count, because they shift nothing.
    """
    images = [node for node in live(document, "img") if _is_loaded_by_markup(node)]
    if not images:
        return NO_IMAGES
    sizing_rules = _SizingRules(styles)
    harmless = {resource.url for resource in resources.items if _causes_no_shift(resource)}
    unsized = [
        node
        for node in images
        if not (
            _has_width_and_height(node) or sizing_rules.may_set_height(node) or _image_url(document, node) in harmless
        )
    ]
    if not unsized:
        return Pass(
            "{images} {images:has|have} width and height, or a style that may size {images:it|them}.",
            images=Count(len(images), "image"),
        )
    sources = (attribute(node, "src") or attribute(node, "srcset") or "" for node in unsized)
    return judge_by_limits(
        "unsized",
        "{images} {images:has|have} no width and height",
        len(unsized),
        (GOOD_UNSIZED_IMAGES, POOR_UNSIZED_IMAGES),
        images=Share(len(unsized), len(images), "image"),
        places=[UnsizedImage(excerpt(source, 80)) for source in sources],
    )


@check(
    "image-format",
    name="Images in modern formats",
    outcomes={"old-format": outcome("Images not in modern formats", HIGH, MEDIUM)},
    why="AVIF and WebP files are smaller than JPEG and PNG files of the same image.",
    consequence="Pictures take longer to load than necessary, most of all on slow phone connections.",
    judged=document_thresholds(size(MAX_WASTED_BYTES_TO_PASS), size(MAX_WASTED_BYTES_TO_WARN))
    + " The saving is estimated from bytes and pixels.",
    severity=HIGH,
    fix="Serve images as AVIF or WebP, for example with `<picture>` and the old format as a fallback.",
    references=("Lighthouse: modern-image-formats",),
)
def image_format(resources: Resources) -> Verdict:
    """Estimate how many bytes a modern format saves.

    The saving is the file's size minus 1/6 byte per pixel of the image.
    """
    images = _loaded_images(resources)
    if not images:
        return NO_IMAGES
    savings = sorted(((_estimate_saving_bytes(image), image) for image in images), key=lambda pair: -pair[0])
    savings = [pair for pair in savings if pair[0] > 0]
    if not savings:
        return Pass(
            "No image would be much smaller in a modern format ({images} checked).", images=Count(len(images), "image")
        )
    places = [
        OldImage(
            url=excerpt(image.url),
            format=image.picture.format.value if image.picture else None,
            width=image.picture.width if image.picture else None,
            height=image.picture.height if image.picture else None,
            wire_bytes=image.last_response_wire_bytes,
            estimated_saving_bytes=round(saving),
        )
        for saving, image in savings
    ]
    total = sum(saving for saving, _ in savings)
    total_saving, image_count = Bytes(round(total)), Count(len(savings), "image")
    if total <= MAX_WASTED_BYTES_TO_PASS:
        return Pass(
            "AVIF would save about {saved} on {images}.", details=places, saved=total_saving, images=image_count
        )
    kind, severity = (Warn, MEDIUM) if total <= MAX_WASTED_BYTES_TO_WARN else (Fail, HIGH)
    return kind(
        "old-format",
        f"AVIF would save about {{saved}} on {{images}} "
        f"({beyond(total, MAX_WASTED_BYTES_TO_PASS, 'up to {limit} is good')}).",
        severity=severity,
        places=places,
        saved=total_saving,
        limit=Bytes(MAX_WASTED_BYTES_TO_PASS),
        images=image_count,
    )


@check(
    "image-oversized",
    name="Properly sized images",
    outcomes={"too-many-pixels": "Oversized images"},
    why="Pixels that the screen cannot show are downloaded for nothing.",
    judged=document_thresholds(size(GOOD_WASTED_BYTES), size(POOR_WASTED_BYTES))
    + " The sizes are those on a phone's screen.",
    severity=MEDIUM,
    fix="Offer each image in several widths (`srcset` and `sizes`), so that phones download no more pixels than they "
    "show.",
    references=("Lighthouse: uses-responsive-images",),
)
def image_oversized(layout: Layout, load: BrowserLoad, resources: Resources) -> Verdict:
    """Compare the size of image files with their size on a phone.

    The phone's size is in device pixels.
    """
    if not any(image.is_visible for image in layout.images):
        return NO_RENDERED_IMAGES
    oversized = oversized_images(layout, load.first.requests, resources.items)
    if not oversized:
        return Pass("No image has many more pixels than the screen shows of it.")
    total = sum(image.wasted_bytes for image in oversized)
    return judge_by_limits(
        "too-many-pixels",
        "{images} {images:has|have} more pixels than a phone shows, {wasted} too much",
        total,
        (GOOD_WASTED_BYTES, POOR_WASTED_BYTES),
        limit=Bytes(GOOD_WASTED_BYTES),
        images=Count(len(oversized), "image"),
        wasted=Bytes(total),
        places=[
            OversizedImage(
                url=excerpt(image.image.url),
                selector=excerpt(image.image.selector, 300),
                file=_format_dimensions(image.file_size),
                shown=_format_dimensions(image.displayed_size),
                wire_bytes=image.wire_bytes,
                wasted_bytes=image.wasted_bytes,
            )
            for image in oversized
        ],
    )


@check(
    "image-resolution",
    name="Images are sharp",
    outcomes={"too-few-pixels": "Images are blurry"},
    why="An image with fewer pixels than its area on the screen looks blurry.",
    judged="A file needs three quarters of the width and height that a screen with two pixels per CSS pixel displays.",
    severity=LOW,
    fix="Use a larger file, and offer it in several widths (`srcset` and `sizes`).",
    references=("Lighthouse: image-size-responsive",),
)
def image_resolution(layout: Layout, resources: Resources) -> Verdict:
    """Compare the size of image files with their size on the screen.

    The screen has a pixel ratio of two.
    """
    if not any(image.is_visible for image in layout.images):
        return NO_RENDERED_IMAGES
    blurry = blurry_images(layout, resources.items)
    if not blurry:
        return Pass("No image has too few pixels for the screen.")
    return Warn(
        "too-few-pixels",
        "{images} {images:has|have} fewer pixels than the screen displays.",
        images=Count(len(blurry), "image"),
        places=[
            LowResolution(
                url=excerpt(low.image.url),
                selector=excerpt(low.image.selector, 300),
                file=_format_dimensions(low.file_size),
                shown=_format_dimensions(low.displayed_size),
            )
            for low in blurry
        ],
    )


@check(
    "lazy-offscreen",
    name="Offscreen images are deferred",
    outcomes={"loaded-at-once": "Offscreen images are not deferred"},
    why="Images far below the first screen compete for bandwidth with those that visitors see first.",
    judged=document_thresholds(GOOD_OFFSCREEN_IMAGES, POOR_OFFSCREEN_IMAGES),
    severity=LOW,
    fix='Add `loading="lazy"` to images further down the page, but never to those on the first screen.',
    references=("Lighthouse: offscreen-images",),
    states=States.NAVIGATIONS,
)
def lazy_offscreen(layout: Layout, load: BrowserLoad) -> Verdict:
    if not any(image.is_visible for image in layout.images):
        return NO_RENDERED_IMAGES
    deferrable = offscreen_images(layout, load.first)
    if not deferrable:
        return Pass("No image far below the first screen is loaded before it is needed.")
    return judge_by_limits(
        "loaded-at-once",
        f"{{images}} more than {LAZY_LOADING_SCREENS} screens below the first one, {{weight}} in all, {{images:is|are}}"
        " loaded at once",
        len(deferrable),
        (GOOD_OFFSCREEN_IMAGES, POOR_OFFSCREEN_IMAGES),
        images=Count(len(deferrable), "image"),
        weight=Bytes(sum(wire_bytes for _, wire_bytes in deferrable)),
        places=[
            OffscreenImage(excerpt(image.url), excerpt(image.selector, 300), round(image.top_px), wire_bytes)
            for image, wire_bytes in deferrable
        ],
    )


@check(
    "gif-video",
    name="No large GIFs",
    outcomes={"large": "Large GIFs"},
    why="GIF compresses poorly: a video, or WebP, shows the same in far fewer bytes.",
    judged=f"GIFs of more than {size(MIN_LARGE_GIF_BYTES)} count.",
    severity=MEDIUM,
    fix="Replace the animation with a `<video autoplay loop muted playsinline>` in MP4 or WebM.",
    references=("Lighthouse: efficient-animated-content",),
)
def gif_video(resources: Resources) -> Verdict:
    gifs = [image for image in _loaded_images(resources) if image.picture and image.picture.format is ImageFormat.GIF]
    if not gifs:
        return NotApplicable("The page loads no GIF.")
    large = [gif for gif in gifs if gif.last_response_wire_bytes > MIN_LARGE_GIF_BYTES]
    if not large:
        gif_count = Count(len(gifs), "GIF")
        return Pass("No GIF is larger than {limit} ({gifs} checked).", limit=Bytes(MIN_LARGE_GIF_BYTES), gifs=gif_count)
    has_animated_gif = any(gif.picture and gif.picture.is_animated for gif in large)
    return Warn(
        "large",
        "{gifs} {gifs:is|are} larger than {limit}, {weight} in all.",
        fix=None if has_animated_gif else "Serve the image as WebP or AVIF.",
        gifs=Count(len(large), "GIF"),
        limit=Bytes(MIN_LARGE_GIF_BYTES),
        weight=Bytes(sum(gif.last_response_wire_bytes for gif in large)),
        places=[
            Gif(excerpt(gif.url), gif.last_response_wire_bytes, gif.picture.is_animated if gif.picture else None)
            for gif in large
        ],
    )


def _format_dimensions(pixels: tuple[int, int]) -> str:
    return f"{pixels[0]} by {pixels[1]}"


def _loaded_images(resources: Resources) -> list[Resource]:
    """Return the images that the page loads immediately.

    The server sent them without an error.
    """
    return [
        resource
        for resource in resources.items
        if resource.kind is ResourceKind.IMAGE and resource.eager and resource.status == 200
    ]


def _estimate_saving_bytes(resource: Resource) -> float:
    picture = resource.picture
    if (
        picture is None
        or picture.format not in OLD_FORMATS
        or resource.last_response_wire_bytes <= MAX_SMALL_FILE_BYTES
    ):
        return 0.0
    return resource.last_response_wire_bytes - picture.pixels * AVIF_BYTES_PER_PIXEL


def _is_loaded_by_markup(node: LexborNode) -> bool:
    """Return True if the image is loaded without a script.

    It comes over the network, and no script sets its source.
    """
    source = (attribute(node, "src") or "").strip()
    has_srcset = bool((attribute(node, "srcset") or "").strip())
    return (bool(source) or has_srcset) and source[:5].lower() != "data:" and attribute(node, "hidden") is None


def _image_url(document: Document, node: LexborNode) -> str:
    url = resolve(document, (attribute(node, "src") or "").strip())
    return url.without_fragment if url is not None else ""


def _causes_no_shift(resource: Resource) -> bool:
    picture = resource.picture
    return (resource.status or 0) >= 400 or (picture is not None and 0 < picture.height <= MIN_SHIFTING_HEIGHT_PX)


def _has_width_and_height(node: LexborNode) -> bool:
    return all(LENGTH.match(attribute(node, name) or "") for name in ("width", "height"))


class _SizingRules:
    """Index of CSS rules that may set the height of images."""

    def __init__(self, styles: Styles) -> None:
        self._compounds = [compound for compound in styles.sized if compound.tag in ("", "img")]
        self._results: dict[tuple[str, frozenset[str]], bool] = {}

    def may_set_height(self, node: LexborNode) -> bool:
        """Return True if CSS may set the image's height.

        In doubt, the result is True.
        """
        if any(may_fix_height(name, value) for name, value in declarations(attribute(node, "style") or "")):
            return True
        names = (attribute(node, "id") or "", frozenset((attribute(node, "class") or "").split()))
        if names not in self._results:
            if len(self._results) == MAX_CACHED_NAMES:
                return True
            self._results[names] = any(compound.may_match("img", *names) for compound in self._compounds)
        return self._results[names]
