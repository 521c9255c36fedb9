"""Checks of colour and layout.

All verdicts come from axe-core, because these checks need the rendered page.
"""

from __future__ import annotations

from website_scan.accessibility.axe import INAPPLICABLE
from website_scan.accessibility.contrasts import ContrastElement
from website_scan.accessibility.wording import faulty
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH
from website_scan.outcomes import Verdict
from website_scan.places import StyledElement

CATEGORY = Category("Colour and layout", weight=10, html=True, content=True)


@check(
    "color-contrast",
    name="Text has sufficient contrast",
    outcomes={"low": "Text with insufficient contrast"},
    why="People with low vision, or with a screen in bright sunlight, cannot read the text.",
    consequence="Visitors with weak eyesight, or in bright sunlight, may not be able to read some of the text.",
    severity=HIGH,
    fix="Darken the text or lighten what is behind it until the ratio is at least 4.5:1; 3:1 is enough from 24 px, or "
    "18.7 px if bold.",
    references=("WCAG 1.4.3 Contrast (Minimum) (AA)", "axe-core: color-contrast"),
)
@faulty("piece|pieces of text", "has|have too little contrast", ContrastElement.from_axe_message)
def color_contrast(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


@check(
    "link-in-text-block",
    name="Links in text are distinguishable without colour",
    outcomes={"colour-only": "Links in text distinguishable by colour only"},
    why="People who cannot see the difference in colour do not find the link.",
    consequence="Visitors who cannot tell colours apart may not notice links in the text.",
    severity=HIGH,
    fix="Underline links within text, or give them another weight; not everyone can tell colours apart.",
    references=("WCAG 1.4.1 Use of Color (A)", "axe-core: link-in-text-block"),
)
@faulty("link|links in text", "differs|differ from the text by colour only", ContrastElement.from_axe_message)
def link_in_text_block(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


@check(
    "target-size",
    name="Touch targets are large enough or well spaced",
    outcomes={"small": "Touch targets that are too small and too close together"},
    why="People with unsteady hands, or large fingers on small screens, hit the wrong control.",
    consequence="Visitors with unsteady hands, or on a small screen, may hit the wrong link or button.",
    severity=HIGH,
    fix="Make links and controls at least 24 by 24 pixels, or leave enough space that a 24-pixel circle around each "
    "touches no other.",
    references=("WCAG 2.5.8 Target Size (Minimum) (AA)", "axe-core: target-size"),
)
@faulty("touch target|targets", "is|are smaller than 24 pixels and too close to another", StyledElement)
def target_size(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


@check(
    "css-orientation-lock",
    name="Screen orientation is not locked",
    outcomes={"locked": "Screen orientation is locked"},
    why="People whose device is mounted, on a wheelchair for example, cannot turn it.",
    consequence="Visitors who cannot turn their phone or tablet may have to read the page sideways.",
    severity=HIGH,
    fix="Remove the CSS that rotates the page: `@media (orientation: …)` with `transform: rotate(90deg)`.",
    references=("WCAG 1.3.4 Orientation (AA)", "axe-core: css-orientation-lock"),
)
@faulty("the page", "is locked to one orientation")
def css_orientation_lock(axe: AxeReport) -> Verdict:
    return INAPPLICABLE


@check(
    "avoid-inline-spacing",
    name="Text spacing can be adjusted",
    outcomes={"fixed": "Text spacing cannot be adjusted"},
    why="People who need wider spacing to read cannot set it in their own style sheet.",
    consequence="Visitors who need wider spacing to read cannot set it for some of the text.",
    severity=HIGH,
    fix="Remove `!important` from `line-height`, `letter-spacing` and `word-spacing` in style attributes.",
    references=("WCAG 1.4.12 Text Spacing (AA)", "axe-core: avoid-inline-spacing"),
)
@faulty("element|elements", "fixes|fix the spacing of text with !important")
def avoid_inline_spacing(axe: AxeReport) -> Verdict:
    return INAPPLICABLE
