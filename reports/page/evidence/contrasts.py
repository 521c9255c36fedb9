"""axe-core's sentences on contrast as figures and colours (axe-core, doc/rule-descriptions, color-contrast)."""

from __future__ import annotations

import re
from collections.abc import Mapping

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


def told(item: Mapping[str, object]) -> Mapping[str, object]:
    """The item with `contrast`, `colours`, `text_size` in place of a sentence that tells a ratio; else as it was."""
    why = str(item.get("why", ""))
    if found := TEXT.search(why):
        ratio, front, back, text_size, weight, needed = found.groups()
        bold = ", bold" if weight == "bold" else ""
        text = {"text_size": f"{text_size}{bold}"} if text_size else {}
    elif found := LINK.search(why):
        ratio, needed, front, back = found.groups()
        text = {}
    else:
        return item
    rest = {name: value for name, value in item.items() if name != "why"}
    return {"contrast": f"{ratio}:1, needs {needed}:1", "colours": f"{front} on {back}", **text} | rest
