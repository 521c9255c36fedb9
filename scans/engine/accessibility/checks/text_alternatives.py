"""Text alternatives: whether everybody learns what images and other media say.

The rules are axe-core's of the same ID; where it would look at rendered style sheets, only a warning is given.
"""

from __future__ import annotations

from dataclasses import replace

from selectolax.lexbor import LexborNode

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.images import NON_TEXT_CONTENT, is_judged_as_image, is_named, judge_image_alternatives
from scans.engine.accessibility.names import accessible_name, visible_text
from scans.engine.accessibility.roles import explicit_role, is_presentational
from scans.engine.accessibility.verdicts import BEST_PRACTICE, Criterion, judge, judge_mildly
from scans.engine.catalogue import Category, check
from scans.engine.findings import CRITICAL, HIGH, LOW, Fail, Finding, NotApplicable, Warn
from scans.engine.page.evidence import Page
from scans.engine.page.markup import MAX_DEPTH, attribute, enclosing, live

CATEGORY = Category("Text alternatives", weight=15)

LINK_PURPOSE = Criterion("2.4.4", "A")
KEYBOARD = Criterion("2.1.1", "A")
WCAG_1_1_1 = "WCAG 1.1.1 Non-text Content (A)"
NOT_HTML = NotApplicable("The page is not HTML.")
# Elements whose own rules ask for a name.
NATIVE_IMAGES = frozenset({"img", "area", "input", "object"})
SVG_ROLES = frozenset({"img", "graphics-document", "graphics-symbol"})
# What browsers show by themselves in place of an object; other types lead to its fallback.
PLUGIN_TYPES = ("application/x-shockwave-flash", "application/x-java-applet", "application/x-silverlight")
# Text that an image's alternative would only say again.
REPEATING = frozenset({"button", "p", "li", "td", "th"})


@check(
    "image-alt",
    name="Images have alternative text",
    severity=CRITICAL,
    fix='Say what the image tells: <img alt="Red running shoe, side view">; write alt="" where it only decorates.',
    references=(WCAG_1_1_1, "axe-core: image-alt"),
)
def image_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    return judge_image_alternatives(document)


@check(
    "input-image-alt",
    name="Image buttons have alternative text",
    severity=CRITICAL,
    fix='Say what the button does: <input type="image" src="go.png" alt="Search">',
    references=(WCAG_1_1_1, "WCAG 4.1.2 Name, Role, Value (A)", "axe-core: input-image-alt"),
)
def input_image_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    buttons = list(document.exposed("input[type=image i]"))
    if not buttons:
        return NotApplicable("The page has no image buttons.")
    faulty = [each for each in buttons if not is_named(document, each, "alt")]
    return judge(
        document,
        buttons,
        faulty,
        NON_TEXT_CONTENT,
        passed=f"All image buttons ({len(buttons)}) say what they do.",
        failed="image buttons without alternative text",
    )


@check(
    "area-alt",
    name="Areas of image maps have alternative text",
    severity=CRITICAL,
    fix='Say where each area leads: <area href="/north" alt="Shops in the north" …>',
    references=(
        "WCAG 2.4.4 Link Purpose (In Context) (A)",
        "WCAG 4.1.2 Name, Role, Value (A)",
        "axe-core: area-alt",
    ),
)
def area_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    # Whether or not an image uses the map, as axe-core.
    areas = [each for each in live(document.document, "area[href]") if enclosing(each, "map") is not None]
    if not areas:
        return NotApplicable("The page has no image map with links.")
    faulty = [each for each in areas if not is_named(document, each, "alt")]
    return judge(
        document,
        areas,
        faulty,
        LINK_PURPOSE,
        passed=f"All areas of image maps ({len(areas)}) say where they lead.",
        failed="areas of image maps without alternative text",
    )


@check(
    "role-img-alt",
    name="Elements with role img have alternative text",
    severity=HIGH,
    fix='Name the image: <span role="img" aria-label="Five stars">, or role="none" where it only decorates.',
    references=(WCAG_1_1_1, "axe-core: role-img-alt"),
)
def role_img_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    images = [
        each
        for each in document.exposed("[role]")
        if explicit_role(each) == "img" and each.tag not in NATIVE_IMAGES and not _is_svg(each)
    ]
    if not images:
        return NotApplicable("No element has the role img.")
    faulty = [each for each in images if not is_named(document, each)]
    return judge(
        document,
        images,
        faulty,
        NON_TEXT_CONTENT,
        passed=f"All elements with the role img ({len(images)}) have a name.",
        failed="elements with the role img, but without alternative text",
    )


@check(
    "svg-img-alt",
    name="SVG images have alternative text",
    severity=HIGH,
    fix='Name the drawing: <svg role="img"><title>Sales by month</title>…, or hide it: aria-hidden="true".',
    references=(WCAG_1_1_1, "axe-core: svg-img-alt"),
)
def svg_img_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    drawings = [each for each in document.exposed("[role]") if explicit_role(each) in SVG_ROLES and _is_svg(each)]
    if not drawings:
        return NotApplicable("No SVG says that it is an image.")
    faulty = [each for each in drawings if not is_named(document, each) and not _has_title_element(each)]
    return judge(
        document,
        drawings,
        faulty,
        NON_TEXT_CONTENT,
        passed=f"All SVG images ({len(drawings)}) have a name.",
        failed="SVG images without alternative text",
    )


@check(
    "object-alt",
    name="Objects have alternative text",
    severity=HIGH,
    fix='Name what is embedded: <object data="plan.pdf" type="application/pdf" aria-label="Plan of the house">',
    references=(WCAG_1_1_1, "axe-core: object-alt"),
)
def object_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    objects = [
        each
        for each in document.exposed("object[data]")
        if (attribute(each, "data") or "").strip() and is_judged_as_image(each) and not _needs_plugin(each)
    ]
    if not objects:
        return NotApplicable("The page embeds no object.")
    faulty = [each for each in objects if not is_named(document, each) and not is_presentational(each)]
    finding = judge(
        document,
        objects,
        faulty,
        NON_TEXT_CONTENT,
        passed=f"All objects ({len(objects)}) have a name.",
        failed="objects without alternative text",
    )
    if isinstance(finding, Fail) and all(visible_text(document, each) for each in faulty):
        # Their content is read in place of what can't be loaded, which only a browser finds out.
        return Warn(f"{finding.message} Their content is read only if they can't be loaded.", LOW, finding.evidence)
    return finding


@check(
    "server-side-image-map",
    name="No server-side image maps",
    severity=LOW,
    fix='Replace ismap by a map of the page: <img usemap="#plan"> and <map name="plan"> with an <area> per link.',
    references=("WCAG 2.1.1 Keyboard (A)", "axe-core: server-side-image-map"),
)
def server_side_image_map(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    maps = list(document.exposed("img[ismap]"))
    if not maps:
        return NotApplicable("No image of the page sends the place of a click to the server.")
    finding = judge_mildly(
        document,
        maps,
        maps,
        KEYBOARD,
        passed="No image that is shown sends the place of a click to the server.",
        failed="images with a map on the server, which no keyboard can use",
    )
    # Whether there are links beside them that lead to the same places, somebody has to see; so axe-core, too.
    return replace(finding, weighs=False) if isinstance(finding, Warn) else finding


@check(
    "image-redundant-alt",
    name="Alternative text does not repeat the text beside it",
    severity=LOW,
    fix='Write alt="" on an image whose meaning the text beside it has already told.',
    references=("axe-core: image-redundant-alt (best practice)",),
)
def image_redundant_alt(page: Page, document: AccessibleDocument) -> Finding:
    if not page.is_html:
        return NOT_HTML
    images = [each for each in document.exposed("img") if not is_presentational(each)]
    named = [(each, name) for each in images if (name := accessible_name(document, each))]
    if not named:
        return NotApplicable("No image of the page has an alternative text.")
    repeating = [
        each
        for each, name in named
        if (around := _text_around(each)) is not None and visible_text(document, around).lower() == name.lower()
    ]
    finding = judge(
        document,
        [each for each, _ in named],
        repeating,
        BEST_PRACTICE,
        passed="No alternative text only repeats the text beside its image.",
        failed="alternative texts that repeat the text beside their image, so that it is heard twice",
    )
    return Warn(finding.message, evidence=finding.evidence) if isinstance(finding, Fail) else finding


def _has_title_element(drawing: LexborNode) -> bool:
    child = drawing.first_child
    while child is not None:
        if child.tag == "title":
            return bool((child.text() or "").strip())  # browsers look at the first only
        child = child.next
    return False


def _is_svg(node: LexborNode) -> bool:
    """Whether the element is of SVG: an `<svg>`, or in one and not in its HTML."""
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


def _text_around(image: LexborNode) -> LexborNode | None:
    current = image.parent
    for _ in range(MAX_DEPTH):
        if current is None or not current.is_element_node:
            return None
        is_link = current.tag == "a" and attribute(current, "href") is not None
        if is_link or current.tag in REPEATING or explicit_role(current) == "button":
            return current
        current = current.parent
    return None
