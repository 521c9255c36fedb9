"""Fonts: text that waits for its font, and font files.

Judged are the fonts that the page is sure to need (`scans.engine.performance.fonts`); of others only a browser knows.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from scans.engine.catalogue import Category, check
from scans.engine.findings import LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn, by_limits
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Page
from scans.engine.performance.evidence import Resource, Resources, Styles
from scans.engine.performance.fonts import ADAPTING_HOSTS, certain_fonts, faces_in_use

CATEGORY = Category("Fonts", weight=3)

NOT_HTML = NotApplicable("The page is not HTML.")
NO_FONTS = NotApplicable("No font file is sure to be loaded.")
EVIDENCE_ITEMS = 20
KIB = 1024
SHOWN_AT_ONCE = frozenset({"swap", "optional", "fallback"})
COUNT_GOOD, COUNT_POOR = 2, 5
# To see letters in place of pictures is worse than to see nothing: for them block is right.
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
    name="Text is shown before its font",
    severity=MEDIUM,
    fix="Write font-display: swap (or optional) into each @font-face; for Google Fonts add &display=swap.",
    references=("Lighthouse: font-display", "CSS Fonts 4, section 4.9"),
)
def font_display(page: Page, styles: Styles) -> Finding:
    if not page.is_html:
        return NOT_HTML
    faces = [each for each in faces_in_use(styles) if not (ICONS.search(each.family) and each.display == "block")]
    if not faces:
        return NotApplicable("The page's own elements ask for no font of a file.")
    waiting = [each for each in faces if each.display not in SHOWN_AT_ONCE]
    if not waiting:
        return Pass(f"{counted(len(faces), 'font face')}: text is shown before they have come.")
    families = list(dict.fromkeys(each.family for each in waiting))
    return Warn(
        f"Text in {some([excerpt(each, 60) for each in families])} may stay invisible for up to 3 s while its font "
        f"loads: {len(waiting)} of {counted(len(faces), 'font face')} without font-display: swap, "
        "optional or fallback.",
        evidence=tuple(
            {"family": excerpt(each.family), "font_display": excerpt(each.display) or None, "file": excerpt(each.url)}
            for each in waiting[:EVIDENCE_ITEMS]
        ),
    )


@check(
    "font-format",
    name="Fonts in WOFF2",
    severity=LOW,
    fix="Convert the font to WOFF2 (for example with woff2_compress) and name that file first in src.",
    references=("W3C: WOFF File Format 2.0", "webhint: font formats"),
)
def font_format(page: Page, resources: Resources, styles: Styles) -> Finding:
    """Told by the file's first bytes. Services that send each browser another format are left out."""
    if not page.is_html:
        return NOT_HTML
    known = [
        (each, name) for each in certain_fonts(resources, styles) if not _adapts(each) and (name := _format(each)) != ""
    ]
    if not known:
        return NO_FONTS
    old = [(each, name) for each, name in known if name != "WOFF2"]
    if not old:
        return Pass(f"{counted(len(known), 'font file')}, all in WOFF2.")
    evidence = tuple[EvidenceItem, ...](
        {"url": excerpt(each.url), "format": name, "wire_bytes": each.own_wire_bytes}
        for each, name in old[:EVIDENCE_ITEMS]
    )
    size = sum(each.own_wire_bytes for each, _ in old)
    message = (
        f"{len(old)} of {counted(len(known), 'font file')}, {size / KIB:,.1f} KiB, not in WOFF2: "
        f"{some([f'{excerpt(each.url, 80)} ({name})' for each, name in old])}."
    )
    if all(name == "WOFF" for _, name in old):
        return Warn(f"{message} WOFF is compressed, too, but not as well.", evidence=evidence)
    return Fail(f"{message} WOFF2 takes about half of it.", evidence=evidence)


@check(
    "font-count",
    name="Few font files",
    severity=LOW,
    fix="Get by with two fonts: one variable font in place of several weights, and the system's font for the rest.",
    references=("YellowLabTools: fontsCount",),
)
def font_count(page: Page, resources: Resources, styles: Styles) -> Finding:
    if not page.is_html:
        return NOT_HTML
    fonts = certain_fonts(resources, styles)
    if not fonts:
        return NO_FONTS
    size = sum(each.own_wire_bytes for each in fonts)
    return by_limits(
        len(fonts),
        COUNT_GOOD,
        COUNT_POOR,
        f"The page loads at least {counted(len(fonts), 'font file')}, {size / KIB:,.1f} KiB: "
        f"{some([excerpt(each.url, 80) for each in fonts])}",
        f"up to {COUNT_GOOD} is good",
    )


def _adapts(resource: Resource) -> bool:
    return (urlsplit(resource.final_url or resource.url).hostname or "") in ADAPTING_HOSTS


def _format(resource: Resource) -> str:
    return next((name for signature, name in SIGNATURES if resource.body.startswith(signature)), "")
