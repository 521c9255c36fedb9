"""Checks of web fonts: text that waits for its font, and font files.

Only fonts that the page is sure to need are judged (`website_scan.performance.probes.fonts`); only a browser knows
about the others.
"""

from __future__ import annotations

import re

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn, by_limits
from website_scan.messages import agreeing, by_steps, counted, excerpt, part, size, some
from website_scan.performance.evidence import Fonts, Resource, Styles

CATEGORY = Category("Fonts", weight=3, html=True, content=True)

NO_FONTS = NotApplicable("No font file is certain to be loaded.")
HIDDEN_AT_FIRST = frozenset({"block", "auto", ""})
SHOWN_AT_ONCE = frozenset({"swap", "optional", "fallback"})
COUNT_GOOD, COUNT_POOR = 2, 5
# Icon fonts: wrong letters in place of icons are worse than nothing, so `block` is right for them, and `auto` means it.
ICONS = re.compile(r"icon|awesome|glyph|symbol|^fa[bsrl]?$|fa-|emoji")
SIGNATURES = (
    (b"wOF2", "WOFF2"),
    (b"wOFF", "WOFF"),
    (b"OTTO", "OpenType"),
    (b"\x00\x01\x00\x00", "TrueType"),
    (b"true", "TrueType"),
    (b"ttcf", "a collection"),
)


@check(
    "font-display",
    name="Text stays visible while fonts load",
    found="Text may be invisible while fonts load",
    why="Visitors may see blank space instead of text for up to three seconds.",
    severity=MEDIUM,
    fix="Write font-display: swap (or optional) into each @font-face; for Google Fonts add &display=swap.",
    references=("Lighthouse: font-display", "CSS Fonts 4, section 4.9", "MDN: font-display"),
)
def font_display(fonts: Fonts, styles: Styles) -> Finding:
    faces = [
        each
        for each in fonts.faces
        if each.display not in HIDDEN_AT_FIRST or not (each.family in styles.icons or ICONS.search(each.family))
    ]
    if not faces:
        return NotApplicable("The page's text uses no web font.")
    waiting = [each for each in faces if each.display not in SHOWN_AT_ONCE]
    if not waiting:
        return Pass(f"Text is shown while its fonts load ({counted(len(faces), 'font face')}).")
    families = some([excerpt(each, 60) for each in dict.fromkeys(each.family for each in waiting)])
    return Warn(
        f"{part(len(waiting), len(faces), 'font face')} ({families}) {agreeing(len(waiting), 'has', 'have')} no "
        "font-display: swap, optional or fallback.",
        evidence=[
            {"family": excerpt(each.family), "font_display": excerpt(each.display) or None, "file": excerpt(each.url)}
            for each in waiting
        ],
    )


@check(
    "font-format",
    name="Fonts are in WOFF2",
    found="Fonts are not in WOFF2",
    why="WOFF2 files are smaller than those of older formats, and every current browser supports them.",
    judged="A font file's first bytes tell its format.",
    severity=LOW,
    fix="Convert the font to WOFF2 (for example with woff2_compress), and list that file first in src.",
    references=("W3C: WOFF File Format 2.0", "web.dev: font best practices"),
)
def font_format(fonts: Fonts) -> Finding:
    known = [(each, name) for each in fonts.same_for_all if (name := _format(each))]
    if not known:
        return NO_FONTS
    old = [(each, name) for each, name in known if name != "WOFF2"]
    if not old:
        return Pass(f"{counted(len(known), 'font file is', 'font files are')} in WOFF2.")
    evidence: list[EvidenceItem] = [
        {"url": excerpt(each.url), "format": name, "wire_bytes": each.own_wire_bytes} for each, name in old
    ]
    message = (
        f"{part(len(old), len(known), 'font file')} ({size(sum(each.own_wire_bytes for each, _ in old))}) "
        f"{agreeing(len(old), 'is', 'are')} not in WOFF2: "
        f"{some([f'{excerpt(each.url, 80)} ({name})' for each, name in old])}."
    )
    if all(name == "WOFF" for _, name in old):
        return Warn(message, evidence=evidence)
    return Fail(message, evidence=evidence)


@check(
    "font-count",
    name="Few font files",
    found="Too many font files",
    why="Each font file delays the text that uses it.",
    judged=by_steps(COUNT_GOOD, COUNT_POOR),
    severity=LOW,
    fix="Use at most two fonts: one variable font instead of several weights, and a system font for the rest.",
    references=("web.dev: font best practices",),
)
def font_count(fonts: Fonts) -> Finding:
    if not fonts.files:
        return NO_FONTS
    return by_limits(
        len(fonts.files),
        COUNT_GOOD,
        COUNT_POOR,
        f"The page loads at least {counted(len(fonts.files), 'font file')}, "
        f"{size(sum(each.own_wire_bytes for each in fonts.files))}: "
        f"{some([excerpt(each.url, 80) for each in fonts.files])}",
        f"up to {COUNT_GOOD} is good",
    )


def _format(resource: Resource) -> str:
    return next((name for signature, name in SIGNATURES if resource.body.startswith(signature)), "")
