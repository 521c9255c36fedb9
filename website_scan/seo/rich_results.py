"""Required properties of Google's rich results (Google Search Central, "structured data" by feature).

Properties that the documentation only recommends are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from website_scan.seo.structured_data import Graph, Node, types

# Each entry is a required property, or a tuple of properties of which one is enough.
Required = tuple[str | tuple[str, ...], ...]

REQUIRED: Mapping[str, Required] = {
    "AggregateRating": ("ratingValue", ("ratingCount", "reviewCount")),
    "BreadcrumbList": ("itemListElement",),
    "Course": ("name", "description"),
    "Dataset": ("name", "description"),
    "DiscussionForumPosting": ("author", "datePublished", ("text", "image", "video", "sharedContent")),
    "Event": ("name", "startDate", "location"),
    "FAQPage": ("mainEntity",),
    "JobPosting": ("title", "description", "datePosted", "hiringOrganization", ("jobLocation", "jobLocationType")),
    "LocalBusiness": ("name", "address"),
    "Product": ("name", ("offers", "review", "aggregateRating")),
    "ProfilePage": ("mainEntity",),
    "QAPage": ("mainEntity",),
    "Recipe": ("name", "image"),
    "Review": ("author", "reviewRating"),
    "SoftwareApplication": ("name", "offers", ("aggregateRating", "review")),
    "VideoObject": ("name", "thumbnailUrl", "uploadDate"),
}
# Subtypes with the same requirements.
ALIASES = {
    "MobileApplication": "SoftwareApplication",
    "WebApplication": "SoftwareApplication",
    "Restaurant": "LocalBusiness",
    "Store": "LocalBusiness",
    "Hotel": "LocalBusiness",
    "MusicEvent": "Event",
    "SportsEvent": "Event",
    "BusinessEvent": "Event",
    "TheaterEvent": "Event",
    "Festival": "Event",
}


def missing_properties(graph: Graph) -> list[tuple[str, str]]:
    """Return pairs of a type and a missing property, such as ("Product", "offers, review or aggregateRating")."""
    missing: list[tuple[str, str]] = []
    for top in graph.top_nodes:
        node = graph.by_id.get(top["@id"], top) if isinstance(top.get("@id"), str) else top
        for name in types(node):
            kind = ALIASES.get(name, name)
            if kind in REQUIRED:
                missing += [(name, path) for path in _missing_in(node, kind, graph)]
    return list(dict.fromkeys(missing))


def has_rich_type(graph: Graph) -> bool:
    """Return True if a node on the page has a type that can become a rich result."""
    return any(ALIASES.get(name, name) in REQUIRED for top in graph.top_nodes for name in types(top))


def _missing_in(node: Node, kind: str, graph: Graph) -> Iterator[str]:
    for entry in REQUIRED[kind]:
        names = (entry,) if isinstance(entry, str) else entry
        if not any(_has_value(node.get(name)) for name in names):
            yield " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    if (missing_inside := MISSING_INSIDE.get(kind)) is not None:
        yield from missing_inside(node, graph)
    # An AggregateRating is not searched again, because circular references would recurse without end.
    if kind != "AggregateRating":
        for rating in _resolved_nodes(node.get("aggregateRating"), graph):
            yield from (f"aggregateRating.{path}" for path in _missing_in(rating, "AggregateRating", graph))


def _missing_in_breadcrumbs(node: Node, graph: Graph) -> Iterator[str]:
    items = _resolved_nodes(node.get("itemListElement"), graph)
    # Only `position` defines the order in JSON-LD. The last breadcrumb is the page itself and needs no `item`.
    last = max(items, key=lambda item: _number(item.get("position")), default=None)
    for item in items:
        inner = next(iter(_resolved_nodes(item.get("item"), graph)), {})
        if not _has_value(item.get("position")):
            yield "itemListElement.position"
        if not _has_value(item.get("name")) and not _has_value(inner.get("name")):
            yield "itemListElement.name"
        if item is not last and not _has_value(item.get("item")):
            yield "itemListElement.item"


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


def _missing_in_questions(node: Node, graph: Graph) -> Iterator[str]:
    for question in _resolved_nodes(node.get("mainEntity"), graph):
        if not _has_value(question.get("name")):
            yield "mainEntity.name"
        answers = _resolved_nodes(question.get("acceptedAnswer"), graph) + _resolved_nodes(
            question.get("suggestedAnswer"), graph
        )
        if not answers:
            yield "mainEntity.acceptedAnswer"
        elif not all(_has_value(answer.get("text")) for answer in answers):
            yield "mainEntity.acceptedAnswer.text"


def _missing_in_offers(node: Node, graph: Graph) -> Iterator[str]:
    for offer in _resolved_nodes(node.get("offers"), graph):
        is_range = "AggregateOffer" in types(offer)
        prices = ("lowPrice", "price") if is_range else ("price", "priceSpecification")
        if types(offer) and not any(_has_value(offer.get(name)) for name in prices):
            yield f"offers.{prices[0]}"
        elif (
            types(offer)
            and not _has_value(offer.get("priceSpecification"))
            and not _has_value(offer.get("priceCurrency"))
        ):
            yield "offers.priceCurrency"


def _missing_in_rating(node: Node, graph: Graph) -> Iterator[str]:
    for rating in _resolved_nodes(node.get("reviewRating"), graph):
        if not _has_value(rating.get("ratingValue")):
            yield "reviewRating.ratingValue"


MISSING_INSIDE: Mapping[str, Callable[[Node, Graph], Iterator[str]]] = {
    "BreadcrumbList": _missing_in_breadcrumbs,
    "FAQPage": _missing_in_questions,
    "Product": _missing_in_offers,
    "QAPage": _missing_in_questions,
    "Review": _missing_in_rating,
}


def _resolved_nodes(value: Any, graph: Graph) -> list[Node]:
    if isinstance(value, Mapping) and isinstance(value.get("@list"), list):
        value = value["@list"]
    values = value if isinstance(value, list) else [value]
    resolved = [graph.resolved(value) for value in values]
    # An unresolved reference, to another page or another format, can't be judged.
    return [node for node in resolved if isinstance(node, Mapping) and set(node) != {"@id"}]


def _has_value(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(entry.strip() if isinstance(entry, str) else entry not in (None, {}, []) for entry in values)
