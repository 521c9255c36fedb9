"""Parser of JSON-LD, and comparison with the vocabulary of schema.org, which `schema_org.json` contains."""

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
MAX_REWRITTEN = 200_000  # items and properties of all blocks
MAX_ALIASES = 50
MAX_TYPES = 20  # per node
# Aliases of JSON-LD keywords that schema.org's own context defines.
_SCHEMA_ALIASES = {"type": "@type", "id": "@id"}
_SCHEMA = re.compile(r"\A(?:https?://(?:www\.)?schema\.org/?#?|schema:)", re.IGNORECASE)

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Content of one `<script type="application/ld+json">`: its value, or its syntax error with line and column."""

    value: Any = None
    fault: str = ""


@dataclass(slots=True)
class Graph:
    """The page's schema.org nodes: `top_nodes` at the top level, `nodes` including nested ones.

    Aliases of keywords have been replaced by the keywords. `terms` are names that the page's own contexts define.
    `has_remote_context`: a context of another site, which is not fetched, may define further names.
    """

    top_nodes: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)
    has_remote_context: bool = False

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
    blocks = tuple(_read_blocks(document))
    return JsonLd(blocks, _build_graph(blocks))


def _read_blocks(document: Document) -> list[Block]:
    blocks: list[Block] = []
    for node in live(document, "script[type]"):
        if (attribute(node, "type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            text = (node.text() or "").lstrip("\ufeff")
            if text.strip():
                blocks.append(_parse(text))
        if len(blocks) == MAX_BLOCKS:
            break
    return blocks


def _parse(text: str) -> Block:
    try:
        # Floats, because Python refuses to parse very long integers, which JSON allows.
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


def _build_graph(blocks: tuple[Block, ...]) -> Graph:
    graph = Graph()
    contexts = _Contexts(graph)
    for block in blocks:
        for value in block.value if isinstance(block.value, list) else [block.value]:
            if isinstance(value, Mapping) and _is_of_schema_org(value.get("@context")):
                node = contexts.applied(value, {})
                members = node.get("@graph")
                if isinstance(members, list | Mapping):
                    top_nodes = members if isinstance(members, list) else [members]
                else:
                    top_nodes = [node]
                for top in top_nodes:
                    if isinstance(top, Mapping):
                        graph.top_nodes.append(top)
                        _collect(top, graph, 0)
    return graph


def _is_of_schema_org(context: Any) -> bool:
    parts = context if isinstance(context, list) else [context]
    names = (part.get("@vocab") if isinstance(part, Mapping) else part for part in parts)
    return any(isinstance(name, str) and _SCHEMA.fullmatch(name.strip()) for name in names)


class _Contexts:
    """Contexts of the page: replaces aliases by their keywords, and records other defined terms in `graph`.

    A context applies to its node and the nodes within (JSON-LD 1.1, sections 3.1 and 4.1.7).
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._remaining = MAX_REWRITTEN

    def applied(self, value: Any, aliases: Mapping[str, str], depth: int = 0) -> Any:
        """Return a copy of a value with keywords in place of their aliases. A keyword wins over an alias beside it."""
        if not isinstance(value, list | dict) or depth > 2 * MAX_DEPTH or len(value) > self._remaining:
            return value
        self._remaining -= len(value)
        if isinstance(value, list):
            return [self.applied(entry, aliases, depth + 1) for entry in value]
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
        """Return the aliases of keywords in effect within a context. A term redefined as no alias maps to itself."""
        aliases = dict(inherited)
        for part in context if isinstance(context, list) else [context]:
            if isinstance(part, str) and _SCHEMA.fullmatch(part.strip()):
                aliases |= _SCHEMA_ALIASES
            elif isinstance(part, str):
                self._graph.has_remote_context = True
            elif isinstance(part, Mapping):
                self._graph.terms.update(part)
                for term, definition in part.items():
                    meaning = definition.get("@id") if isinstance(definition, Mapping) else definition
                    meaning = aliases.get(meaning, meaning) if isinstance(meaning, str) else ""
                    if term in aliases or (meaning.startswith("@") and len(aliases) < MAX_ALIASES):
                        aliases[term] = meaning if meaning.startswith("@") else term
        return aliases


def _collect(node: Node, graph: Graph, depth: int) -> None:
    if depth > MAX_DEPTH or len(graph.nodes) >= MAX_NODES:
        return
    graph.nodes.append(node)
    if isinstance(name := node.get("@id"), str) and len(node) > 1:
        graph.by_id.setdefault(name, {}).update(node)
    for value in node.values():
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, Mapping):
                _collect(member, graph, depth + 1)


def types(node: Node) -> tuple[str, ...]:
    """Return the schema.org types of a node without the URL of schema.org. Types of other vocabularies are left out."""
    raw = node.get("@type", ())
    names = raw if isinstance(raw, list) else [raw]
    short = (_SCHEMA.sub("", name).strip() for name in names[:MAX_TYPES] if isinstance(name, str))
    return tuple(name for name in short if name and ":" not in name)


def unknown_types(graph: Graph) -> Iterator[str]:
    """Yield types that neither schema.org nor the page's contexts define. Empty if the graph has a remote context."""
    if graph.has_remote_context:
        return
    schema_types, _ = _vocabulary()
    for node in graph.nodes:
        yield from (name for name in types(node) if name not in schema_types and name not in graph.terms)


def unknown_properties(graph: Graph) -> Iterator[str]:
    """Yield properties that schema.org does not define, such as `Product.prize`.

    Terms of other vocabularies (`gs1:…`) and of the page's contexts are not judged. Empty if the graph has a remote
    context.
    """
    if graph.has_remote_context:
        return
    for node in graph.nodes:
        kind = "/".join(types(node)[:3]) or "a node"
        yield from (f"{kind}.{name}" for name in _unknown_names(node) if name not in graph.terms)


def _unknown_names(node: Node) -> Iterator[str]:
    _, schema_properties = _vocabulary()
    for name in node:
        short = _SCHEMA.sub("", name)
        # schema.org actions mark properties that users fill in with the suffixes -input and -output.
        short = short.removesuffix("-input").removesuffix("-output")
        if short and not short.startswith("@") and ":" not in short and short not in schema_properties:
            yield name


@functools.cache
def _vocabulary() -> tuple[frozenset[str], frozenset[str]]:
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    return frozenset(raw["types"]), frozenset(raw["properties"]) | {"query"}
