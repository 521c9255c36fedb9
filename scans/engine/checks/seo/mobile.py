"""Mobile: whether the page is laid out for the phones that most searches come from."""

from __future__ import annotations

from scans.engine.catalogue import Category, check
from scans.engine.evidence import Document, Page
from scans.engine.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.markup import attribute
from scans.engine.masking import excerpt
from scans.engine.viewport import scale, viewport_metas

CATEGORY = Category("Mobile", weight=5)

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
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
