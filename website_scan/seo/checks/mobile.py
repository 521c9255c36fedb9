"""Checks of the viewport, font sizes and tap targets on phones."""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, States, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Fix, Language, Pass, Verdict, Warn
from website_scan.page.evidence import Document
from website_scan.page.meta import scale
from website_scan.page.meta import viewport as declared_viewport
from website_scan.places import Column, StyledElement
from website_scan.values import Code, Count, Percent, Share

CATEGORY = Category("Mobile", weight=8, html=True, states=States.NONE)

VIEWPORT = {Language.HTML: '<meta name="viewport" content="width=device-width, initial-scale=1">'}
MIN_LEGIBLE_FONT_PX = 12
MIN_LEGIBLE_SHARE = 0.6
MIN_TARGET_PX = 24


class CrowdedTarget(StyledElement, frozen=True):
    """Link or control that is too small and too close to others."""

    kind: ClassVar[str] = "tap-target"

    width: Annotated[float, Column("Width", "number", "px")] = 0
    height: Annotated[float, Column("Height", "number", "px")] = 0


@check(
    "viewport",
    name="Page sets a viewport",
    outcomes={"missing": "Page sets no viewport"},
    why="Phones lay the page out for a desktop screen and shrink it until it is unreadable.",
    consequence="On phones, the page is shrunk until it is hard to read, so visitors may leave.",
    severity=HIGH,
    fix=Fix("Add a viewport to the head.", VIEWPORT),
    references=("Google Search Central: mobile-first indexing", "CSS Viewport Module Level 1"),
)
def viewport(document: Document) -> Verdict:
    if declared_viewport(document) is not None:
        return Pass("The page sets a viewport.")
    return Fail("missing", "The page sets no viewport.")


@check(
    "viewport-width",
    name="Viewport has the width of the device",
    outcomes={"other-width": "Viewport does not have the width of the device"},
    why="Phones lay the page out wider or narrower than their screen.",
    severity=MEDIUM,
    fix=Fix("Set the viewport to the width of the device.", VIEWPORT),
    references=("CSS Viewport Module Level 1",),
)
def viewport_width(document: Document) -> Verdict:
    viewport = declared_viewport(document)
    if viewport is None:
        return NotApplicable("The page has no viewport.")
    content = Code(viewport.content, 100)
    width, zoom = viewport.properties.get("width"), scale(viewport.properties.get("initial-scale", ""))
    # Without a width, an initial-scale of at least 1 also makes the layout as wide as the device.
    if width == "device-width" or (width is None and zoom is not None and zoom >= 1):
        return Pass("The layout has the width of the device: “{content}”.", content=content)
    return Warn("other-width", "The layout does not have the width of the device: “{content}”.", content=content)


@check(
    "font-legible",
    name="Most text has a legible font size",
    outcomes={"small": "Much of the text is too small for phones"},
    why="People on phones have to zoom to read.",
    judged=f"At least {MIN_LEGIBLE_SHARE:.0%} of the text must be {MIN_LEGIBLE_FONT_PX} px or larger.",
    severity=LOW,
    fix=Fix("Set body text to 16 pixels, and no text below 12.", {Language.CSS: "body { font-size: 16px }"}),
    references=("Lighthouse: legible font sizes",),
    content=True,
)
def font_legible(rendered: Rendered) -> Verdict:
    total = sum(rendered.letters_by_px.values())
    if not total:
        return NotApplicable("The rendered page has no text.")
    legible = sum(letters for px, letters in rendered.letters_by_px.items() if px >= MIN_LEGIBLE_FONT_PX) / total
    share = Percent(int(legible * 100))  # The share is rounded down, so that 59.6 % is not reported as 60 %.
    pixels = Count(MIN_LEGIBLE_FONT_PX, "pixel")
    if legible < MIN_LEGIBLE_SHARE:
        return Warn(
            "small",
            "Only {share} of the text is set at {pixels} or more; at least {least} should be.",
            share=share,
            pixels=pixels,
            least=Percent(MIN_LEGIBLE_SHARE * 100),
        )
    return Pass("{share} of the text is set at {pixels} or more.", share=share, pixels=pixels)


@check(
    "tap-targets",
    name="Tap targets are large enough or well spaced",
    outcomes={"crowded": "Tap targets are too small and too close together"},
    why="People on phones hit the wrong link.",
    judged=f"Targets must be {MIN_TARGET_PX} by {MIN_TARGET_PX} px, or have as much room around their centre.",
    severity=LOW,
    fix=Fix(
        f"Make links and buttons at least {MIN_TARGET_PX} pixels wide and high, or leave as much space between them.",
        {Language.CSS: f"min-width: {MIN_TARGET_PX}px; min-height: {MIN_TARGET_PX}px"},
    ),
    references=("WCAG 2.2, 2.5.8 Target Size (Minimum)",),
)
def tap_targets(rendered: Rendered) -> Verdict:
    if not rendered.targets:
        return NotApplicable("The rendered page has no tap targets.")
    # A circle of 24 pixels around a small target's centre must not touch others (WCAG 2.5.8).
    crowded = [
        target
        for target in rendered.targets
        if target.is_crowded and min(target.width_px, target.height_px) < MIN_TARGET_PX
    ]
    if crowded:
        return Warn(
            "crowded",
            "{targets} {targets:is|are} smaller than {pixels} and close to others.",
            targets=Share(len(crowded), len(rendered.targets), "tap target"),
            pixels=Count(MIN_TARGET_PX, "pixel"),
            places=[
                CrowdedTarget(excerpt(target.selector), width=target.width_px, height=target.height_px)
                for target in crowded
            ],
        )
    return Pass(
        "{targets} {targets:is|are} large enough, or far enough from others.",
        targets=Count(len(rendered.targets), "tap target"),
    )
