"""Checks of images: layout shifts while they load, and files that are larger than necessary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from selectolax.lexbor import LexborNode

from website_scan.addresses import normal_address
from website_scan.browser.evidence import BrowserLoad, Layout
from website_scan.catalogue import Category, check
from website_scan.elements import element
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import KIB, by_steps, cut, excerpt, size
from website_scan.outcomes import Fail, Pass, Verdict, Warn, beyond, by_limits, outcome
from website_scan.page.css import declarations, is_sizing
from website_scan.page.evidence import Document
from website_scan.page.image_headers import ImageFormat
from website_scan.page.markup import attribute, live, resolve
from website_scan.page.references import ResourceKind
from website_scan.performance.evidence import Resource, Resources, Styles
from website_scan.performance.images import SCREENS_AHEAD, offscreen_images, oversized_images
from website_scan.places import Column, Identity, Place, PlaceUrl, Url, WireBytes, as_written
from website_scan.values import Bytes, Count, Share
from website_scan.written_urls import WrittenUrl

CATEGORY = Category("Images", weight=8, html=True, content=True)

NO_IMAGES = NotApplicable("The page loads no image.")
NO_RENDERED_IMAGES = NotApplicable("The page shows no image element.")
UNSIZED_GOOD, UNSIZED_POOR = 0, 4
# A lower image, such as an icon, shifts a line of text by less than the line's height.
MIN_SHIFTING_HEIGHT_PX = 32
SAVING_GOOD, SAVING_POOR = 20 * KIB, 200 * KIB
SMALL_BYTES = 4 * KIB
OVERSIZED_GOOD, OVERSIZED_POOR = 20 * KIB, 300 * KIB
OFFSCREEN_GOOD, OFFSCREEN_POOR = 1, 12
MAX_NAMES = 500  # combinations of ID and classes that are matched with the rules
# Size of most images in AVIF (Lighthouse, modern-image-formats): two bits for three pixels.
BYTES_A_PIXEL = 1 / 6
GIF_BYTES = 100 * KIB
OLD_FORMATS = frozenset({ImageFormat.PNG, ImageFormat.JPEG, ImageFormat.BMP})
# HTML, "rules for parsing dimension values": a number. A percentage does not count, as the width is not known yet.
LENGTH = re.compile(r"\s*+\d{1,9}(?:\.\d{0,9})?(?!\s*+%)(?!\d)")


@dataclass(frozen=True, slots=True)
class UnsizedImage(Place):
    """Image element without width and height."""

    kind: ClassVar[str] = "unsized-image"

    src: Annotated[str, Identity(normal_address), Column("Address", "address")]


@dataclass(frozen=True, slots=True)
class OldImage(Place):
    """Image file that would be smaller in a modern format. Width and height in pixels."""

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


@dataclass(frozen=True, slots=True)
class Gif(Place):
    """GIF file; `animated` is None if its frames are unknown."""

    kind: ClassVar[str] = "gif"

    url: PlaceUrl
    wire_bytes: WireBytes
    animated: Annotated[bool | None, Column("Animated", "short")]


@dataclass(frozen=True, slots=True)
class ImageElement(Place):
    """Base of image elements that a browser laid out. Fingerprints use the image's URL before the selector."""

    are_counted: ClassVar[bool] = True

    url: Url
    selector: Annotated[str, Identity(as_written), Column("Selector", "code")]

    @property
    def label(self) -> str:
        return cut(self.url, 120)

    def normal(self, page: WrittenUrl) -> str:
        return element(self.selector, "", page, source=self.url)


@dataclass(frozen=True, slots=True)
class OversizedImage(ImageElement):
    """Image element whose file has more pixels than a phone shows."""

    kind: ClassVar[str] = "oversized-image"

    file: Annotated[str, Column("File", "short")]
    shown: Annotated[str, Column("Shown at", "short")]
    wire_bytes: WireBytes
    wasted_bytes: Annotated[int, Column("Could save", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 100)} ({self.file}, shown as {self.shown})"


@dataclass(frozen=True, slots=True)
class OffscreenImage(ImageElement):
    """Image element far below the first screen."""

    kind: ClassVar[str] = "offscreen-image"

    top_px: Annotated[int, Column("Distance from the top", "number", "px")]
    wire_bytes: WireBytes


@check(
    "image-dimensions",
    name="Images have width and height",
    outcomes={"unsized": "Images without dimensions"},
    why="Without its dimensions, an image shifts the content below it when it loads.",
    judged=by_steps(UNSIZED_GOOD, UNSIZED_POOR) + " An image counts only if no rule could give it a height.",
    severity=MEDIUM,
    fix="Set the image's own width and height on each `<img>`, as numbers; with `height: auto` in the CSS it still "
    "scales.",
    references=("web.dev: optimize CLS", "HTML, dimension attributes"),
)
def image_dimensions(document: Document, styles: Styles, resources: Resources) -> Verdict:
    """Count images that no CSS rule can give a height; without layout, any other image may have a height.

    Missing images and images of a line's height do not count, because they shift nothing.
    """
    images = [node for node in live(document, "img") if _is_loaded(node)]
    if not images:
        return NO_IMAGES
    sizing_rules = _SizingRules(styles)
    harmless = {resource.url for resource in resources.items if _shifts_nothing(resource)}
    unsized = [
        node
        for node in images
        if not (_has_size(node) or sizing_rules.may_size(node) or _address(document, node) in harmless)
    ]
    if not unsized:
        return Pass(
            "{images} {images:has|have} width and height, or a style that may size {images:it|them}.",
            images=Count(len(images), "image"),
        )
    sources = (attribute(node, "src") or attribute(node, "srcset") or "" for node in unsized)
    return by_limits(
        "unsized",
        "{images} {images:has|have} no width and height",
        len(unsized),
        (UNSIZED_GOOD, UNSIZED_POOR),
        images=Share(len(unsized), len(images), "image"),
        places=[UnsizedImage(excerpt(source, 80)) for source in sources],
    )


@check(
    "image-format",
    name="Images in modern formats",
    outcomes={"old-format": outcome("Images not in modern formats", HIGH, MEDIUM)},
    why="AVIF and WebP files are smaller than JPEG and PNG files of the same image.",
    judged=by_steps(size(SAVING_GOOD), size(SAVING_POOR)) + " The saving is estimated from bytes and pixels.",
    severity=HIGH,
    fix="Serve images as AVIF or WebP, for example with `<picture>` and the old format as a fallback.",
    references=("Lighthouse: modern-image-formats",),
)
def image_format(resources: Resources) -> Verdict:
    """Estimate the saving in bytes: the size of the file minus 1/6 byte for each pixel of the image."""
    images = _images(resources)
    if not images:
        return NO_IMAGES
    savings = sorted(((_saving(image), image) for image in images), key=lambda pair: -pair[0])
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
            wire_bytes=image.own_wire_bytes,
            estimated_saving_bytes=round(saving),
        )
        for saving, image in savings
    ]
    total = sum(saving for saving, _ in savings)
    saving_text, image_count = Bytes(round(total)), Count(len(savings), "image")
    if total <= SAVING_GOOD:
        return Pass("AVIF would save about {saved} on {images}.", details=places, saved=saving_text, images=image_count)
    kind, severity = (Warn, MEDIUM) if total <= SAVING_POOR else (Fail, HIGH)
    return kind(
        "old-format",
        f"AVIF would save about {{saved}} on {{images}} ({beyond(total, SAVING_GOOD, 'up to {limit} is good')}).",
        severity=severity,
        places=places,
        saved=saving_text,
        limit=Bytes(SAVING_GOOD),
        images=image_count,
    )


@check(
    "image-oversized",
    name="Properly sized images",
    outcomes={"too-many-pixels": "Oversized images"},
    why="Pixels that the screen cannot show are downloaded for nothing.",
    judged=by_steps(size(OVERSIZED_GOOD), size(OVERSIZED_POOR)) + " The sizes are those on a phone's screen.",
    severity=MEDIUM,
    fix="Offer each image in several widths (`srcset` and `sizes`), so that phones download no more pixels than they "
    "show.",
    references=("Lighthouse: uses-responsive-images",),
)
def image_oversized(layout: Layout, load: BrowserLoad, resources: Resources) -> Verdict:
    """Compare the file's pixels with the image's box on a phone with several device pixels per CSS pixel."""
    if not any(image.is_visible for image in layout.images):
        return NO_RENDERED_IMAGES
    oversized = oversized_images(layout, load.first.requests, resources.items)
    if not oversized:
        return Pass("No image has many more pixels than the screen shows of it.")
    total = sum(image.wasted_bytes for image in oversized)
    return by_limits(
        "too-many-pixels",
        "{images} {images:has|have} more pixels than a phone shows, {wasted} too much",
        total,
        (OVERSIZED_GOOD, OVERSIZED_POOR),
        limit=Bytes(OVERSIZED_GOOD),
        images=Count(len(oversized), "image"),
        wasted=Bytes(total),
        places=[
            OversizedImage(
                url=excerpt(image.image.url),
                selector=excerpt(image.image.selector, 300),
                file=_pixels(image.file_size),
                shown=_pixels(image.displayed_size),
                wire_bytes=image.wire_bytes,
                wasted_bytes=image.wasted_bytes,
            )
            for image in oversized
        ],
    )


@check(
    "lazy-offscreen",
    name="Offscreen images are deferred",
    outcomes={"loaded-at-once": "Offscreen images are not deferred"},
    why="Images far below the first screen compete for bandwidth with those that visitors see first.",
    judged=by_steps(OFFSCREEN_GOOD, OFFSCREEN_POOR),
    severity=LOW,
    fix='Add `loading="lazy"` to images further down the page, but never to those on the first screen.',
    references=("Lighthouse: offscreen-images",),
)
def lazy_offscreen(layout: Layout, load: BrowserLoad) -> Verdict:
    if not any(image.is_visible for image in layout.images):
        return NO_RENDERED_IMAGES
    deferrable = offscreen_images(layout, load.first)
    if not deferrable:
        return Pass("No image far below the first screen is loaded before it is needed.")
    return by_limits(
        "loaded-at-once",
        f"{{images}} more than {SCREENS_AHEAD} screens below the first one, {{weight}} in all, {{images:is|are}} "
        "loaded at once",
        len(deferrable),
        (OFFSCREEN_GOOD, OFFSCREEN_POOR),
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
    judged=f"GIFs of more than {size(GIF_BYTES)} count.",
    severity=MEDIUM,
    fix="Replace the animation with a `<video autoplay loop muted playsinline>` in MP4 or WebM.",
    references=("Lighthouse: efficient-animated-content",),
)
def gif_video(resources: Resources) -> Verdict:
    gifs = [image for image in _images(resources) if image.picture and image.picture.format is ImageFormat.GIF]
    if not gifs:
        return NotApplicable("The page loads no GIF.")
    large = [gif for gif in gifs if gif.own_wire_bytes > GIF_BYTES]
    if not large:
        gif_count = Count(len(gifs), "GIF")
        return Pass("No GIF is larger than {limit} ({gifs} checked).", limit=Bytes(GIF_BYTES), gifs=gif_count)
    is_moving = any(gif.picture and gif.picture.is_animated for gif in large)
    return Warn(
        "large",
        "{gifs} {gifs:is|are} larger than {limit}, {weight} in all.",
        fix=None if is_moving else "Serve the image as WebP or AVIF.",
        gifs=Count(len(large), "GIF"),
        limit=Bytes(GIF_BYTES),
        weight=Bytes(sum(gif.own_wire_bytes for gif in large)),
        places=[
            Gif(excerpt(gif.url), gif.own_wire_bytes, gif.picture.is_animated if gif.picture else None) for gif in large
        ],
    )


def _pixels(pixels: tuple[int, int]) -> str:
    return f"{pixels[0]} by {pixels[1]}"


def _images(resources: Resources) -> list[Resource]:
    """Return the images that the page loads at once and that were received without an error."""
    return [
        resource
        for resource in resources.items
        if resource.kind is ResourceKind.IMAGE and resource.eager and resource.status == 200
    ]


def _saving(resource: Resource) -> float:
    picture = resource.picture
    if picture is None or picture.format not in OLD_FORMATS or resource.own_wire_bytes <= SMALL_BYTES:
        return 0.0
    return resource.own_wire_bytes - picture.pixels * BYTES_A_PIXEL


def _is_loaded(node: LexborNode) -> bool:
    """Return True if the markup alone loads the image over the network, without a script that sets the source."""
    source = (attribute(node, "src") or "").strip()
    has_set = bool((attribute(node, "srcset") or "").strip())
    return (bool(source) or has_set) and source[:5].lower() != "data:" and attribute(node, "hidden") is None


def _address(document: Document, node: LexborNode) -> str:
    url = resolve(document, (attribute(node, "src") or "").strip())
    return url.without_fragment if url is not None else ""


def _shifts_nothing(resource: Resource) -> bool:
    picture = resource.picture
    return (resource.status or 0) >= 400 or (picture is not None and 0 < picture.height <= MIN_SHIFTING_HEIGHT_PX)


def _has_size(node: LexborNode) -> bool:
    return all(LENGTH.match(attribute(node, name) or "") for name in ("width", "height"))


class _SizingRules:
    """Index of CSS rules that may size images, matched by tag, ID and class. In doubt, an image counts as sized."""

    def __init__(self, styles: Styles) -> None:
        self._compounds = [compound for compound in styles.sized if compound.tag in ("", "img")]
        self._results: dict[tuple[str, frozenset[str]], bool] = {}

    def may_size(self, node: LexborNode) -> bool:
        """Return True if the style attribute or a rule may set the image's height."""
        if any(is_sizing(name, value) for name, value in declarations(attribute(node, "style") or "")):
            return True
        names = (attribute(node, "id") or "", frozenset((attribute(node, "class") or "").split()))
        if names not in self._results:
            if len(self._results) == MAX_NAMES:
                return True
            self._results[names] = any(compound.may_match("img", *names) for compound in self._compounds)
        return self._results[names]
