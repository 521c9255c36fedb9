"""Parser of axe-core's sentences on contrast into ratios and colours.

axe-core, doc/rule-descriptions, color-contrast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

CHECKS = frozenset({"color-contrast", "link-in-text-block"})
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


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast ratio in words, such as "4.31:1, needs 4.5:1 at 12px".

    `colours` are those of the text and of its background (for a link, of the surrounding text), as #rrggbb.
    """

    text: str
    colours: tuple[str, str]


def told(item: Mapping[str, object]) -> Mapping[str, object]:
    """Return the item with a `Contrast` instead of axe-core's sentence; unchanged if the sentence has no ratio."""
    why = str(item.get("why", ""))
    if found := TEXT.search(why):
        ratio, front, back, text_size, weight, needed = found.groups()
        bold = ", bold" if weight == "bold" else ""
        at = f" at {text_size}{bold}" if text_size else ""
    elif found := LINK.search(why):
        ratio, needed, front, back = found.groups()
        at = ""
    else:
        return item
    rest = {name: value for name, value in item.items() if name != "why"}
    return {"contrast": Contrast(f"{ratio}:1, needs {needed}:1{at}", (front, back))} | rest
