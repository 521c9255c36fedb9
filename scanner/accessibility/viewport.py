"""What `<meta name="viewport">` allows people who zoom."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from scanner.page.evidence import Document
from scanner.page.markup import attribute, live
from scanner.page.meta import scale

LEAST_SCALE, GENEROUS_SCALE = 2.0, 5.0


def viewports(document: Document) -> list[tuple[LexborNode, dict[str, str]]]:
    """The elements with their properties, lower case. As axe-core, which takes white space for no separator."""
    return [
        (node, _properties((attribute(node, "content") or "").lower()))
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() == "viewport"
    ]


def _properties(content: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in re.split(r"[;,]", content):
        name, _, value = (each.strip() for each in part.partition("="))
        number = scale(value)
        if not value or (name == "maximum-scale" and number is not None and number < 0):
            continue
        found[name] = "1" if name == "maximum-scale" and value == "yes" else value
    return found


def forbids_zoom(properties: dict[str, str]) -> bool:
    """Whether zooming to 200% is disabled."""
    scalable = properties.get("user-scalable", "")
    number, largest = scale(scalable), scale(properties.get("maximum-scale", ""))
    return (
        scalable == "no" or (number is not None and -1 < number < 1) or (largest is not None and largest < LEAST_SCALE)
    )


def limits_zoom(properties: dict[str, str]) -> bool:
    """Whether there is a limit below 500%, but not so low that `forbids_zoom` is true."""
    number = scale(properties.get("maximum-scale", ""))
    return number is not None and LEAST_SCALE <= number < GENEROUS_SCALE
