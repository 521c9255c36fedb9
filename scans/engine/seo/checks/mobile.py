"""Mobile: whether the page is laid out for the phones that most searches come from."""

from __future__ import annotations

from scans.engine.browser.evidence import Rendered
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.page.markup import attribute
from scans.engine.page.meta import scale, viewport_metas

CATEGORY = Category("Mobile", weight=5)

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
LEGIBLE_PX = 12
LEAST_LEGIBLE = 0.6
TARGET_PX = 24
EVIDENCE_ITEMS = 20
NOT_HTML = NotApplicable("The page is not HTML.")
NO_VIEWPORT = NotApplicable("The page has no viewport.")


@check(
    "viewport",
    name="Viewport for phones",
    severity=HIGH,
    fix=f"Add to the head: {VIEWPORT}",
    references=("Google Search Central: mobile-first indexing", "CSS Viewport Module Level 1"),
)
def viewport(page: Page, document: Document) -> Finding:
    """Without a viewport phones show a page for desks, made small."""
    if not page.is_html:
        return NOT_HTML
    if any(properties for _, properties in viewport_metas(document)):
        return Pass("The page sets a viewport.")
    return Fail("The page sets no viewport, so phones lay it out 980 pixels wide and shrink it.")


@check(
    "viewport-width",
    name="Viewport as wide as the device",
    severity=MEDIUM,
    fix=f"Make it {VIEWPORT}",
    references=("CSS Viewport Module Level 1",),
)
def viewport_width(page: Page, document: Document) -> Finding:
    """A fixed width fits one device only."""
    if not page.is_html:
        return NOT_HTML
    found = [(node, properties) for node, properties in viewport_metas(document) if properties]
    if not found:
        return NO_VIEWPORT
    node, properties = found[-1]  # the last one counts
    shown = excerpt(attribute(node, "content") or "", 100)
    zoom = scale(properties.get("initial-scale", ""))
    # A zoom without a width makes the layout as wide as the device, too.
    if properties.get("width") == "device-width" or ("width" not in properties and zoom is not None and zoom >= 1):
        return Pass(f"The layout is as wide as the device: “{shown}”.")
    return Warn(f"The layout's width is not the device's: “{shown}”.")


@check(
    "font-legible",
    name="Letters large enough for phones",
    severity=LOW,
    fix="Set running text at 16 pixels, nothing below 12: body { font-size: 16px }",
    references=("Lighthouse: legible font sizes",),
)
def font_legible(page: Page, rendered: Rendered) -> Finding:
    """People should not have to zoom in to read."""
    if not page.is_html:
        return NOT_HTML
    total = sum(rendered.letters_by_px.values())
    if not total:
        return NotApplicable("The rendered page has no text.")
    legible = sum(letters for px, letters in rendered.letters_by_px.items() if px >= LEGIBLE_PX) / total
    share = f"{int(legible * 100)} %"  # rounded down, so that 59.6 does not read as enough
    if legible < LEAST_LEGIBLE:
        return Warn(
            f"{share} of the text is set at {LEGIBLE_PX} pixels or more; it should be {int(LEAST_LEGIBLE * 100)} % "
            "at least, so that people need not zoom in."
        )
    return Pass(f"{share} of the text is set at {LEGIBLE_PX} pixels or more.")


@check(
    "tap-targets",
    name="Links and buttons large enough for fingers",
    severity=LOW,
    fix=f"Make them {TARGET_PX} pixels wide and high at least, as with min-width: {TARGET_PX}px; "
    f"min-height: {TARGET_PX}px, or leave so much room between them.",
    references=("WCAG 2.2, 2.5.8 Target Size (Minimum)",),
)
def tap_targets(page: Page, rendered: Rendered) -> Finding:
    """A finger is wider than a mouse pointer."""
    if not page.is_html:
        return NOT_HTML
    if not rendered.targets:
        return NotApplicable("The rendered page has nothing to tap on.")
    # Spacing makes up for size: a circle of 24 pixels around each centre has to be free of others.
    small = [each for each in rendered.targets if each.is_crowded and min(each.width_px, each.height_px) < TARGET_PX]
    if small:
        what = counted(len(small), "link or button", "links and buttons")
        return Warn(
            f"{what} of {len(rendered.targets)} under {TARGET_PX} pixels and close to others, so fingers miss them: "
            f"{some([excerpt(each.selector, 60) for each in small])}.",
            evidence=tuple(
                {"selector": excerpt(each.selector), "width": each.width_px, "height": each.height_px}
                for each in small[:EVIDENCE_ITEMS]
            ),
        )
    what = counted(len(rendered.targets), "link or button", "links and buttons")
    return Pass(f"{what}, all large enough or far enough from others.")
