"""Structured data: what the page tells search engines in JSON-LD."""

from __future__ import annotations

from scans.engine.catalogue import Category, check
from scans.engine.evidence import Document, Page
from scans.engine.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.masking import excerpt
from scans.engine.rich_results import has_rich_type, missing
from scans.engine.structured_data import blocks, graph, types, unknown_properties, unknown_types
from scans.engine.wording import counted, some

CATEGORY = Category("Structured data", weight=5)

EVIDENCE_ITEMS = 20
NONE = NotApplicable("The page has no JSON-LD.")


@check(
    "jsonld-syntax",
    name="JSON-LD can be read",
    severity=HIGH,
    fix="Write strict JSON: double quotes, no comments, no trailing commas, line ends in texts as \\n.",
    references=("RFC 8259", "JSON-LD 1.1, section 7"),
)
def jsonld_syntax(page: Page, document: Document) -> Finding:
    """Search engines throw a whole block away for one wrong comma."""
    found = blocks(document)
    if not found:
        return NONE
    faults = [f"block {number}: {block.fault}" for number, block in enumerate(found, 1) if block.fault]
    if faults:
        return Fail(
            f"{counted(len(faults), 'block')} of {len(found)} can't be read: {some(faults)}.",
            evidence=tuple({"fault": fault} for fault in faults[:EVIDENCE_ITEMS]),
        )
    return Pass(f"{counted(len(found), 'block')} of JSON-LD, all strict JSON.")


@check(
    "jsonld-vocabulary",
    name="JSON-LD uses words of schema.org",
    severity=MEDIUM,
    fix="Look the name up at schema.org; capitals count.",
    references=("schema.org",),
)
def jsonld_vocabulary(page: Page, document: Document) -> Finding:
    """What is not in the vocabulary is not understood."""
    found = graph(document)
    if not found.nodes:
        return NONE
    kinds = dict.fromkeys(name for node in found.nodes for name in unknown_types(node))
    properties = dict.fromkeys(
        f"{'/'.join(types(node)) or 'a node'}.{name}" for node in found.nodes for name in unknown_properties(node)
    )
    words = [f"the type {excerpt(name, 60)}" for name in kinds] + [excerpt(name, 80) for name in properties]
    if words:
        return Warn(
            f"schema.org does not know {some(words)}.",
            evidence=tuple({"name": word} for word in words[:EVIDENCE_ITEMS]),
        )
    return Pass(f"{counted(len(found.nodes), 'node')}, all in words of schema.org.")


@check(
    "rich-result-required",
    name="Rich results complete",
    severity=MEDIUM,
    fix="Add what is missing, or leave the type out.",
    references=("Google Search Central: structured data",),
)
def rich_result_required(page: Page, document: Document) -> Finding:
    """Without what is required the page is shown as a plain link."""
    found = graph(document)
    if not has_rich_type(found):
        return NotApplicable("No structured data of a type that becomes a rich result.")
    gaps = [f"{excerpt(kind, 40)} lacks {name}" for kind, name in missing(found)]
    if gaps:
        return Warn(f"{some(gaps)}.", evidence=tuple({"missing": gap} for gap in gaps[:EVIDENCE_ITEMS]))
    return Pass("Everything that rich results require is there.")
