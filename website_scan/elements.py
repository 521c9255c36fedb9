"""Compute the normal form of an HTML element.

It stays the same from scan to scan. It is used for fingerprints (ADR 11). An element is identified by its ID, its name,
its label, its source or its text, whichever comes first, so that it is recognized wherever it moves. Only an element
without any of them is identified by its position. Generated parts, wrappers, styles and the order of attributes never
count.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from website_scan.addresses import normal_address, original
from website_scan.generated_names import mask_generated_parts
from website_scan.written_urls import WrittenUrl

# Maximum length of labels, because axe-core and our checks cut texts differently.
LABEL = 50
# URL attributes, the most reliable first. Scripts for lazy loading use the `data-` attributes.
SOURCES = ("src", "href", "data", "action", "xlink:href", "data-src", "data-lazy-src", "data-original", "poster")
# Owners change labels to fix findings, so labels identify only elements without a URL.
OTHER_LABELS = ("alt", "title", "placeholder")
# Evidence contains these attributes first, the most specific at the beginning.
TELLING = ("id", "name", "for", "aria-label", *SOURCES, *OTHER_LABELS, "type", "role")
# Kind of an element without an identifying attribute.
KINDS = ("http-equiv", "itemprop", "property", "rel", "role", "type")
# Text identifies only these elements, because other text varies.
TEXT_IDENTIFIED_ELEMENTS = frozenset({"button", "label", "legend", "summary", "th"})
# A site may add or remove `main`, so it is left out.
AROUND = frozenset({"aside", "dialog", "footer", "header", "nav"})
# Headers and footers inside these elements are not the page's own.
HEADER_OWNERS = frozenset({"article", "aside", "li", "main", "nav", "section"})
# Elements for entries of lists and tables, whose content comes from a database.
ENTRIES = frozenset({"article", "dd", "dt", "li", "option", "tr"})
# Lists in these elements are menus that people have written.
MENU_CONTAINERS = frozenset({"footer", "header", "nav"})

START_TAG = re.compile(r'<\s*([\w:-]+)((?:[^>"]|"[^"]*")*+)(>?)')
ATTRIBUTE = re.compile(r'\s([\w:@.-]+)="([^"]*)"')
TAGS = re.compile(r"<[^<>]*>")
CUT = ("…", "...")
STEP = re.compile(r"^[\w:-]*")
ID_SELECTOR = re.compile(r"#((?:\\.|[\w-]|[^\x00-\x7f])+)")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
FRAGMENT = re.compile(r"#([A-Za-z][\w-]*)")
# Code, content and placeholders in URLs do not identify an element.
UNSTABLE_SOURCE = re.compile(r"javascript:|data:|blob:|about:|#?$", re.IGNORECASE)
# URL schemes without a host, such as mailto.
HOSTLESS_URL = re.compile(r"(?:mailto|tel|sms|geo|whatsapp):", re.IGNORECASE)


class Tag(NamedTuple):
    """Parsed start tag: name, attributes and text.

    The text is there if the markup contains the whole element.
    """

    name: str
    attributes: Mapping[str, str]
    text: str


def element(
    path: str,
    markup: str,
    own: WrittenUrl,
    *,
    source: str = "",
    text: str = "",
    is_styled: bool = False,
    why: str = "",
) -> str:
    """Return the normal form of an HTML element, for its fingerprint.

    `path` is the list of its ancestors and itself (`html > body > p`), or its selector. `markup` is its start tag,
    maybe with its content. Either may be empty. `own` is the URL of the page. `source` and `text` replace those of the
    markup. `is_styled`: a style sheet's rule is at fault, so the element is identified by the colours in `why` instead
    of by its content.
    """
    steps = _parse_path(path)
    tag = _parse_tag(markup) or Tag(steps[-1].name if steps else "", {}, "")
    frames = "".join(f"{step.name} >>> " for step in steps[:-1] if step.is_frame)
    element_id = tag.attributes.get("id") or (steps[-1].id if steps else "")
    name = tag.attributes.get("name", "")
    stable_name = _stable_name("#", element_id) or _stable_name(f"{tag.name} name=", name)
    if not stable_name and not is_styled and not _is_list_entry(steps):
        stable_name = _content(tag, own, source, text)
    return frames + (stable_name or _kind_and_part(steps, tag, element_id, name, why if is_styled else ""))


def sort_identifying_first(attributes: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return an element's attributes, identifying ones first.

    Long evidence is truncated at the end.
    """
    return dict(sorted(attributes.items(), key=lambda pair: pair[0] not in TELLING))


def prose(text: str) -> str:
    """Return a text in lower case with `*` instead of numbers.

    Numbers are often positions, counts and dates.
    """
    return re.sub(r"\d+", "*", " ".join(text.split()).lower())


class _Step(NamedTuple):
    name: str
    id: str
    # True if the next steps are inside this frame or shadow host.
    is_frame: bool


def _parse_path(path: str) -> list[_Step]:
    parts = [part.split(" > ") for part in path.split(" >>> ")] if path else []
    return [
        _Step(_step_name(step), _step_id(step), is_frame=number == len(part))
        for part in parts
        for number, step in enumerate(part, 1)
    ]


def _step_name(step: str) -> str:
    match = STEP.match(step.strip())
    return match[0].partition(":")[0].lower() if match else ""


def _step_id(step: str) -> str:
    match = ID_SELECTOR.search(step)
    return match[1].replace("\\", "") if match else ""


def _parse_tag(markup: str) -> Tag | None:
    match = START_TAG.match(markup)
    if match is None:
        return None
    attributes = {name.lower(): html.unescape(value).strip() for name, value in ATTRIBUTE.findall(match[2])}
    rest = markup[match.end() :]
    end = rest.rstrip().removesuffix(">").rstrip().lower()
    has_whole_content = bool(match[3]) and rest.rstrip().endswith(">") and end.endswith(f"</{match[1].lower()}")
    return Tag(match[1].lower(), attributes, html.unescape(TAGS.sub(" ", rest)) if has_whole_content else "")


def _stable_name(sign: str, name: str) -> str:
    """Return a name with the prefix `sign`.

    Empty if any part of the name is generated.
    """
    plain = mask_generated_parts(name)
    return f"{sign}{plain}" if plain and "*" not in plain and not name.endswith(CUT) else ""


def _content(tag: Tag, own: WrittenUrl, source: str, text: str) -> str:
    """Return the normal form of what identifies an element.

    An attribute or text. Empty if there is none.
    """
    attributes = tag.attributes
    if target := _stable_name("for=", attributes.get("for", "")):
        return f"{tag.name} {target}"
    if label := _label(attributes.get("aria-label", "")):
        return f"{tag.name} “{label}”"
    sources = [source, *(attributes.get(name, "") for name in SOURCES)]
    if normal_source := next(filter(None, (_source(value, own) for value in sources)), ""):
        return f"{tag.name} {normal_source}"
    labels = [attributes.get(name, "") for name in OTHER_LABELS]
    labels += [text or (tag.text if tag.name in TEXT_IDENTIFIED_ELEMENTS else "")]
    label = next(filter(None, map(_label, labels)), "")
    return f"{tag.name} “{label}”" if label else ""


def _label(text: str) -> str:
    return prose(text[:LABEL].removesuffix("…")) if re.search(r"\w", text) else ""


def _source(value: str, own: WrittenUrl) -> str:
    value = original(value).strip()
    if fragment := FRAGMENT.fullmatch(value):
        return _stable_name("#", fragment[1])
    if UNSTABLE_SOURCE.match(value):
        return ""
    if HOSTLESS_URL.match(value):
        return value.partition("?")[0].lower()
    if value.endswith(CUT) and not re.search(r"[?#]", value):
        return _folder(value, own)
    return normal_address(value, own)


def _folder(cut: str, own: WrittenUrl) -> str:
    """Return the normal form of a truncated URL's folder.

    Empty if the host may be truncated, too.
    """
    folder = re.sub(r"^(?:https?:)?//", "", cut, flags=re.IGNORECASE).rpartition("/")[0]
    return normal_address(f"{cut.rpartition('/')[0]}/", own) if folder else ""


def _is_list_entry(steps: list[_Step]) -> bool:
    """Return True if the last element is in a list or table entry.

    Menus do not count.
    """
    around = _landmark_positions(steps)
    entries = [number for number, step in enumerate(steps[:-1]) if step.name in ENTRIES]
    return bool(entries) and not any(steps[number].name in MENU_CONTAINERS for number in around)


def _landmark_positions(steps: list[_Step]) -> list[int]:
    """Return the positions of page sections with the last element.

    The sections are page headers, footers, menus and asides.
    """
    positions = []
    for number, step in enumerate(steps[:-1]):
        is_section_header = step.name in ("header", "footer") and any(
            ancestor.name in HEADER_OWNERS for ancestor in steps[:number]
        )
        if step.name in AROUND and not is_section_header:
            positions.append(number)
    return positions


def _kind_and_part(steps: list[_Step], tag: Tag, element_id: str, name: str, why: str) -> str:
    """Return an element's kind and its page section.

    An example is `footer a rel=nofollow`.
    """
    around = _landmark_positions(steps)
    part = steps[around[-1]].name if around else ""
    kinds = [f"{kind}={tag.attributes[kind].lower()}" for kind in KINDS if tag.attributes.get(kind)]
    names = [
        f"#{mask_generated_parts(element_id)}" if element_id else "",
        f"name={mask_generated_parts(name)}" if name else "",
    ]
    colours = " on ".join(colour.lower() for colour in COLOUR.findall(why)[:2])
    return " ".join(filter(None, [part, tag.name, *names, *kinds, colours]))
