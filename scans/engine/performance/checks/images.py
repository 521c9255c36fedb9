"""Images: layouts that jump while they load, and formats that are larger than they need be."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from scans.engine.browser.evidence import BrowserLoad, Layout
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Finding, NotApplicable, Pass, Warn, by_limits
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.css import declarations, is_sizing
from scans.engine.page.evidence import Document, Page
from scans.engine.page.image_headers import ImageFormat
from scans.engine.page.markup import attribute, live
from scans.engine.page.references import ResourceKind
from scans.engine.performance.evidence import Resource, Resources, Styles
from scans.engine.performance.images import SCREENS_AHEAD, offscreen, oversized

CATEGORY = Category("Images", weight=8)

NOT_HTML = NotApplicable("The page is not HTML.")
NO_IMAGES = NotApplicable("The page loads no image by its markup.")
NO_SHOWN_IMAGES = NotApplicable("The page shows no image element.")
EVIDENCE_ITEMS = 20
KIB = 1024
UNSIZED_GOOD, UNSIZED_POOR = 0, 4
SAVING_GOOD, SAVING_POOR = 20 * KIB, 200 * KIB
SMALL_BYTES = 4 * KIB
OVERSIZED_GOOD, OVERSIZED_POOR = 20 * KIB, 300 * KIB
OFFSCREEN_GOOD, OFFSCREEN_POOR = 1, 12
MAX_NAMES = 500  # combinations of them that are looked up in the rules
# What AVIF needs for most pictures (Lighthouse, modern-image-formats): two bits for three pixels.
BYTES_A_PIXEL = 1 / 6
GIF_BYTES = 100 * KIB
OLD_FORMATS = frozenset({ImageFormat.PNG, ImageFormat.JPEG, ImageFormat.BMP})
# HTML, "rules for parsing dimension values": a number; with % it is a share of a width that is not known yet.
LENGTH = re.compile(r"\s*+\d{1,9}(?:\.\d{0,9})?(?!\s*+%)(?!\d)")


@check(
    "image-dimensions",
    name="Images have width and height",
    severity=MEDIUM,
    fix="Write the picture's own width and height into each <img>, as numbers; with height: auto in the style sheet it "
    "still scales.",
    references=("Lighthouse: unsized-images", "web.dev: optimize CLS"),
)
def image_dimensions(page: Page, document: Document, styles: Styles) -> Finding:
    """An image counts only if no rule could give it a height: without laying the page out, others may have one."""
    if not page.is_html:
        return NOT_HTML
    images = [node for node in live(document, "img") if _is_loaded(node)]
    if not images:
        return NO_IMAGES
    sizes = _Sizes(styles)
    unsized = [node for node in images if not _has_size(node) and not sizes.may_hold(node)]
    if not unsized:
        return Pass(f"{counted(len(images), 'image')}: none lets the layout jump for want of width and height.")
    shown = [excerpt(attribute(node, "src") or attribute(node, "srcset") or "", 80) for node in unsized]
    return by_limits(
        len(unsized),
        UNSIZED_GOOD,
        UNSIZED_POOR,
        f"{len(unsized)} of {counted(len(images), 'image')} have no width and height: {some(shown)}",
        "what stands below them jumps when they come",
        tuple({"src": each} for each in shown[:EVIDENCE_ITEMS]),
    )


@check(
    "image-format",
    name="Images in modern formats",
    severity=HIGH,
    fix="Send photographs and pictures as AVIF or WebP, for example with <picture> and the old format for the rest.",
    references=("Lighthouse: modern-image-formats",),
)
def image_format(page: Page, resources: Resources) -> Finding:
    """An estimate: what the file weighs beyond 1/6 byte for each of its own pixels."""
    if not page.is_html:
        return NOT_HTML
    images = _images(resources)
    if not images:
        return NO_IMAGES
    savings = sorted(((_saving(each), each) for each in images), key=lambda pair: -pair[0])
    savings = [pair for pair in savings if pair[0] > 0]
    if not savings:
        return Pass(f"{counted(len(images), 'image')}: none would be much smaller in a modern format.")
    evidence = tuple[EvidenceItem, ...](
        {
            "url": excerpt(each.url),
            "format": each.picture.format.value if each.picture else None,
            "width": each.picture.width if each.picture else None,
            "height": each.picture.height if each.picture else None,
            "wire_bytes": each.own_wire_bytes,
            "estimated_saving_bytes": round(saving),
        }
        for saving, each in savings[:EVIDENCE_ITEMS]
    )
    total = sum(saving for saving, _ in savings)
    shown = some([f"{excerpt(each.url, 80)} ({each.own_wire_bytes / KIB:,.0f} KiB)" for _, each in savings])
    return by_limits(
        total,
        SAVING_GOOD,
        SAVING_POOR,
        f"AVIF would save about {total / KIB:,.1f} KiB on {counted(len(savings), 'image')}: {shown}",
        f"up to {SAVING_GOOD // KIB} KiB is good",
        evidence,
    )


@check(
    "image-oversized",
    name="Images in the size they are shown in",
    severity=MEDIUM,
    fix="Offer each image in several widths (srcset and sizes), so that phones load no more pixels than they show.",
    references=("Lighthouse: uses-responsive-images",),
)
def image_oversized(page: Page, layout: Layout, load: BrowserLoad, resources: Resources) -> Finding:
    """The file's pixels against those of its box on a phone with several device pixels for each of the page's."""
    if not page.is_html:
        return NOT_HTML
    if not any(each.is_visible for each in layout.images):
        return NO_SHOWN_IMAGES
    found = oversized(layout, load.first.requests, resources.items)
    if not found:
        return Pass("No image has many more pixels than the screen shows of it.")
    evidence = tuple[EvidenceItem, ...](
        {
            "url": excerpt(each.image.url),
            "selector": excerpt(each.image.selector, 300),
            "file": _size(each.file),
            "shown": _size(each.shown),
            "wire_bytes": each.wire_bytes,
            "wasted_bytes": each.wasted_bytes,
        }
        for each in found[:EVIDENCE_ITEMS]
    )
    total = sum(each.wasted_bytes for each in found)
    shown = some(
        [f"{excerpt(each.image.url, 80)} ({_size(each.file)}, shown as {_size(each.shown)})" for each in found]
    )
    return by_limits(
        total,
        OVERSIZED_GOOD,
        OVERSIZED_POOR,
        f"{counted(len(found), 'image')} with more pixels than a phone shows, {total / KIB:,.1f} KiB too much: {shown}",
        f"up to {OVERSIZED_GOOD // KIB} KiB is good",
        evidence,
    )


@check(
    "lazy-offscreen",
    name="Images far below the first screen wait",
    severity=LOW,
    fix='Write loading="lazy" into images further down the page, never into those of the first screen.',
    references=("Lighthouse: offscreen-images", "YellowLabTools: lazyLoadableImagesBelowTheFold"),
)
def lazy_offscreen(page: Page, layout: Layout, load: BrowserLoad) -> Finding:
    if not page.is_html:
        return NOT_HTML
    if not any(each.is_visible for each in layout.images):
        return NO_SHOWN_IMAGES
    found = offscreen(layout, load.first)
    if not found:
        return Pass("No image far below the first screen is loaded before it is needed.")
    total = sum(size for _, size in found)
    return by_limits(
        len(found),
        OFFSCREEN_GOOD,
        OFFSCREEN_POOR,
        f"{counted(len(found), 'image')} more than {SCREENS_AHEAD} screens below the first one, {total / KIB:,.1f} KiB "
        f"in all, loaded at once: {some([excerpt(image.url, 80) for image, _ in found])}",
        "what visitors look at first shares the link with them",
        tuple(
            {
                "url": excerpt(image.url),
                "selector": excerpt(image.selector, 300),
                "top_px": round(image.top_px),
                "wire_bytes": size,
            }
            for image, size in found[:EVIDENCE_ITEMS]
        ),
    )


@check(
    "gif-video",
    name="No large GIF files",
    severity=MEDIUM,
    fix="Replace the animation by a <video autoplay loop muted playsinline> in MP4 or WebM.",
    references=("Lighthouse: efficient-animated-content",),
)
def gif_video(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    gifs = [each for each in _images(resources) if each.picture and each.picture.format is ImageFormat.GIF]
    if not gifs:
        return NotApplicable("The page loads no GIF by its markup.")
    large = [each for each in gifs if each.own_wire_bytes > GIF_BYTES]
    if not large:
        return Pass(f"{counted(len(gifs), 'GIF')}, none of more than {GIF_BYTES // KIB} KiB.")
    is_moving = any(each.picture and each.picture.is_animated for each in large)
    size = sum(each.own_wire_bytes for each in large)
    return Warn(
        f"{counted(len(large), 'GIF')} of more than {GIF_BYTES // KIB} KiB, {size / KIB:,.1f} KiB in all: "
        f"{some([excerpt(each.url, 80) for each in large])}. {'A film' if is_moving else 'WebP'} takes a fraction.",
        evidence=tuple(
            {
                "url": excerpt(each.url),
                "wire_bytes": each.own_wire_bytes,
                "animated": each.picture.is_animated if each.picture else None,
            }
            for each in large[:EVIDENCE_ITEMS]
        ),
        fix=None if is_moving else "Send the picture as WebP or AVIF.",
    )


def _size(pixels: tuple[int, int]) -> str:
    return f"{pixels[0]} by {pixels[1]}"


def _images(resources: Resources) -> list[Resource]:
    """The images that came and are loaded with the page."""
    return [each for each in resources.items if each.kind is ResourceKind.IMAGE and each.eager and each.status == 200]


def _saving(resource: Resource) -> float:
    picture = resource.picture
    if picture is None or picture.format not in OLD_FORMATS or resource.own_wire_bytes <= SMALL_BYTES:
        return 0.0
    return resource.own_wire_bytes - picture.pixels * BYTES_A_PIXEL


def _is_loaded(node: LexborNode) -> bool:
    """Whether the image comes over the network by the markup alone; what scripts fill in later is not known."""
    source = (attribute(node, "src") or "").strip()
    has_set = bool((attribute(node, "srcset") or "").strip())
    return (bool(source) or has_set) and source[:5].lower() != "data:" and attribute(node, "hidden") is None


def _has_size(node: LexborNode) -> bool:
    return all(LENGTH.match(attribute(node, name) or "") for name in ("width", "height"))


class _Sizes:
    """Which images a rule may size. An image is told by its names, and in doubt it is sized."""

    def __init__(self, styles: Styles) -> None:
        self._compounds = [each for each in styles.sized if each.tag in ("", "img")]
        self._known: dict[tuple[str, frozenset[str]], bool] = {}

    def may_hold(self, node: LexborNode) -> bool:
        """Whether its style attribute or a rule may set its height."""
        if any(is_sizing(name, value) for name, value in declarations(attribute(node, "style") or "")):
            return True
        names = (attribute(node, "id") or "", frozenset((attribute(node, "class") or "").split()))
        if names not in self._known:
            if len(self._known) == MAX_NAMES:
                return True
            self._known[names] = any(each.may_match("img", *names) for each in self._compounds)
        return self._known[names]
