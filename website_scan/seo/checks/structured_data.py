"""Structured data checks: JSON-LD on the page."""

from __future__ import annotations

from website_scan.accessibility.wording import Wording
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import counted, excerpt, some
from website_scan.seo.rich_results import has_rich_type, missing_properties
from website_scan.seo.structured_data import JsonLd, unknown_properties, unknown_types

CATEGORY = Category("Structured data", weight=5, html=True)

MAX_NAMES = 1000
UNPARSED = Wording("JSON-LD block|blocks", "cannot be parsed")


@check(
    "jsonld-syntax",
    name="JSON-LD syntax is valid",
    found="JSON-LD syntax is invalid",
    why="One syntax error makes search engines ignore the whole block.",
    severity=HIGH,
    fix="Use strict JSON: double quotes, no comments, no trailing commas, and \\n for line breaks in strings.",
    references=("RFC 8259", "JSON-LD 1.1, section 7"),
)
def jsonld_syntax(json_ld: JsonLd) -> Finding:
    found = json_ld.blocks
    if not found:
        return NotApplicable("The page has no JSON-LD.")
    faults = [f"block {number}: {block.fault}" for number, block in enumerate(found, 1) if block.fault]
    if faults:
        return Fail(
            f"{UNPARSED.clause(len(faults), len(found))}: {some(faults)}.",
            evidence=[{"fault": fault} for fault in faults],
        )
    return Pass(f"{counted(len(found), 'JSON-LD block is', 'JSON-LD blocks are')} valid JSON.")


@check(
    "jsonld-vocabulary",
    name="JSON-LD uses the schema.org vocabulary",
    found="JSON-LD uses terms unknown to schema.org",
    why="Search engines ignore names that schema.org does not have.",
    severity=MEDIUM,
    fix='Spell names as schema.org does; they are case-sensitive: {"@type": "Product", "name": "…"}.',
    references=("schema.org",),
)
def jsonld_vocabulary(json_ld: JsonLd) -> Finding:
    found = json_ld.graph
    if not found.nodes:
        return NotApplicable("The page has no JSON-LD of schema.org that can be parsed.")
    names = (
        *(f"the type {name}" for name in dict.fromkeys(unknown_types(found))),
        *(f"the property {name}" for name in dict.fromkeys(unknown_properties(found))),
    )
    unknown = [excerpt(name, 100) for name in names[:MAX_NAMES]]
    if unknown:
        return Warn(
            f"{counted(len(unknown), 'name is', 'names are')} not in the schema.org vocabulary: {some(unknown)}.",
            evidence=[{"name": name} for name in unknown],
        )
    return Pass(f"{counted(len(found.nodes), 'node uses', 'nodes use')} the schema.org vocabulary.")


@check(
    "rich-result-required",
    name="Rich results have all required properties",
    found="Rich results lack required properties",
    why="Without all required properties, the page gets no rich result.",
    severity=MEDIUM,
    fix='Add the named properties to the JSON-LD, such as "name": "…" or "offers": {"@type": "Offer", "price": "9.90", '
    '"priceCurrency": "EUR"}, or leave the type out.',
    references=("Google Search Central: structured data",),
)
def rich_result_required(json_ld: JsonLd) -> Finding:
    if not has_rich_type(json_ld.graph):
        return NotApplicable("The page has no structured data of a type that becomes a rich result.")
    gaps = [f"{excerpt(kind, 40)} lacks {name}" for kind, name in missing_properties(json_ld.graph)]
    if gaps:
        return Warn(
            f"{some(gaps, '; ')}.",
            evidence=[{"missing": gap} for gap in gaps],
        )
    return Pass("All properties that rich results require are present.")
