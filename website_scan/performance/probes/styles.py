"""Probe that parses the page's style sheets once for all checks.

It sends no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from website_scan.catalogue import probe
from website_scan.page.css import (
    Allowance,
    Compound,
    Rule,
    font_source,
    imported,
    is_font_face,
    last_compounds,
    may_fix_height,
    rules,
)
from website_scan.page.encodings import decode_style_sheet
from website_scan.page.evidence import Document
from website_scan.page.markup import live
from website_scan.page.references import Reference, ResourceKind, keep
from website_scan.performance.evidence import ADAPTIVE_FONT_HOSTS, FontFace, Resource, Resources, StyleImport, Styles

# A malicious page cannot make the parsing of its style sheets expensive.
MAX_CHARACTERS = 2 * 1024 * 1024
MAX_FONT_FACES = 500
MAX_IMPORTS = 500
MAX_SIZING_COMPOUNDS = 1000

LEADING = re.compile(r"@(?:charset|layer|import)\b", re.IGNORECASE)
NOT_ON_SCREENS = re.compile(r"\s*+(?:print|speech)\s*+\Z", re.IGNORECASE)
FAMILY = re.compile(r"""["']([^"']{1,200})["']|([^,;!"'()/]{1,200})""")
# Font family in a `font` declaration, which comes after the size and an optional line height.
FAMILY_AFTER_SIZE = re.compile(
    r"(?:^|\s)(?:[\d.]{1,9}(?:[a-z]{1,5}|%)|(?:xx?-)?(?:small|large)|medium|smaller|larger)"
    r"(?:\s?/\s?[\w.%]{1,12})?\s(.*)",
    re.IGNORECASE | re.DOTALL,
)
UNICODE_RANGE = re.compile(r"U\+([0-9A-F?]{1,6})(?:-([0-9A-F]{1,6}))?", re.IGNORECASE)
LATIN_LETTER = ord("a")
ANY_ELEMENT = Compound()


@probe()
def styles(document: Document, resources: Resources) -> Styles:
    """Parse the style elements and the loaded style sheets of the page."""
    reader = _StyleSheetReader(document)
    for sheet, css in _style_sheets(document, resources):
        reader.read(sheet, css)
    if any(_may_size_images(resource) for resource in resources.items):
        reader.sized = {ANY_ELEMENT}
    return Styles(
        tuple(reader.faces),
        frozenset(reader.families),
        frozenset(reader.icons),
        tuple(reader.imports),
        frozenset(reader.sized),
    )


def _may_size_images(resource: Resource) -> bool:
    """Return True if visitors may load a style sheet that failed.

    The scanner could not load it.
    """
    is_missing_style_sheet = resource.kind is ResourceKind.STYLESHEET and resource.eager and resource.status is None
    return is_missing_style_sheet and resource.host not in ADAPTIVE_FONT_HOSTS


def _style_sheets(document: Document, resources: Resources) -> Iterator[tuple[str, str]]:
    """Yield URL and text of style sheets up to MAX_CHARACTERS in total."""
    remaining = MAX_CHARACTERS
    for node in live(document, "style"):
        css = (node.text() or "")[:remaining]
        remaining -= len(css)
        yield document.base.url, css
    for resource in resources.items:
        if resource.kind is ResourceKind.STYLESHEET and resource.status == 200 and resource.eager and remaining > 0:
            content_type = resource.headers.get("Content-Type") or ""
            css = decode_style_sheet(resource.body[:remaining], content_type, document.encoding)
            remaining -= len(css)
            yield resource.final_url, css


class _StyleSheetReader:
    """Parser that collects facts from several style sheets."""

    def __init__(self, document: Document) -> None:
        self.faces: list[FontFace] = []
        self.families: set[str] = set()
        self.icons: set[str] = set()
        self.imports: list[StyleImport] = []
        self.sized: set[Compound] = set()
        self._elements = _DocumentNames(document)
        self._allowance = Allowance()

    def read(self, sheet: str, css: str) -> None:
        """Parse a style sheet and collect its font faces, imports and rules."""
        may_be_followed_by_import = True
        for rule in rules(css, self._allowance):
            if rule.block is None:
                # Browsers ignore an @import after any other rule (CSS Cascade 4, section 2).
                may_be_followed_by_import = may_be_followed_by_import and LEADING.match(rule.prelude) is not None
                if may_be_followed_by_import and len(self.imports) < MAX_IMPORTS:
                    self._read_import(sheet, rule.prelude)
                continue
            may_be_followed_by_import = may_be_followed_by_import and rule.prelude[:6].lower() == "@layer"
            if is_font_face(rule):
                if len(self.faces) < MAX_FONT_FACES and (face := _parse_font_face(sheet, rule)) is not None:
                    self.faces.append(face)
            elif not rule.prelude.startswith("@"):
                self._read_style_rule(rule)
        if self._allowance.is_used_up:
            self.sized = {ANY_ELEMENT}  # Rules that were not parsed may set the size of any element.

    def _read_import(self, sheet: str, statement: str) -> None:
        url_and_media = imported(statement)
        if (
            url_and_media
            and not NOT_ON_SCREENS.match(url_and_media[1])
            and (url := _absolute_url(sheet, url_and_media[0]))
        ):
            self.imports.append(StyleImport(sheet, url))

    def _read_style_rule(self, rule: Rule) -> None:
        families: set[str] = set()
        sets_speak_property = sets_image_size = False
        for name, value in rule.declarations:
            if family := _first_family(name, value):
                families.add(family)
            sets_speak_property = sets_speak_property or name == "speak"
            sets_image_size = sets_image_size or may_fix_height(name, value)
        if sets_speak_property:
            self.icons |= families
        families -= self.families
        if not families and not sets_image_size:
            return
        compounds = list(last_compounds(rule.prelude, self._allowance))
        if sets_image_size:
            # Beyond the limit, one compound selector that matches every element replaces all others.
            matching = {compound for compound in compounds if self._elements.may_match(compound)}
            self.sized |= matching if len(self.sized) + len(matching) <= MAX_SIZING_COMPOUNDS else {ANY_ELEMENT}
        if families and any(self._elements.may_match(compound) for compound in compounds):
            self.families |= families


class _DocumentNames:
    """Index of the tags, IDs and classes in the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: tuple[set[str], set[str], set[str]] | None = None

    def may_match(self, compound: Compound) -> bool:
        """Return True if the document contains the parts of a selector.

        These are the tag, ID and classes of the compound selector.
        """
        if self._names is None:
            self._names = self._collect_names()
        tags, ids, classes = self._names
        return (
            (not compound.tag or compound.tag in tags)
            and (not compound.id or compound.id in ids)
            and compound.classes <= classes
        )

    def _collect_names(self) -> tuple[set[str], set[str], set[str]]:
        tags: set[str] = set()
        ids: set[str] = set()
        classes: set[str] = set()
        for node in live(self._document, "*"):
            tags.add(node.tag or "")
            attributes = node.attributes
            ids.add(attributes.get("id") or "")
            classes.update((attributes.get("class") or "").split())
        return tags, ids, classes


def _parse_font_face(sheet: str, rule: Rule) -> FontFace | None:
    """Return the font face of an @font-face rule.

    None if a browser would load no file of the rule.
    """
    values = dict(rule.declarations)
    sources = values.get("src", "")
    chosen = font_source(sources)
    family = values.get("font-family", "").strip("\"' ").lower()
    url = _absolute_url(sheet, chosen) if chosen else None
    if url is None or not family:
        return None
    return FontFace(
        family=family[:200],
        url=url,
        display=values.get("font-display", "").lower(),
        has_latin_letters=_covers_latin_letters(values.get("unicode-range", "")),
        is_local="local(" in sources.lower(),
    )


def _first_family(name: str, value: str) -> str | None:
    """Return the first font family of a CSS declaration.

    Custom properties with "font" in their name count, too.
    """
    if name == "font":
        family = FAMILY_AFTER_SIZE.search(value[:500])
        if family is None:
            return None
        value = family[1]
    elif name != "font-family" and not (name.startswith("--") and "font" in name):
        return None
    first = FAMILY.match(value.strip())
    return (first[1] or first[2]).strip().lower() if first else None


def _covers_latin_letters(ranges: str) -> bool:
    code_ranges = UNICODE_RANGE.findall(ranges[:4000])
    if not code_ranges:
        return True
    return any(
        int(low.replace("?", "0"), 16) <= LATIN_LETTER <= int(high or low.replace("?", "F"), 16)
        for low, high in code_ranges
    )


def _absolute_url(base: str, address: str) -> str | None:
    references: dict[str, Reference] = {}
    keep(references, base, address, ResourceKind.OTHER, eager=False)
    return next(iter(references), None)
