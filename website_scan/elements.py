"""Normal form of an element of a page, from what remains the same between scans, for fingerprints (ADR 11).

An element is identified by its ID, its name, its label, its source or its text, whichever comes first, so that it is
recognized wherever it moves. Only an element without any of them is identified by its position. Generated parts,
wrappers, styles and the order of attributes never count.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import NamedTuple

from website_scan.addresses import normal_address, original
from website_scan.generated_names import without_generated
from website_scan.written_urls import WrittenUrl

# Maximum length of a label or text, because axe-core and our own checks cut them at different lengths.
LABEL = 50
# Attributes that may contain the source, in order. Scripts that load images late use the `data-` ones.
SOURCES = ("src", "href", "data", "action", "xlink:href", "data-src", "data-lazy-src", "data-original", "poster")
# Labels that an owner changes to fix a finding, such as a text alternative: they identify less than a source.
OTHER_LABELS = ("alt", "title", "placeholder")
# Attributes that identify an element, the most specific first: evidence shows them before all others.
TELLING = ("id", "name", "for", "aria-label", *SOURCES, *OTHER_LABELS, "type", "role")
# Attributes that describe the kind of an element, for elements that no attribute identifies.
KINDS = ("http-equiv", "itemprop", "property", "rel", "role", "type")
# Elements that people distinguish by their text. The text of other elements is content, which varies by page.
KNOWN_BY_TEXT = frozenset({"button", "label", "legend", "summary", "th"})
# Landmarks around the content of a page. `main` is missing here, because a site may add or remove it.
AROUND = frozenset({"aside", "dialog", "footer", "header", "nav"})
# Elements that can have a header or footer of their own, which is not the page's.
WITH_HEADERS = frozenset({"article", "aside", "li", "main", "nav", "section"})
# Elements that pages repeat for each entry of their data.
ENTRIES = frozenset({"article", "dd", "dt", "li", "option", "tr"})
# Parts of a page whose lists people write, such as menus.
WITH_MENUS = frozenset({"footer", "header", "nav"})

START_TAG = re.compile(r'<\s*([\w:-]+)((?:[^>"]|"[^"]*")*+)(>?)')
ATTRIBUTE = re.compile(r'\s([\w:@.-]+)="([^"]*)"')
TAGS = re.compile(r"<[^<>]*>")
CUT = ("…", "...")
STEP = re.compile(r"^[\w:-]*")
OWN_ID = re.compile(r"#((?:\\.|[\w-]|[^\x00-\x7f])+)")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
FRAGMENT = re.compile(r"#([A-Za-z][\w-]*)")
# Values of source attributes that are code or content, or that scripts replace.
NO_SOURCE = re.compile(r"javascript:|data:|blob:|about:|#?$", re.IGNORECASE)
# Addresses without a host, such as mailto:.
NO_HOST = re.compile(r"(?:mailto|tel|sms|geo|whatsapp):", re.IGNORECASE)


class Tag(NamedTuple):
    """Parsed start tag: name, attributes, and the text of the element if the markup contains all of it."""

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

    `path` is the list of its ancestors and itself (`html > body > p`), or its selector. `markup` is its start tag,
    maybe with its content. Either may be empty. `own` is the URL of the page. `source` and `text` replace those of the
    markup. `is_styled`: a style sheet's rule is at fault, so the element is identified by the colours in `why` instead
    of by its content.
    """
    steps = _steps(path)
    tag = _tag(markup) or Tag(steps[-1].name if steps else "", {}, "")
    frames = "".join(f"{step.name} >>> " for step in steps[:-1] if step.is_frame)
    own_id = tag.attributes.get("id") or (steps[-1].id if steps else "")
    name = tag.attributes.get("name", "")
    named = _stable_name("#", own_id) or _stable_name(f"{tag.name} name=", name)
    if not named and not is_styled and not _is_entry(steps):
        named = _content(tag, own, source, text)
    return frames + (named or _position(steps, tag, own_id, name, why if is_styled else ""))


def identifying_first(attributes: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return the attributes, those first that identify the element: evidence is cut at the end."""
    return dict(sorted(attributes.items(), key=lambda pair: pair[0] not in TELLING))


def prose(text: str) -> str:
    """Return the normal form of a text: without its numbers, which are positions, counts and dates, and change."""
    return re.sub(r"\d+", "*", " ".join(text.split()).lower())


class _Step(NamedTuple):
    name: str
    id: str
    is_frame: bool  # True for a frame or shadow host, in which the next steps are


def _steps(path: str) -> list[_Step]:
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
    match = OWN_ID.search(step)
    return match[1].replace("\\", "") if match else ""


def _tag(markup: str) -> Tag | None:
    match = START_TAG.match(markup)
    if match is None:
        return None
    attributes = {name.lower(): html.unescape(value).strip() for name, value in ATTRIBUTE.findall(match[2])}
    rest = markup[match.end() :]
    end = rest.rstrip().removesuffix(">").rstrip().lower()
    is_whole = bool(match[3]) and rest.rstrip().endswith(">") and end.endswith(f"</{match[1].lower()}")
    return Tag(match[1].lower(), attributes, html.unescape(TAGS.sub(" ", rest)) if is_whole else "")


def _stable_name(sign: str, name: str) -> str:
    """Return a name after its sign; empty if the name, or a part of the name, is generated."""
    plain = without_generated(name)
    return f"{sign}{plain}" if plain and "*" not in plain and not name.endswith(CUT) else ""


def _content(tag: Tag, own: WrittenUrl, source: str, text: str) -> str:
    """Return the attribute or text that identifies an element, as people wrote it; empty if there is none."""
    attributes = tag.attributes
    if target := _stable_name("for=", attributes.get("for", "")):
        return f"{tag.name} {target}"
    if label := _label(attributes.get("aria-label", "")):
        return f"{tag.name} “{label}”"
    sources = [source, *(attributes.get(name, "") for name in SOURCES)]
    if normal_source := next(filter(None, (_source(value, own) for value in sources)), ""):
        return f"{tag.name} {normal_source}"
    labels = [attributes.get(name, "") for name in OTHER_LABELS]
    labels += [text or (tag.text if tag.name in KNOWN_BY_TEXT else "")]
    label = next(filter(None, map(_label, labels)), "")
    return f"{tag.name} “{label}”" if label else ""


def _label(text: str) -> str:
    return prose(text[:LABEL].removesuffix("…")) if re.search(r"\w", text) else ""


def _source(value: str, own: WrittenUrl) -> str:
    value = original(value).strip()
    if fragment := FRAGMENT.fullmatch(value):
        return _stable_name("#", fragment[1])
    if NO_SOURCE.match(value):
        return ""
    if NO_HOST.match(value):
        return value.partition("?")[0].lower()
    if value.endswith(CUT) and not re.search(r"[?#]", value):
        return _folder(value, own)
    return normal_address(value, own)


def _folder(cut: str, own: WrittenUrl) -> str:
    """Return the normal folder of an address whose end, maybe within a digest, was cut; empty if there is none."""
    folder = re.sub(r"^(?:https?:)?//", "", cut, flags=re.IGNORECASE).rpartition("/")[0]
    return normal_address(f"{cut.rpartition('/')[0]}/", own) if folder else ""


def _is_entry(steps: list[_Step]) -> bool:
    """Return True if the element belongs to an entry of a list or table, whose content is data."""
    around = _around(steps)
    entries = [number for number, step in enumerate(steps[:-1]) if step.name in ENTRIES]
    return bool(entries) and not any(steps[number].name in WITH_MENUS for number in around)


def _around(steps: list[_Step]) -> list[int]:
    """Return the positions of the landmarks around the content that contain the last element."""
    positions = []
    for number, step in enumerate(steps[:-1]):
        is_own = step.name in ("header", "footer") and any(ancestor.name in WITH_HEADERS for ancestor in steps[:number])
        if step.name in AROUND and not is_own:
            positions.append(number)
    return positions


def _position(steps: list[_Step], tag: Tag, own_id: str, name: str, why: str) -> str:
    """Return the kind of an element, and the part of the page that contains it. Its wrappers do not count."""
    around = _around(steps)
    part = steps[around[-1]].name if around else ""
    kinds = [f"{kind}={tag.attributes[kind].lower()}" for kind in KINDS if tag.attributes.get(kind)]
    names = [f"#{without_generated(own_id)}" if own_id else "", f"name={without_generated(name)}" if name else ""]
    colours = " on ".join(colour.lower() for colour in COLOUR.findall(why)[:2])
    return " ".join(filter(None, [part, tag.name, *names, *kinds, colours]))
