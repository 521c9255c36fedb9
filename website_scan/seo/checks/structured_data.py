"""Checks of structured data."""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, MEDIUM, NotApplicable
from website_scan.messages import excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn
from website_scan.places import Column, Identity, Place, as_prose, as_written
from website_scan.seo.microdata import Microdata
from website_scan.seo.rich_results import has_rich_result_type, missing_properties
from website_scan.seo.structured_data import JsonLd, unknown_properties, unknown_types
from website_scan.values import Count, Share

CATEGORY = Category("Structured data", weight=5, html=True)

MAX_REPORTED_NAMES = 1000


class BrokenBlock(Place, frozen=True):
    """JSON-LD block that cannot be parsed.

    `fault` contains its number, and line and column of the syntax error.
    """

    kind: ClassVar[str] = "json-ld-block"

    fault: Annotated[str, Identity(as_prose), Column("What is wrong")]


class UnknownName(Place, frozen=True):
    """Type or property that schema.org does not define."""

    kind: ClassVar[str] = "schema-org-name"

    name: Annotated[str, Identity(as_written), Column("Name")]


class MissingProperty(Place, frozen=True):
    """Property that a rich result requires and the page lacks.

    An example is the name of a Product.
    """

    kind: ClassVar[str] = "missing-property"

    missing: Annotated[str, Identity(as_written), Column("Missing")]


@check(
    "jsonld-syntax",
    name="JSON-LD syntax is valid",
    outcomes={"invalid": "JSON-LD syntax is invalid"},
    why="One syntax error makes search engines ignore the whole block.",
    consequence="Search engines may ignore extra details that you provide, such as prices or opening hours.",
    severity=HIGH,
    fix="Use strict JSON: double quotes, no comments, no trailing commas, and `\\n` for line breaks in strings.",
    references=("RFC 8259", "JSON-LD 1.1, section 7"),
)
def jsonld_syntax(json_ld: JsonLd) -> Verdict:
    blocks = json_ld.blocks
    if not blocks:
        return NotApplicable("The page has no JSON-LD.")
    broken = [BrokenBlock(f"block {number}: {block.fault}") for number, block in enumerate(blocks, 1) if block.fault]
    if broken:
        return Fail(
            "invalid",
            "{blocks} cannot be parsed.",
            blocks=Share(len(broken), len(blocks), "JSON-LD block"),
            places=broken,
        )
    return Pass("{blocks} {blocks:is|are} valid JSON.", blocks=Count(len(blocks), "JSON-LD block"))


@check(
    "jsonld-vocabulary",
    name="JSON-LD uses the schema.org vocabulary",
    outcomes={"unknown": "JSON-LD uses terms unknown to schema.org"},
    why="Search engines ignore names that schema.org does not have.",
    severity=MEDIUM,
    fix='Spell names as schema.org does; they are case-sensitive: `{"@type": "Product", "name": "…"}`.',
    references=("schema.org",),
)
def jsonld_vocabulary(json_ld: JsonLd) -> Verdict:
    graph = json_ld.graph
    if not graph.nodes:
        return NotApplicable("The page has no JSON-LD of schema.org that can be parsed.")
    names = (
        *(f"the type {name}" for name in dict.fromkeys(unknown_types(graph))),
        *(f"the property {name}" for name in dict.fromkeys(unknown_properties(graph))),
    )
    unknown = [UnknownName(excerpt(name, 100)) for name in names[:MAX_REPORTED_NAMES]]
    if unknown:
        return Warn(
            "unknown",
            "{names} {names:is|are} not in the schema.org vocabulary.",
            names=Count(len(unknown), "name"),
            places=unknown,
        )
    return Pass("{nodes} {nodes:uses|use} the schema.org vocabulary.", nodes=Count(len(graph.nodes), "node"))


@check(
    "rich-result-required",
    name="Rich results have all required properties",
    outcomes={"incomplete": "Rich results lack required properties"},
    why="Without all required properties, the page gets no rich result.",
    severity=MEDIUM,
    fix='Add the missing properties to the JSON-LD or microdata, such as `"name": "…"` or '
    '`"offers": {"@type": "Offer", "price": "9.90", "priceCurrency": "EUR"}`, or leave the type out.',
    references=("Google Search Central: structured data",),
)
def rich_result_required(json_ld: JsonLd, microdata: Microdata) -> Verdict:
    graphs = [graph for graph in (json_ld.graph, microdata.graph) if has_rich_result_type(graph)]
    if not graphs:
        return NotApplicable("The page has no structured data of a type that becomes a rich result.")
    missing = dict.fromkeys(pair for graph in graphs for pair in missing_properties(graph))
    gaps = [MissingProperty(f"{excerpt(kind, 40)} lacks {name}") for kind, name in missing]
    if gaps:
        return Warn(
            "incomplete",
            "{properties} that rich results require {properties:is|are} missing.",
            properties=Count(len(gaps), "property", "properties"),
            places=gaps,
        )
    return Pass("All properties that rich results require are present.")
