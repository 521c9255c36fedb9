"""Probe that parses the page's style sheets once for all checks. The probe sends no request."""

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
    is_sizing,
    last_compounds,
    rules,
)
from website_scan.page.evidence import Document
from website_scan.page.markup import live
from website_scan.page.references import Reference, ResourceKind, keep
from website_scan.performance.evidence import ADAPTING_HOSTS, FontFace, Resource, Resources, StyleImport, Styles

# Limits for all style sheets together, so that a page cannot make parsing expensive.
MAX_CHARACTERS = 2 * 1024 * 1024
MAX_FACES = 500
MAX_IMPORTS = 500
MAX_SIZED = 1000

LEADING = re.compile(r"@(?:charset|layer|import)\b", re.IGNORECASE)
NOT_ON_SCREENS = re.compile(r"\s*+(?:print|speech)\s*+\Z", re.IGNORECASE)
FAMILY = re.compile(r"""["']([^"']{1,200})["']|([^,;!"'()/]{1,200})""")
# In a `font` declaration, the family comes after the size and an optional line height.
AFTER_SIZE = re.compile(
    r"(?:^|\s)(?:[\d.]{1,9}(?:[a-z]{1,5}|%)|(?:xx?-)?(?:small|large)|medium|smaller|larger)"
    r"(?:\s?/\s?[\w.%]{1,12})?\s(.*)",
    re.IGNORECASE | re.DOTALL,
)
CODE_RANGE = re.compile(r"U\+([0-9A-F?]{1,6})(?:-([0-9A-F]{1,6}))?", re.IGNORECASE)
LATIN_LETTER = ord("a")
ANY = Compound()  # matches every element


@probe()
def styles(document: Document, resources: Resources) -> Styles:
    """Parse the style elements and the loaded style sheets, and return the facts that checks need."""
    reader = _Reader(document)
    for sheet, css in _sheets(document, resources):
        reader.read(sheet, css)
    if any(_may_size_images(resource) for resource in resources.items):
        reader.sized = {ANY}
    return Styles(
        tuple(reader.faces),
        frozenset(reader.families),
        frozenset(reader.icons),
        tuple(reader.imports),
        frozenset(reader.sized),
    )


def _may_size_images(resource: Resource) -> bool:
    """Return True for a style sheet that the scanner could not load, but that visitors may get."""
    is_lost = resource.kind is ResourceKind.STYLESHEET and resource.eager and resource.status is None
    return is_lost and resource.host not in ADAPTING_HOSTS


def _sheets(document: Document, resources: Resources) -> Iterator[tuple[str, str]]:
    """Yield URL and text of each style sheet, up to MAX_CHARACTERS in all."""
    remaining = MAX_CHARACTERS
    for node in live(document, "style"):
        css = (node.text() or "")[:remaining]
        remaining -= len(css)
        yield document.base.url, css
    for resource in resources.items:
        if resource.kind is ResourceKind.STYLESHEET and resource.status == 200 and resource.eager and remaining > 0:
            css = resource.body[:remaining].decode("utf-8", "replace")
            remaining -= len(css)
            yield resource.final_url, css


class _Reader:
    """Parser that collects the facts of all style sheets."""

    def __init__(self, document: Document) -> None:
        self.faces: list[FontFace] = []
        self.families: set[str] = set()
        self.icons: set[str] = set()
        self.imports: list[StyleImport] = []
        self.sized: set[Compound] = set()
        self._elements = _Elements(document)
        self._allowance = Allowance()

    def read(self, sheet: str, css: str) -> None:
        """Parse a style sheet and collect its facts."""
        is_leading = True
        for rule in rules(css, self._allowance):
            if rule.block is None:
                # CSS Cascade 4, section 2: an @import after any other rule is ignored.
                is_leading = is_leading and LEADING.match(rule.prelude) is not None
                if is_leading and len(self.imports) < MAX_IMPORTS:
                    self._import(sheet, rule.prelude)
                continue
            is_leading = is_leading and rule.prelude[:6].lower() == "@layer"
            if is_font_face(rule):
                if len(self.faces) < MAX_FACES and (face := _face(sheet, rule)) is not None:
                    self.faces.append(face)
            elif not rule.prelude.startswith("@"):
                self._style(rule)
        if self._allowance.is_spent:
            self.sized = {ANY}  # any rule in the unread rest might size any element

    def _import(self, sheet: str, statement: str) -> None:
        url_and_media = imported(statement)
        if (
            url_and_media
            and not NOT_ON_SCREENS.match(url_and_media[1])
            and (url := _absolute_url(sheet, url_and_media[0]))
        ):
            self.imports.append(StyleImport(sheet, url))

    def _style(self, rule: Rule) -> None:
        families: set[str] = set()
        sets_speak = sets_size = False
        for name, value in rule.declarations:
            if family := _first_family(name, value):
                families.add(family)
            sets_speak = sets_speak or name == "speak"
            sets_size = sets_size or is_sizing(name, value)
        if sets_speak:
            self.icons |= families
        families -= self.families
        if not families and not sets_size:
            return
        compounds = list(last_compounds(rule.prelude, self._allowance))
        if sets_size:
            # Beyond the limit, one compound that matches every element replaces all others.
            matching = {compound for compound in compounds if self._elements.may_match(compound)}
            self.sized |= matching if len(self.sized) + len(matching) <= MAX_SIZED else {ANY}
        if families and any(self._elements.may_match(compound) for compound in compounds):
            self.families |= families


class _Elements:
    """Index of the tags, IDs and classes in the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._names: tuple[set[str], set[str], set[str]] | None = None

    def may_match(self, compound: Compound) -> bool:
        """Return True if each of the compound's names occurs in the document, possibly on different elements."""
        if self._names is None:
            self._names = self._gather()
        tags, ids, classes = self._names
        return (
            (not compound.tag or compound.tag in tags)
            and (not compound.id or compound.id in ids)
            and compound.classes <= classes
        )

    def _gather(self) -> tuple[set[str], set[str], set[str]]:
        tags: set[str] = set()
        ids: set[str] = set()
        classes: set[str] = set()
        for node in live(self._document, "*"):
            tags.add(node.tag or "")
            attributes = node.attributes
            ids.add(attributes.get("id") or "")
            classes.update((attributes.get("class") or "").split())
        return tags, ids, classes


def _face(sheet: str, rule: Rule) -> FontFace | None:
    """Return the font face of an @font-face rule; None if the rule has no file that a browser would load."""
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
        is_latin=_has_letters(values.get("unicode-range", "")),
        is_local="local(" in sources.lower(),
    )


def _first_family(name: str, value: str) -> str | None:
    """Return the first font family of a declaration, also of a custom property with "font" in its name."""
    if name == "font":
        family = AFTER_SIZE.search(value[:500])
        if family is None:
            return None
        value = family[1]
    elif name != "font-family" and not (name.startswith("--") and "font" in name):
        return None
    first = FAMILY.match(value.strip())
    return (first[1] or first[2]).strip().lower() if first else None


def _has_letters(ranges: str) -> bool:
    code_ranges = CODE_RANGE.findall(ranges[:4000])
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
