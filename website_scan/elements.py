"""Elements: describe an element of a page by what endures, for fingerprints (ADR 11).

That is its ID, its name, its label, its source or its text, whichever comes first, so that an element is known wherever
it moves. Only an element without any of them is described by where it is. Generated parts, positions, wrappers, styles
and the order of attributes never count.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from website_scan.addresses import normal_address, original
from website_scan.generated_names import without_generated
from website_scan.written_urls import WrittenUrl

# Maximum length of a label or text: axe-core and our own checks cut them at different lengths.
LABEL = 50
# Attributes that hold the source, in order. Scripts that load images late keep it in one of the others.
SOURCES = ("src", "href", "data", "action", "xlink:href", "data-src", "data-lazy-src", "data-original", "poster")
# Labels that are part of what a check of sources, such as of text alternatives, wants to be changed.
OTHER_LABELS = ("alt", "title", "placeholder")
# Attributes that identify an element, the most telling first: evidence shows them before all others.
TELLING = ("id", "name", "for", "aria-label", *SOURCES, *OTHER_LABELS, "type", "role")
# Attributes that say what kind of element it is, where nothing says which one.
KINDS = ("http-equiv", "itemprop", "property", "rel", "role", "type")
# Elements that people tell apart by their text. The text of others is content, which changes from page to page.
KNOWN_BY_TEXT = frozenset({"button", "label", "legend", "summary", "th"})
# Parts of a page that stand around its content. Content may get a main element, or lose it.
AROUND = frozenset({"aside", "dialog", "footer", "header", "nav"})
# A header or footer in one of these is its own, not that of the page.
WITH_HEADERS = frozenset({"article", "aside", "li", "main", "nav", "section"})
# Elements that pages repeat for each entry of their data.
ENTRIES = frozenset({"article", "dd", "dt", "li", "option", "tr"})
# Parts of a page whose lists are written by people, such as menus.
WITH_MENUS = frozenset({"footer", "header", "nav"})

START_TAG = re.compile(r'<\s*([\w:-]+)((?:[^>"]|"[^"]*")*+)(>?)')
ATTRIBUTE = re.compile(r'\s([\w:@.-]+)="([^"]*)"')
TAGS = re.compile(r"<[^<>]*>")
CUT = ("…", "...")
STEP = re.compile(r"^[\w:-]*")
OWN_ID = re.compile(r"#((?:\\.|[\w-]|[^\x00-\x7f])+)")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
FRAGMENT = re.compile(r"#([A-Za-z][\w-]*)")
# Addresses that are code or content, or that scripts replace.
NO_SOURCE = re.compile(r"javascript:|data:|blob:|about:|#?$", re.IGNORECASE)
# Addresses without a host, such as mailto:.
NO_HOST = re.compile(r"(?:mailto|tel|sms|geo|whatsapp):", re.IGNORECASE)


class Tag(NamedTuple):
    """A start tag that was read: name, attributes, and the element's text if the markup has all of it."""

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
    """Return the normal form of an element.

    `path` are its ancestors and itself (`html > body > p`), or its selector, `markup` its start tag, maybe with its
    content; either may be empty. `own` is the URL of the page. `source` and `text` replace those of the markup.
    `is_styled`: a rule of a style sheet is at fault, so that not the element's content tells which one, but the colours
    in `why`.
    """
    steps = _steps(path)
    tag = _tag(markup) or Tag(steps[-1].name if steps else "", {}, "")
    frames = "".join(f"{step.name} >>> " for step in steps[:-1] if step.is_frame)
    own_id = tag.attributes.get("id") or (steps[-1].id if steps else "")
    name = tag.attributes.get("name", "")
    named = _endures("#", own_id) or _endures(f"{tag.name} name=", name)
    if not named and not is_styled and not _is_entry(steps):
        named = _content(tag, own, source, text)
    return frames + (named or _position(steps, tag, own_id, name, why if is_styled else ""))


def telling_first(attributes: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return attributes with those first that identify the element: evidence is cut."""
    return dict(sorted(attributes.items(), key=lambda each: each[0] not in TELLING))


def prose(text: str) -> str:
    """Return the normal form of a text: its numbers are positions, counts and dates, which change."""
    return re.sub(r"\d+", "*", " ".join(text.split()).lower())


class _Step(NamedTuple):
    name: str
    id: str
    is_frame: bool  # of a frame or a host of shadow content that holds the next steps


def _steps(path: str) -> list[_Step]:
    parts = [part.split(" > ") for part in path.split(" >>> ")] if path else []
    return [
        _Step(_step_name(step), _step_id(step), is_frame=number == len(part))
        for part in parts
        for number, step in enumerate(part, 1)
    ]


def _step_name(step: str) -> str:
    found = STEP.match(step.strip())
    return found[0].partition(":")[0].lower() if found else ""


def _step_id(step: str) -> str:
    found = OWN_ID.search(step)
    return found[1].replace("\\", "") if found else ""


def _tag(markup: str) -> Tag | None:
    found = START_TAG.match(markup)
    if found is None:
        return None
    attributes = {name.lower(): html.unescape(value).strip() for name, value in ATTRIBUTE.findall(found[2])}
    rest = markup[found.end() :]
    end = rest.rstrip().removesuffix(">").rstrip().lower()
    is_whole = bool(found[3]) and rest.rstrip().endswith(">") and end.endswith(f"</{found[1].lower()}")
    return Tag(found[1].lower(), attributes, html.unescape(TAGS.sub(" ", rest)) if is_whole else "")


def _endures(sign: str, name: str) -> str:
    """Return a name after its sign; empty if the name, or a part of it, is generated."""
    plain = without_generated(name)
    return f"{sign}{plain}" if plain and "*" not in plain and not name.endswith(CUT) else ""


def _content(tag: Tag, own: WrittenUrl, source: str, text: str) -> str:
    """Return what identifies an element that people wrote, empty if nothing does."""
    attributes = tag.attributes
    if found := _endures("for=", attributes.get("for", "")):
        return f"{tag.name} {found}"
    if label := _label(attributes.get("aria-label", "")):
        return f"{tag.name} “{label}”"
    sources = [source, *(attributes.get(each, "") for each in SOURCES)]
    if found := next(filter(None, (_source(each, own) for each in sources)), ""):
        return f"{tag.name} {found}"
    labels = [attributes.get(each, "") for each in OTHER_LABELS]
    labels += [text or (tag.text if tag.name in KNOWN_BY_TEXT else "")]
    label = next(filter(None, map(_label, labels)), "")
    return f"{tag.name} “{label}”" if label else ""


def _label(text: str) -> str:
    return prose(text[:LABEL].removesuffix("…")) if re.search(r"\w", text) else ""


def _source(value: str, own: WrittenUrl) -> str:
    value = original(value).strip()
    if found := FRAGMENT.fullmatch(value):
        return _endures("#", found[1])
    if NO_SOURCE.match(value):
        return ""
    if NO_HOST.match(value):
        return value.partition("?")[0].lower()
    if value.endswith(CUT) and not re.search(r"[?#]", value):
        return _folder(value, own)
    return normal_address(value, own)


def _folder(cut: str, own: WrittenUrl) -> str:
    """Return the folder of an address whose end, maybe within a digest, was cut; empty if there is none."""
    folder = re.sub(r"^(?:https?:)?//", "", cut, flags=re.IGNORECASE).rpartition("/")[0]
    return normal_address(f"{cut.rpartition('/')[0]}/", own) if folder else ""


def _is_entry(steps: list[_Step]) -> bool:
    """Return True if the element belongs to an entry of a list or table, whose content is data."""
    around = _around(steps)
    entries = [number for number, step in enumerate(steps[:-1]) if step.name in ENTRIES]
    return bool(entries) and not any(steps[number].name in WITH_MENUS for number in around)


def _around(steps: list[_Step]) -> list[int]:
    """Return the positions of the elements around content that the last element is in."""
    found = []
    for number, step in enumerate(steps[:-1]):
        is_own = step.name in ("header", "footer") and any(each.name in WITH_HEADERS for each in steps[:number])
        if step.name in AROUND and not is_own:
            found.append(number)
    return found


def _position(steps: list[_Step], tag: Tag, own_id: str, name: str, why: str) -> str:
    """Return where an element is: the kind of element, in which part of the page. Its wrappers do not count."""
    around = _around(steps)
    part = steps[around[-1]].name if around else ""
    kinds = [f"{each}={tag.attributes[each].lower()}" for each in KINDS if tag.attributes.get(each)]
    made = [f"#{without_generated(own_id)}" if own_id else "", f"name={without_generated(name)}" if name else ""]
    colours = " on ".join(each.lower() for each in COLOUR.findall(why)[:2])
    return " ".join(filter(None, [part, tag.name, *made, *kinds, colours]))
