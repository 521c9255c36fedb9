"""Mobile checks: layout for phones, from which most searches come."""

from __future__ import annotations

from website_scan.accessibility.wording import Wording
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import counted, excerpt, some
from website_scan.page.evidence import Document
from website_scan.page.meta import scale
from website_scan.page.meta import viewport as declared_viewport

CATEGORY = Category("Mobile", weight=8, html=True)

VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
LEGIBLE_PX = 12
LEAST_LEGIBLE = 0.6
TARGET_PX = 24
CROWDED = Wording("tap target|targets", f"is|are smaller than {TARGET_PX} pixels and close to others")


@check(
    "viewport",
    name="Page sets a viewport",
    found="Page sets no viewport",
    why="Phones lay the page out for a desktop screen and shrink it until it is unreadable.",
    severity=HIGH,
    fix=f"Add to the head: {VIEWPORT}",
    references=("Google Search Central: mobile-first indexing", "CSS Viewport Module Level 1"),
)
def viewport(document: Document) -> Finding:
    if declared_viewport(document) is not None:
        return Pass("The page sets a viewport.")
    return Fail("The page sets no viewport.")


@check(
    "viewport-width",
    name="Viewport has the width of the device",
    found="Viewport does not have the width of the device",
    why="Phones lay the page out wider or narrower than their screen.",
    severity=MEDIUM,
    fix=f"Change the viewport to {VIEWPORT}",
    references=("CSS Viewport Module Level 1",),
)
def viewport_width(document: Document) -> Finding:
    found = declared_viewport(document)
    if found is None:
        return NotApplicable("The page has no viewport.")
    shown = excerpt(found.content, 100)
    width, zoom = found.properties.get("width"), scale(found.properties.get("initial-scale", ""))
    # A zoom without a width makes the layout as wide as the device, too.
    if width == "device-width" or (width is None and zoom is not None and zoom >= 1):
        return Pass(f"The layout has the width of the device: “{shown}”.")
    return Warn(f"The layout does not have the width of the device: “{shown}”.")


@check(
    "font-legible",
    name="Most text has a legible font size",
    found="Much of the text is too small for phones",
    why="People on phones have to zoom to read.",
    judged=f"At least {LEAST_LEGIBLE:.0%} of the text must be {LEGIBLE_PX} px or larger.",
    severity=LOW,
    fix="Set body text to 16 pixels, and no text below 12: body { font-size: 16px }",
    references=("Lighthouse: legible font sizes",),
    content=True,
)
def font_legible(rendered: Rendered) -> Finding:
    total = sum(rendered.letters_by_px.values())
    if not total:
        return NotApplicable("The rendered page has no text.")
    legible = sum(letters for px, letters in rendered.letters_by_px.items() if px >= LEGIBLE_PX) / total
    share = f"{int(legible * 100)}%"  # rounded down, so that 59.6 does not read as enough
    if legible < LEAST_LEGIBLE:
        return Warn(
            f"Only {share} of the text is set at {LEGIBLE_PX} pixels or more; at least {int(LEAST_LEGIBLE * 100)}% "
            "should be."
        )
    return Pass(f"{share} of the text is set at {LEGIBLE_PX} pixels or more.")


@check(
    "tap-targets",
    name="Tap targets are large enough or well spaced",
    found="Tap targets are too small and too close together",
    why="People on phones hit the wrong link.",
    judged=f"Targets must be {TARGET_PX} by {TARGET_PX} px, or have as much room around their centre.",
    severity=LOW,
    fix=f"Make links and buttons at least {TARGET_PX} pixels wide and high, for example with min-width: {TARGET_PX}px; "
    f"min-height: {TARGET_PX}px, or leave as much space between them.",
    references=("WCAG 2.2, 2.5.8 Target Size (Minimum)",),
)
def tap_targets(rendered: Rendered) -> Finding:
    if not rendered.targets:
        return NotApplicable("The rendered page has no tap targets.")
    # Spacing makes up for size: a circle of 24 pixels around each centre must not touch others.
    small = [each for each in rendered.targets if each.is_crowded and min(each.width_px, each.height_px) < TARGET_PX]
    if small:
        return Warn(
            f"{CROWDED.clause(len(small), len(rendered.targets))}: "
            f"{some([excerpt(each.selector, 60) for each in small])}.",
            evidence=[
                {"selector": excerpt(each.selector), "width": each.width_px, "height": each.height_px} for each in small
            ],
        )
    return Pass(
        f"{counted(len(rendered.targets), 'tap target is', 'tap targets are')} large enough, or far enough from others."
    )
