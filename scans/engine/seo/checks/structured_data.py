"""Structured data: what the page tells search engines in JSON-LD."""

from __future__ import annotations

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.seo.rich_results import has_rich_type, missing
from scans.engine.seo.structured_data import blocks, graph, unknown_properties, unknown_types

CATEGORY = Category("Structured data", weight=5)

EVIDENCE_ITEMS = 20
MAX_WORDS = 1000
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
    fix='Write the name as schema.org does, where capitals count: {"@type": "Product", "name": "…"}.',
    references=("schema.org",),
)
def jsonld_vocabulary(page: Page, document: Document) -> Finding:
    """What is not in the vocabulary is not understood."""
    found = graph(document)
    if not found.nodes:
        return NotApplicable("The page has no JSON-LD of schema.org that can be read.")
    names = (
        *(f"the type {name}" for name in dict.fromkeys(unknown_types(found))),
        *(f"the property {name}" for name in dict.fromkeys(unknown_properties(found))),
    )
    words = [excerpt(name, 100) for name in names[:MAX_WORDS]]
    if words:
        return Warn(
            f"schema.org does not know {some(words)}; search engines pass over what they do not know.",
            evidence=tuple({"name": word} for word in words[:EVIDENCE_ITEMS]),
        )
    return Pass(f"{counted(len(found.nodes), 'node')}, all in words of schema.org.")


@check(
    "rich-result-required",
    name="Rich results complete",
    severity=MEDIUM,
    fix='Add what is named to the JSON-LD, such as "name": "…" or "offers": {"@type": "Offer", "price": "9.90", '
    '"priceCurrency": "EUR"}, or leave the type out.',
    references=("Google Search Central: structured data",),
)
def rich_result_required(page: Page, document: Document) -> Finding:
    """Without what is required the page is shown as a plain link."""
    found = graph(document)
    if not has_rich_type(found):
        return NotApplicable("No structured data of a type that becomes a rich result.")
    gaps = [f"{excerpt(kind, 40)} lacks {name}" for kind, name in missing(found)]
    if gaps:
        return Warn(
            f"{some(gaps)}, so search engines show a plain link.",
            evidence=tuple({"missing": gap} for gap in gaps[:EVIDENCE_ITEMS]),
        )
    return Pass("Everything that rich results require is there.")
