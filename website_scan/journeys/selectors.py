"""Read and write the selectors of recordings, such as `aria/Sign in[role="button"]`, `text/Menu` or `#menu > a`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from website_scan.journeys.journey import ElementTarget, Selector, SelectorKind, SelectorPart

MAX_SELECTORS = 20
MAX_PARTS = 8
MAX_SELECTOR_CHARACTERS = 2000
# Attributes of a selector by accessible name, as Puppeteer writes them.
ARIA_ATTRIBUTE = re.compile(r"""\[\s*(name|role)\s*=\s*(?:"([^"]*)"|'([^']*)')\s*\]""")
ROLE = re.compile(r"[A-Za-z]{2,40}")
# Parts of a selector that only Puppeteer knows.
PUPPETEER_SYNTAX = re.compile(r">>>|::-p-")


def selector_of(parts: str | Sequence[str]) -> Selector:
    """Read one selector, which has a part for each shadow tree.

    Raises ValueError, whose message is a sentence.
    """
    texts = [parts] if isinstance(parts, str) else parts
    if not 1 <= len(texts) <= MAX_PARTS:
        raise ValueError(f"A selector has 1 to {MAX_PARTS} parts.")
    return Selector(tuple(_part(text) for text in texts))


def selector_texts(selector: Selector) -> list[str]:
    """Write the parts of a selector as in a recording."""
    return [_text_of(part) for part in selector.parts]


def aria(name: str, role: str = "") -> Selector:
    """Return the selector of elements with this accessible name, and optionally this role."""
    return Selector((SelectorPart(SelectorKind.ARIA, " ".join(name.split()), role),))


def css(text: str) -> Selector:
    """Return a selector in CSS."""
    return Selector((SelectorPart(SelectorKind.CSS, text),))


def containing(text: str) -> Selector:
    """Return the selector of the smallest element that contains the text."""
    return Selector((SelectorPart(SelectorKind.TEXT, text),))


def css_string(text: str) -> str:
    """Return the text as a string of CSS (CSSOM, “serialize a string”)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def target_of(*selectors: Selector) -> ElementTarget:
    """Return the target that has these alternative selectors, without repetitions."""
    return ElementTarget(tuple(dict.fromkeys(selectors)))


def _part(text: str) -> SelectorPart:
    if len(text) > MAX_SELECTOR_CHARACTERS:
        raise ValueError(f"A selector is longer than {MAX_SELECTOR_CHARACTERS:,} characters.")
    prefix, slash, rest = text.partition("/")
    if not slash or prefix not in list(SelectorKind):
        prefix, rest = SelectorKind.CSS, text
    kind = SelectorKind(prefix)
    role = ""
    if kind is SelectorKind.ARIA:
        rest, role = _name_and_role(rest)
    if not rest.strip() and not role:
        raise ValueError("A selector is empty.")
    if kind in (SelectorKind.CSS, SelectorKind.PIERCE) and PUPPETEER_SYNTAX.search(rest):
        raise ValueError("A selector has syntax that is not CSS. Use aria/, text/, xpath/ or pierce/ instead.")
    return SelectorPart(kind, rest, role)


def _name_and_role(text: str) -> tuple[str, str]:
    attributes = {match[1]: match[2] or match[3] or "" for match in ARIA_ATTRIBUTE.finditer(text)}
    role = attributes.get("role", "")
    if role and not ROLE.fullmatch(role):
        raise ValueError("The role in a selector is not the name of a role, such as button.")
    name = ARIA_ATTRIBUTE.sub("", text).strip() or attributes.get("name", "")
    return " ".join(name.split()), role


def _text_of(part: SelectorPart) -> str:
    if part.kind is SelectorKind.ARIA:
        role = f'[role="{part.role}"]' if part.role else ""
        return f"aria/{part.text}{role}"
    # CSS that begins like another kind of selector has a prefix, too.
    if part.kind is SelectorKind.CSS and part.text.partition("/")[0] not in list(SelectorKind):
        return part.text
    return f"{part.kind}/{part.text}"
