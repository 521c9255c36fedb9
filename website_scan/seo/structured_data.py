"""JSON-LD parser.

It compares terms with the schema.org vocabulary in `schema_org.json`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, field

from website_scan.messages import excerpt
from website_scan.page.evidence import Document
from website_scan.page.markup import attribute, live

DATA = Path(__file__).with_name("schema_org.json")
MAX_JSON_LD_BLOCKS = 50
MAX_NODES = 2_000
MAX_DEPTH = 40
MAX_REWRITTEN_ENTRIES = 200_000  # Limit of list items and properties in all JSON-LD blocks of a page.
MAX_ALIASES = 50
MAX_TYPES_PER_NODE = 20
# Aliases of JSON-LD keywords that schema.org's own context defines.
_KEYWORD_ALIASES = {"type": "@type", "id": "@id"}
_SCHEMA = re.compile(r"\A(?:https?://(?:www\.)?schema\.org/?#?|schema:)", re.IGNORECASE)

Node = Mapping[str, Any]


class JsonLdBlock(Struct, frozen=True):
    """JSON value of a `<script type="application/ld+json">`.

    It may be a syntax error with line and column instead.
    """

    value: Any = None
    fault: str = ""


class SchemaOrgGraph(Struct):
    """Schema.org nodes of the page.

    `top_nodes` are at the top level, `nodes` also include nested ones. Aliases of keywords have been replaced by the
    keywords. `terms` are names that the page's own contexts define. `has_remote_context`: a context of another site,
    which is not fetched, may define further names.
    """

    top_nodes: list[Node] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    node_by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    terms: set[str] = field(default_factory=set)
    has_remote_context: bool = False

    def resolved(self, value: Any) -> Any:
        """Resolve a reference (`{"@id": …}`) to its node.

        Any other value is unchanged.
        """
        if isinstance(value, Mapping) and len(value) == 1 and isinstance(value.get("@id"), str):
            return self.node_by_id.get(value["@id"], value)
        return value


class JsonLd(Struct, frozen=True):
    """First fifty JSON-LD blocks of the page.

    Empty blocks are left out. The graph has schema.org nodes.
    """

    blocks: tuple[JsonLdBlock, ...] = ()
    graph: SchemaOrgGraph = field(default_factory=SchemaOrgGraph)


def read_json_ld(document: Document) -> JsonLd:
    """Read the JSON-LD blocks of a page.

    A block with a syntax error has a `fault`.
    """
    blocks = tuple(_read_blocks(document))
    return JsonLd(blocks, _build_graph(blocks))


def _read_blocks(document: Document) -> list[JsonLdBlock]:
    blocks: list[JsonLdBlock] = []
    for node in live(document, "script[type]"):
        if (attribute(node, "type") or "").partition(";")[0].strip().lower() == "application/ld+json":
            text = (node.text() or "").lstrip("\ufeff")
            if text.strip():
                blocks.append(_parse_block(text))
        if len(blocks) == MAX_JSON_LD_BLOCKS:
            break
    return blocks


def _parse_block(text: str) -> JsonLdBlock:
    try:
        # Integers are parsed as floats, because Python refuses very long integers, which JSON allows.
        return JsonLdBlock(json.loads(text, parse_int=float, parse_constant=_refuse_constant))
    except json.JSONDecodeError as error:
        line = text.split("\n")[error.lineno - 1]
        near = excerpt(line[max(0, error.colno - 21) : error.colno + 20], 60)
        beside = f", near “{near}”" if near else ""
        return JsonLdBlock(
            fault=f"{error.msg.lower().removesuffix(' at')} in line {error.lineno}, column {error.colno}{beside}"
        )
    except RecursionError:
        return JsonLdBlock(fault="it is nested too deeply")
    except ValueError as error:
        return JsonLdBlock(fault=str(error))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _build_graph(blocks: tuple[JsonLdBlock, ...]) -> SchemaOrgGraph:
    graph = SchemaOrgGraph()
    contexts = _AliasResolver(graph)
    for block in blocks:
        for value in block.value if isinstance(block.value, list) else [block.value]:
            if isinstance(value, Mapping) and _is_schema_org_context(value.get("@context")):
                node = contexts.replace_aliases(value, {})
                members = node.get("@graph")
                if isinstance(members, list | Mapping):
                    top_nodes = members if isinstance(members, list) else [members]
                else:
                    top_nodes = [node]
                for top in top_nodes:
                    if isinstance(top, Mapping):
                        graph.top_nodes.append(top)
                        collect_nodes(top, graph, 0)
    return graph


def _is_schema_org_context(context: Any) -> bool:
    parts = context if isinstance(context, list) else [context]
    names = (part.get("@vocab") if isinstance(part, Mapping) else part for part in parts)
    return any(isinstance(name, str) and _SCHEMA.fullmatch(name.strip()) for name in names)


class _AliasResolver:
    """Resolver of JSON-LD contexts.

    It replaces aliases with keywords and records other terms in `graph`.

    A context applies to its node and the nodes within (JSON-LD 1.1, sections 3.1 and 4.1.7).
    """

    def __init__(self, graph: SchemaOrgGraph) -> None:
        self._graph = graph
        self._remaining = MAX_REWRITTEN_ENTRIES

    def replace_aliases(self, value: Any, aliases: Mapping[str, str], depth: int = 0) -> Any:
        """Return a copy of a JSON-LD value with keywords instead of their aliases."""
        if not isinstance(value, list | dict) or depth > 2 * MAX_DEPTH or len(value) > self._remaining:
            return value
        self._remaining -= len(value)
        if isinstance(value, list):
            return [self.replace_aliases(entry, aliases, depth + 1) for entry in value]
        context = value.get("@context")
        if context is not None:
            aliases = self._read_aliases(context, aliases)
        node = {}
        for name, inner in value.items():
            keyword = aliases.get(name, name)
            if keyword == name or keyword not in value:
                node[keyword] = inner if inner is context else self.replace_aliases(inner, aliases, depth + 1)
        return node

    def _read_aliases(self, context: Any, inherited: Mapping[str, str]) -> Mapping[str, str]:
        """Return the keyword aliases that apply within a context.

        A term that is redefined as no alias maps to itself.
        """
        aliases = dict(inherited)
        for part in context if isinstance(context, list) else [context]:
            if isinstance(part, str) and _SCHEMA.fullmatch(part.strip()):
                aliases |= _KEYWORD_ALIASES
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


def collect_nodes(node: Node, graph: SchemaOrgGraph, depth: int) -> None:
    """Add a node and its nested nodes to the graph.

    `MAX_NODES` and `MAX_DEPTH` limit them.
    """
    if depth > MAX_DEPTH or len(graph.nodes) >= MAX_NODES:
        return
    graph.nodes.append(node)
    if isinstance(name := node.get("@id"), str) and len(node) > 1:
        graph.node_by_id.setdefault(name, {}).update(node)
    for value in node.values():
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, Mapping):
                collect_nodes(member, graph, depth + 1)


def remove_schema_org_prefix(name: str) -> str:
    """Return a name without the address of schema.org.

    For example, `https://schema.org/Product` becomes `Product`.
    """
    return _SCHEMA.sub("", name)


def schema_org_types(node: Node) -> tuple[str, ...]:
    """Return the schema.org types of a node, such as `Product`.

    Types of other vocabularies are left out.
    """
    raw = node.get("@type", ())
    names = raw if isinstance(raw, list) else [raw]
    short = (remove_schema_org_prefix(name).strip() for name in names[:MAX_TYPES_PER_NODE] if isinstance(name, str))
    return tuple(name for name in short if name and ":" not in name)


def type_parents(name: str) -> Sequence[str]:
    """Return the direct supertypes of a schema.org type.

    For example, `Event` is the supertype of `Festival`.
    """
    _, _, parents = _load_vocabulary()
    return parents.get(name, ())


def unknown_types(graph: SchemaOrgGraph) -> Iterator[str]:
    """Yield types that neither schema.org nor the page defines.

    Yields nothing if the graph has a remote context.
    """
    if graph.has_remote_context:
        return
    schema_types, _, _ = _load_vocabulary()
    for node in graph.nodes:
        yield from (name for name in schema_org_types(node) if name not in schema_types and name not in graph.terms)


def unknown_properties(graph: SchemaOrgGraph) -> Iterator[str]:
    """Yield properties that schema.org does not define, such as `Product.prize`.

    Terms of other vocabularies (`gs1:…`) and of the page's contexts are not judged. Empty if the graph has a remote
    context.
    """
    if graph.has_remote_context:
        return
    for node in graph.nodes:
        kind = "/".join(schema_org_types(node)[:3]) or "a node"
        yield from (f"{kind}.{name}" for name in _unknown_property_names(node) if name not in graph.terms)


def _unknown_property_names(node: Node) -> Iterator[str]:
    _, schema_properties, _ = _load_vocabulary()
    for name in node:
        short = remove_schema_org_prefix(name)
        # Schema.org actions mark properties with the suffixes -input and -output.
        short = short.removesuffix("-input").removesuffix("-output")
        if short and not short.startswith("@") and ":" not in short and short not in schema_properties:
            yield name


@functools.cache
def _load_vocabulary() -> tuple[frozenset[str], frozenset[str], Mapping[str, Sequence[str]]]:
    """Return the types and properties of schema.org.

    The types come with their direct parents.
    """
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    return frozenset(raw["types"]), frozenset(raw["properties"]) | {"query"}, raw["parents"]
