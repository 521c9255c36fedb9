"""Checks of web fonts and of text that waits for them.

Only fonts that the page is sure to need are judged (`website_scan.performance.probes.fonts`): without layout, the use
of other fonts is unknown.
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from website_scan.catalogue import Category, check
from website_scan.findings import LOW, MEDIUM, NotApplicable
from website_scan.messages import cut, document_thresholds, excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn, judge_by_limits
from website_scan.performance.evidence import Fonts, Resource, Styles
from website_scan.places import Column, Identity, Place, PlaceUrl, WireBytes, as_written
from website_scan.values import Address, Bytes, Count, Share, Values

CATEGORY = Category("Fonts", weight=3, html=True, content=True)

NO_FONT_FILES = NotApplicable("No font file is certain to be loaded.")
HIDING_FONT_DISPLAY = frozenset({"block", "auto", ""})
VISIBLE_FONT_DISPLAY = frozenset({"swap", "optional", "fallback"})
GOOD_FONT_COUNT, POOR_FONT_COUNT = 2, 5
# `font-display: block` is right for icons, because letters of a fallback font would be wrong.
ICONS = re.compile(r"icon|awesome|glyph|symbol|^fa[bsrl]?$|fa-|emoji")
SIGNATURES = (
    (b"wOF2", "WOFF2"),
    (b"wOFF", "WOFF"),
    (b"OTTO", "OpenType"),
    (b"\x00\x01\x00\x00", "TrueType"),
    (b"true", "TrueType"),
    (b"ttcf", "a collection"),
)


class WaitingFont(Place, frozen=True):
    """Font face whose text may be invisible until the font file has been loaded."""

    kind: ClassVar[str] = "font-face"

    family: Annotated[str, Identity(as_written), Column("Font family")]
    font_display: Annotated[str | None, Column("font-display", "mono")]
    file: Annotated[str, Column("File", "address")]


class OldFont(Place, frozen=True):
    """Font file in an older format than WOFF2."""

    kind: ClassVar[str] = "font-file"

    url: PlaceUrl
    format: Annotated[str, Column("Format", "short")]
    wire_bytes: WireBytes

    @property
    def label(self) -> str:
        return f"{cut(self.url, 120)} ({self.format})"


@check(
    "font-display",
    name="Text stays visible while fonts load",
    outcomes={"hidden": "Text may be invisible while fonts load"},
    why="Visitors may see blank space instead of text for up to three seconds.",
    severity=MEDIUM,
    fix="Write `font-display: swap` (or `optional`) into each `@font-face`; for Google Fonts add `&display=swap`.",
    references=("Lighthouse: font-display", "CSS Fonts 4, section 4.9", "MDN: font-display"),
)
def font_display(fonts: Fonts, styles: Styles) -> Verdict:
    faces = [
        face
        for face in fonts.faces
        if face.display not in HIDING_FONT_DISPLAY or not (face.family in styles.icons or ICONS.search(face.family))
    ]
    if not faces:
        return NotApplicable("The page's text uses no web font.")
    waiting = [face for face in faces if face.display not in VISIBLE_FONT_DISPLAY]
    if not waiting:
        return Pass("Text is shown while its fonts load ({faces}).", faces=Count(len(faces), "font face"))
    return Warn(
        "hidden",
        "{faces} {faces:does|do} not set font-display to swap, optional or fallback.",
        faces=Share(len(waiting), len(faces), "font face"),
        places=[
            WaitingFont(excerpt(face.family), excerpt(face.display) or None, excerpt(face.url)) for face in waiting
        ],
    )


@check(
    "font-format",
    name="Fonts are in WOFF2",
    outcomes={"old-format": "Fonts are not in WOFF2"},
    why="WOFF2 files are smaller than those of older formats, and every current browser supports them.",
    judged="A font file's first bytes tell its format.",
    severity=LOW,
    fix="Convert the font to WOFF2 (for example with `woff2_compress`), and list that file first in `src`.",
    references=("W3C: WOFF File Format 2.0", "web.dev: font best practices"),
)
def font_format(fonts: Fonts) -> Verdict:
    files = [(file, name) for file in fonts.unadapted_files if (name := _font_format_name(file))]
    if not files:
        return NO_FONT_FILES
    old = [(file, name) for file, name in files if name != "WOFF2"]
    if not old:
        return Pass("{files} {files:is|are} in WOFF2.", files=Count(len(files), "font file"))
    kind = Warn if all(name == "WOFF" for _, name in old) else Fail
    return kind(
        "old-format",
        "{files} ({weight}) {files:is|are} not in WOFF2.",
        files=Share(len(old), len(files), "font file"),
        weight=Bytes(sum(file.last_response_wire_bytes for file, _ in old)),
        places=[OldFont(excerpt(file.url), name, file.last_response_wire_bytes) for file, name in old],
    )


@check(
    "font-count",
    name="Few font files",
    outcomes={"too-many": "Too many font files"},
    why="Each font file delays the text that uses it.",
    judged=document_thresholds(GOOD_FONT_COUNT, POOR_FONT_COUNT),
    severity=LOW,
    fix="Use at most two fonts: one variable font instead of several weights, and a system font for the rest.",
    references=("web.dev: font best practices",),
)
def font_count(fonts: Fonts) -> Verdict:
    if not fonts.files:
        return NO_FONT_FILES
    return judge_by_limits(
        "too-many",
        "The page loads at least {files} ({weight}): {urls}",
        len(fonts.files),
        (GOOD_FONT_COUNT, POOR_FONT_COUNT),
        limit=Count(GOOD_FONT_COUNT),
        files=Count(len(fonts.files), "font file"),
        weight=Bytes(sum(file.last_response_wire_bytes for file in fonts.files)),
        urls=Values([Address(file.url, 80) for file in fonts.files]),
    )


def _font_format_name(resource: Resource) -> str:
    """Return the name of the font format from the file's first bytes.

    Empty if unknown.
    """
    return next((name for signature, name in SIGNATURES if resource.body.startswith(signature)), "")
