"""Checks of the text alternatives of images and other media.

A check is the axe-core rule with its ID. A fault is only a warning if axe-core would need rendered styles.
"""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.images import find_images_without_alternative, is_judged_as_image, is_named
from website_scan.accessibility.names import accessible_name, has_content, is_labelled, visible_text
from website_scan.accessibility.roles import explicit_role, is_presentational
from website_scan.accessibility.verdicts import Faults, judges
from website_scan.accessibility.wcag import BEST_PRACTICE, KEYBOARD, LINK_PURPOSE, NAME_ROLE_VALUE, NON_TEXT_CONTENT
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL, HIGH, LOW
from website_scan.page.markup import MAX_DEPTH, attribute, elements, enclosing, live

CATEGORY = Category("Text alternatives", weight=15, html=True, content=True)

# Other axe-core rules judge the names of these elements.
NATIVE_IMAGE_TAGS = frozenset({"img", "area", "input", "object"})
SVG_ROLES = frozenset({"img", "graphics-document", "graphics-symbol"})
# Current browsers show the fallback content instead of these plug-in objects.
PLUGIN_TYPES = ("application/x-shockwave-flash", "application/x-java-applet", "application/x-silverlight")
# Elements whose text the alternative text of an image inside should not repeat.
TEXT_CONTAINERS = frozenset({"button", "p", "li", "td", "th"})


@check(
    "image-alt",
    name="Images have alternative text",
    outcomes={"missing": "Images without alternative text"},
    why="Screen readers read out the file name, or nothing, instead of what the image shows.",
    consequence="Blind visitors cannot tell what a picture on the page shows.",
    severity=CRITICAL,
    fix='Say what the image shows: `<img alt="Red running shoe, side view">`. Write `alt=""` if it is decorative.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: image-alt"),
)
@judges(
    "image|images",
    "has|have no alternative text",
    "have alternative text or are marked as decorative",
    NON_TEXT_CONTENT,
)
def image_alt(document: AccessibleDocument) -> Faults:
    return find_images_without_alternative(document)


@check(
    "input-image-alt",
    name="Image buttons have alternative text",
    outcomes={"missing": "Image buttons without alternative text"},
    why="Screen readers announce only “button”, or the file name.",
    consequence="Blind visitors cannot tell what a button with a picture does, and may not be able to use it.",
    severity=CRITICAL,
    fix='Say what the button does: `<input type="image" src="go.png" alt="Search">`.',
    references=(f"{NON_TEXT_CONTENT}", f"{NAME_ROLE_VALUE}", "axe-core: input-image-alt"),
)
@judges("image button|buttons", "has|have no alternative text", "have alternative text", NON_TEXT_CONTENT)
def input_image_alt(document: AccessibleDocument) -> Faults:
    return Faults.find(
        document.exposed("input[type=image i]"),
        lambda button: not (is_named(document, button, "alt") or is_labelled(document, button)),
    )


@check(
    "area-alt",
    name="Areas of image maps have alternative text",
    outcomes={"missing": "Areas of image maps without alternative text"},
    why="Screen readers cannot say where this part of the image leads.",
    consequence="Blind visitors cannot tell where a link inside a picture leads.",
    severity=CRITICAL,
    fix='Say where each area leads: `<area href="/north" alt="Shops in the north" …>`.',
    references=(f"{LINK_PURPOSE}", f"{NAME_ROLE_VALUE}", "axe-core: area-alt"),
)
@judges("linked image map area|areas", "has|have no alternative text", "have alternative text", LINK_PURPOSE)
def area_alt(document: AccessibleDocument) -> Faults:
    # As in axe-core, areas count even if no image uses the map.
    areas = (area for area in live(document.document, "area[href]") if enclosing(area, "map") is not None)
    return Faults.find(areas, lambda area: not is_named(document, area, "alt"))


@check(
    "role-img-alt",
    name="Elements with role img have alternative text",
    outcomes={"missing": "Elements with role img without alternative text"},
    why="Screen readers announce an image without saying what it shows.",
    consequence="Blind visitors cannot tell what a picture on the page shows.",
    severity=HIGH,
    fix='Name the image: `<span role="img" aria-label="Five stars">`, or use `role="none"` if it is decorative.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: role-img-alt"),
)
@judges("element|elements with role img", "has|have no alternative text", "have alternative text", NON_TEXT_CONTENT)
def role_img_alt(document: AccessibleDocument) -> Faults:
    images = (
        node
        for node in document.exposed("[role]")
        if explicit_role(node) == "img" and node.tag not in NATIVE_IMAGE_TAGS and not _is_in_svg(node)
    )
    return Faults.find(images, lambda image: not is_named(document, image))


@check(
    "svg-img-alt",
    name="SVG images have alternative text",
    outcomes={"missing": "SVG images without alternative text"},
    why="Screen readers announce an image without saying what it shows.",
    consequence="Blind visitors cannot tell what a picture on the page shows.",
    severity=HIGH,
    fix='Name the image: `<svg role="img"><title>Sales by month</title>…</svg>`, or hide it with `aria-hidden="true"`.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: svg-img-alt"),
)
@judges("SVG image|images", "has|have no alternative text", "have alternative text", NON_TEXT_CONTENT)
def svg_img_alt(document: AccessibleDocument) -> Faults:
    drawings = (node for node in document.exposed("[role]") if explicit_role(node) in SVG_ROLES and _is_in_svg(node))
    return Faults.find(drawings, lambda drawing: not is_named(document, drawing) and not _has_title_element(drawing))


@check(
    "object-alt",
    name="Objects have alternative text",
    outcomes={"missing": "Objects without alternative text"},
    why="Screen readers cannot say what the embedded object is.",
    consequence="Blind visitors cannot tell what an embedded file shows.",
    severity=HIGH,
    fix='Name the embedded object: `<object data="plan.pdf" type="application/pdf" aria-label="Plan of the house">`.',
    references=(f"{NON_TEXT_CONTENT}", "axe-core: object-alt"),
)
@judges("embedded object|objects", "has|have no alternative text", "have alternative text", NON_TEXT_CONTENT)
def object_alt(document: AccessibleDocument) -> Faults:
    objects = (
        node
        for node in document.exposed("object[data]")
        if (attribute(node, "data") or "").strip() and is_judged_as_image(node) and not _needs_plugin(node)
    )
    return Faults.find(
        objects,
        lambda node: not is_named(document, node) and not is_presentational(node),
        needs_review=lambda object_element: has_content(document, object_element),
    )


@check(
    "server-side-image-map",
    name="No server-side image maps",
    outcomes={"mouse-only": "Server-side image maps"},
    why="Such an image works only with a mouse: the server needs coordinates, which a keyboard cannot send.",
    severity=LOW,
    fix='Replace `ismap` with a client-side image map: `<img usemap="#plan">` and `<map name="plan">` with an '
    "`<area>` per link.",
    references=(f"{KEYBOARD}", "axe-core: server-side-image-map"),
)
@judges(
    "image|images with ismap",
    "is|are the only way to the pages behind it|them",
    "send no clicks to the server",
    KEYBOARD,
)
def server_side_image_map(document: AccessibleDocument) -> Faults:
    maps = list(document.exposed("img[ismap]"))
    # A person has to judge whether the page has text links to the same URLs.
    return Faults(maps, review=maps)


@check(
    "image-redundant-alt",
    name="Alternative text does not repeat adjacent text",
    outcomes={"repeated": "Alternative text repeats adjacent text"},
    why="Screen readers say the same thing twice.",
    severity=LOW,
    fix='Use `alt=""` on an image whose meaning is in the text beside it.',
    references=("axe-core: image-redundant-alt (best practice)",),
)
@judges(
    "image|images with alternative text",
    "repeats|repeat the text beside it|them",
    "do not repeat the text beside them",
    BEST_PRACTICE,
)
def image_redundant_alt(document: AccessibleDocument) -> Faults:
    images = (image for image in document.exposed("img") if not is_presentational(image))
    images_with_name = [(image, name) for image in images if (name := accessible_name(document, image))]
    repeating = [
        image
        for image, name in images_with_name
        if (container := _enclosing_text_container(image)) is not None
        and visible_text(document, container).lower() == name.lower()
    ]
    return Faults([image for image, _ in images_with_name], uncertain=repeating, unless="")


def _has_title_element(drawing: LexborNode) -> bool:
    # Browsers use only the first title of an SVG.
    first = next((child for child in elements(drawing) if child.tag == "title"), None)
    return first is not None and bool((first.text() or "").strip())


def _is_in_svg(node: LexborNode) -> bool:
    """Return True for an `<svg>` and elements inside it.

    Embedded HTML does not count.
    """
    current: LexborNode | None = node
    for _ in range(MAX_DEPTH):
        if current is None or (current.tag or "").lower() == "foreignobject":
            return False
        if current.tag == "svg":
            return True
        current = current.parent
    return False


def _needs_plugin(node: LexborNode) -> bool:
    return (attribute(node, "type") or "").strip().lower().startswith(PLUGIN_TYPES)


def _enclosing_text_container(image: LexborNode) -> LexborNode | None:
    current = image.parent
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return None
        is_link = current.tag == "a" and attribute(current, "href") is not None
        if is_link or current.tag in TEXT_CONTAINERS or explicit_role(current) == "button":
            return current
        current = current.parent
    return None
