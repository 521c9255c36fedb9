"""Places of elements with too little contrast.

Ratio and colours are parsed from axe-core's messages. Source: axe-core, doc/rule-descriptions, color-contrast and
link-in-text-block.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Self

from website_scan.elements import element
from website_scan.places import Column, StyledElement
from website_scan.written_urls import WrittenUrl

COLOUR = r"#[0-9a-fA-F]{6}"
RATIO = r"(\d+(?:\.\d+)?)"
TEXT = re.compile(
    rf"insufficient color contrast of {RATIO} \(foreground color: ({COLOUR}), background color: ({COLOUR})"
    rf"(?:, font size: [\d.]+pt \(([\d.]+px)\))?(?:, font weight: (\w+))?\)\. Expected contrast ratio of {RATIO}:1"
)
LINK = re.compile(
    rf"insufficient color contrast of {RATIO}:1 with the surrounding text\. "
    rf"\(Minimum contrast is {RATIO}:1, link text: ({COLOUR}), surrounding text: ({COLOUR})\)"
)


class ContrastElement(StyledElement, frozen=True):
    """Element with too little contrast.

    The contrast is between text and background, or between a link and the surrounding text. `why` is None if the
    figures of axe-core's sentence were parsed. Ratios are contrast ratios of WCAG 2, from 1 to 21; colours are #rrggbb.
    """

    kind: ClassVar[str] = "contrast-element"

    contrast: Annotated[float | None, Column("Contrast", "number")] = None
    needs: Annotated[float | None, Column("Needs", "number")] = None
    text_colour: Annotated[str | None, Column("Text colour", "colour")] = None
    background: Annotated[str | None, Column("Background", "colour")] = None
    surrounding: Annotated[str | None, Column("Surrounding text", "colour")] = None
    size: Annotated[str | None, Column("Text size", "short")] = None

    @classmethod
    def from_axe_message(cls, selector: str, snippet: str, *, why: str, **columns: Any) -> Self:
        """Create an element from axe-core's message `why`.

        The message contains the ratio and the colours. If the message can't be parsed, the element has the message
        itself.
        """
        if match := TEXT.search(why):
            ratio, colour, background, size, weight, needs = match.groups()
            font_size_and_weight = ", ".join(filter(None, (size, "bold" if weight == "bold" else "")))
            columns |= {"background": background, "size": font_size_and_weight or None}
        elif match := LINK.search(why):
            ratio, needs, colour, surrounding = match.groups()
            columns |= {"surrounding": surrounding}
        else:
            return cls(selector, snippet, why=why, **columns)
        return cls(selector, snippet, contrast=float(ratio), needs=float(needs), text_colour=colour, **columns)

    def normal(self, page: WrittenUrl) -> str:
        """Return the normalized text for fingerprints.

        Colours are part of the text, because other colours need another fix.
        """
        colours = " ".join(filter(None, (self.text_colour, self.background, self.surrounding)))
        why = colours or self.why or ""
        return element(self.ancestry or self.selector, self.snippet, page, is_styled=True, why=why)
