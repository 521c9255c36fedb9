"""JSON-LD on a page, and the vocabulary of schema.org, with the names in `schema_org.json`."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from website_scan.messages import excerpt
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live

DATA = Path(__file__).with_name("schema_org.json")
MAX_BLOCKS = 50
MAX_NODES = 2_000
MAX_DEPTH = 40
MAX_REWRITTEN = 200_000  # items and properties, in all blocks
MAX_ALIASES = 50
MAX_TYPES = 20  # per node
# Aliases of keywords that schema.org's own context defines.
_SCHEMA_ALIASES = {"type": "@type", "id": "@id"}
_SCHEMA = re.compile(r"\A(?:https?://(?:www\.)?schema\.org/?#?|schema:)", re.IGNORECASE)

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """One `<script type="application/ld+json">`: its value, or why it can't be parsed, with line and column."""

    value: Any = None
    fault: str = ""


@dataclass(slots=True)
class Graph:
    """The page's schema.org nodes. `tops` are the top-level ones, `nodes` are all, nested ones, too.

    `terms` are names that the page's own contexts define. Aliases of keywords have been replaced by the keywords.
    `is_open`: a context of another site, which is not read, may define further names.
    """

    tops: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)
    is_open: bool = False

    def resolved(self, value: Any) -> Any:
        """Return the node for a bare reference (`{"@id": …}`), and any other value unchanged."""
        if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("@id"), str):
            return self.by_id.get(value["@id"], value)
        return value


@dataclass(frozen=True, slots=True)
class JsonLd:
    """The page's first fifty blocks of JSON-LD, without empty ones, and their schema.org graph."""

    blocks: tuple[Block, ...] = ()
    graph: Graph = field(default_factory=Graph)


def read_json_ld(document: Document) -> JsonLd:
    """Read the JSON-LD of a page. A block that can't be parsed has a `fault`."""
    found = tuple(_blocks(document))
    return JsonLd(found, _graph(found))


def _blocks(document: Document) -> list[Block]:
    found: list[Block] = []
    for node in live(document, "script[type]"):
        if (attribute(node, "type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            text = (node.text() or "").lstrip("\ufeff")
            if text.strip():
                found.append(_read(text))
        if len(found) == MAX_BLOCKS:
            break
    return found


def _read(text: str) -> Block:
    try:
        # JSON allows numbers of any length, but Python's int does not.
        return Block(json.loads(text, parse_int=float, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1]
        near = excerpt(line[max(0, error.colno - 21) : error.colno + 20], 60)
        beside = f", near “{near}”" if near else ""
        return Block(
            fault=f"{error.msg.lower().removesuffix(' at')} in line {error.lineno}, column {error.colno}{beside}"
        )
    except RecursionError:
        return Block(fault="it is nested too deeply")
    except ValueError as error:
        return Block(fault=str(error))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _graph(blocks: tuple[Block, ...]) -> Graph:
    found = Graph()
    contexts = _Contexts(found)
    for block in blocks:
        for each in block.value if isinstance(block.value, list) else [block.value]:
            if isinstance(each, Mapping) and _is_of_schema_org(each.get("@context")):
                node = contexts.applied(each, {})
                inside = node.get("@graph")
                if isinstance(inside, list | Mapping):
                    tops = inside if isinstance(inside, list) else [inside]
                else:
                    tops = [node]
                for top in tops:
                    if isinstance(top, Mapping):
                        found.tops.append(top)
                        _collect(top, found, 0)
    return found


def _is_of_schema_org(context: Any) -> bool:
    parts = context if isinstance(context, list) else [context]
    names = (part.get("@vocab") if isinstance(part, Mapping) else part for part in parts)
    return any(isinstance(name, str) and _SCHEMA.fullmatch(name.strip()) for name in names)


class _Contexts:
    """Contexts of the page: what they define is noted in `found`, and keywords replace their aliases.

    A context applies to its node and the nodes within (JSON-LD 1.1, sections 3.1 and 4.1.7).
    """

    def __init__(self, found: Graph) -> None:
        self._found = found
        self._left = MAX_REWRITTEN

    def applied(self, value: Any, aliases: Mapping[str, str], depth: int = 0) -> Any:
        """Return a copy of a value in which keywords replace their aliases. A keyword wins over an alias beside it."""
        if not isinstance(value, list | dict) or depth > 2 * MAX_DEPTH or len(value) > self._left:
            return value
        self._left -= len(value)
        if isinstance(value, list):
            return [self.applied(each, aliases, depth + 1) for each in value]
        context = value.get("@context")
        if context is not None:
            aliases = self._aliases(context, aliases)
        node = {}
        for name, inner in value.items():
            keyword = aliases.get(name, name)
            if keyword == name or keyword not in value:
                node[keyword] = inner if inner is context else self.applied(inner, aliases, depth + 1)
        return node

    def _aliases(self, context: Any, inherited: Mapping[str, str]) -> Mapping[str, str]:
        """Return the aliases of keywords in effect within a context. A term that is none leads to itself."""
        aliases = dict(inherited)
        for part in context if isinstance(context, list) else [context]:
            if isinstance(part, str) and _SCHEMA.fullmatch(part.strip()):
                aliases |= _SCHEMA_ALIASES
            elif isinstance(part, str):
                self._found.is_open = True
            elif isinstance(part, Mapping):
                self._found.terms.update(part)
                for term, definition in part.items():
                    meaning = definition.get("@id") if isinstance(definition, Mapping) else definition
                    meaning = aliases.get(meaning, meaning) if isinstance(meaning, str) else ""
                    if term in aliases or (meaning.startswith("@") and len(aliases) < MAX_ALIASES):
                        aliases[term] = meaning if meaning.startswith("@") else term
        return aliases


def _collect(node: Node, found: Graph, depth: int) -> None:
    if depth > MAX_DEPTH or len(found.nodes) >= MAX_NODES:
        return
    found.nodes.append(node)
    if isinstance(name := node.get("@id"), str) and len(node) > 1:
        found.by_id.setdefault(name, {}).update(node)
    for value in node.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Mapping):
                _collect(each, found, depth + 1)


def types(node: Node) -> tuple[str, ...]:
    """Return the node's schema.org types without the vocabulary's URL. Types of other vocabularies are left out."""
    raw = node.get("@type", ())
    names = raw if isinstance(raw, list) else [raw]
    short = (_SCHEMA.sub("", name).strip() for name in names[:MAX_TYPES] if isinstance(name, str))
    return tuple(name for name in short if name and ":" not in name)


def unknown_types(found: Graph) -> Iterator[str]:
    """Yield types that neither schema.org nor the page's own contexts define. None if a context was not read."""
    if found.is_open:
        return
    known, _ = _vocabulary()
    for node in found.nodes:
        yield from (name for name in types(node) if name not in known and name not in found.terms)


def unknown_properties(found: Graph) -> Iterator[str]:
    """Yield properties that schema.org does not define, as `Product.prize`.

    Terms of other vocabularies (`gs1:…`) and of the page's own contexts are not judged. None if a context was not read.
    """
    if found.is_open:
        return
    for node in found.nodes:
        kind = "/".join(types(node)[:3]) or "a node"
        yield from (f"{kind}.{name}" for name in _unknown(node) if name not in found.terms)


def _unknown(node: Node) -> Iterator[str]:
    _, known = _vocabulary()
    for name in node:
        short = _SCHEMA.sub("", name)
        # Actions mark properties that people have to fill in with these suffixes.
        short = short.removesuffix("-input").removesuffix("-output")
        if short and not short.startswith("@") and ":" not in short and short not in known:
            yield name


@functools.cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    return frozenset(raw["types"]), frozenset(raw["properties"]) | {"query"}
