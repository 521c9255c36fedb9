"""Properties that Google requires for rich results.

Google Search Central, "structured data" by feature.

Properties that the documentation only recommends are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from website_scan.seo.structured_data import Node, SchemaOrgGraph, schema_org_types, type_parents

# Of a tuple of required properties, one is enough.
Required = tuple[str | tuple[str, ...], ...]

REQUIRED: Mapping[str, Required] = {
    "AggregateRating": ("ratingValue", ("ratingCount", "reviewCount"), "itemReviewed"),
    "BreadcrumbList": ("itemListElement",),
    "ClaimReview": ("claimReviewed", "reviewRating", "url"),
    "Course": ("name", "description"),
    "Dataset": ("name", "description"),
    "DiscussionForumPosting": ("author", "datePublished", ("text", "image", "video", "sharedContent")),
    "Event": ("name", "startDate", "location"),
    "FAQPage": ("mainEntity",),
    "JobPosting": ("title", "description", "datePosted", "hiringOrganization", ("jobLocation", "jobLocationType")),
    "LocalBusiness": ("name", "address"),
    "Product": ("name", ("offers", "review", "aggregateRating")),
    "ProductGroup": ("name",),
    "ProfilePage": ("mainEntity",),
    "QAPage": ("mainEntity",),
    "Recipe": ("name", "image"),
    "Review": ("author", "reviewRating", "itemReviewed"),
    "SoftwareApplication": ("name", "offers", ("aggregateRating", "review")),
    "VideoObject": ("name", "thumbnailUrl", "uploadDate"),
}
# Types that do not inherit the required properties, because Google treats them differently from their parents, or
# because they are parts of other types.
INDEPENDENT_TYPES = frozenset(
    {
        *("CourseInstance", "DeliveryEvent", "EventSeries", "PublicationEvent", "UserInteraction"),
        *("DataFeed", "Drug", "ProductCollection", "ProductModel", "Vehicle"),
        *("MediaReview", "Recommendation"),
        *("VacationRental", "VideoGame"),
    }
)
# Types whose pages may show reviews and ratings (Google Search Central, "review snippet").
REVIEWED_TYPES = frozenset(
    {
        *("Book", "Course", "CreativeWorkSeason", "CreativeWorkSeries", "Episode", "Event", "Game", "HowTo"),
        *("LocalBusiness", "MediaObject", "Movie", "MusicPlaylist", "MusicRecording", "Organization", "Product"),
        *("Recipe", "SoftwareApplication"),
    }
)


def missing_properties(graph: SchemaOrgGraph) -> list[tuple[str, str]]:
    """Return pairs of a type and a missing property.

    An example is ("Product", "offers, review or aggregateRating").
    """
    missing: list[tuple[str, str]] = []
    nested = _nested_ids(graph)
    for top in graph.top_nodes:
        id = top.get("@id")
        node = graph.node_by_id.get(id, top) if isinstance(id, str) else top
        is_nested = isinstance(id, str) and id in nested
        judged: set[str] = set()
        for name in schema_org_types(node):
            kind = required_type(name)
            if kind is not None and kind not in judged:
                judged.add(kind)
                missing += [(name, path) for path in _missing_properties_of(node, kind, graph, is_nested=is_nested)]
        if (reviewed := _reviewed_type(node)) is not None:
            missing += [(reviewed, path) for path in _missing_in_reviews(node, graph)]
    return list(dict.fromkeys(missing))


def has_rich_result_type(graph: SchemaOrgGraph) -> bool:
    """Return True if a node can become a rich result by its type."""
    return any(any(required_type(name) for name in schema_org_types(top)) or _is_rated(top) for top in graph.top_nodes)


def required_type(name: str) -> str | None:
    """Return the nearest type with required properties.

    This is the type itself or an ancestor, or None.
    """
    return _nearest(name, REQUIRED, INDEPENDENT_TYPES)


def _nearest(name: str, wanted: Container[str], ends: frozenset[str] = frozenset()) -> str | None:
    """Return the type or its nearest ancestor in `wanted`, or None.

    The ancestors of types in `ends` are not searched.
    """
    level, seen = [name], {name}
    while level:
        if (found := next((kind for kind in level if kind in wanted), None)) is not None:
            return found
        level = [parent for kind in level if kind not in ends for parent in type_parents(kind) if parent not in seen]
        seen.update(level)
    return None


def _may_be_reviewed(name: str) -> bool:
    return _nearest(name, REVIEWED_TYPES) is not None


def _is_rated(node: Node) -> bool:
    has_ratings = any(_has_property_value(node.get(name)) for name in ("review", "aggregateRating"))
    return has_ratings and _reviewed_type(node) is not None


def _reviewed_type(node: Node) -> str | None:
    return next((name for name in schema_org_types(node) if _may_be_reviewed(name)), None)


def _nested_ids(graph: SchemaOrgGraph) -> set[str]:
    """Return the IDs of reviews and ratings that another node refers to.

    That node is their subject.
    """
    return {
        member["@id"]
        for node in graph.nodes
        for name in ("review", "reviews", "aggregateRating")
        for member in (node[name] if isinstance(node.get(name), list) else [node.get(name)])
        if isinstance(member, Mapping) and isinstance(member.get("@id"), str)
    }


def _missing_properties_of(node: Node, kind: str, graph: SchemaOrgGraph, *, is_nested: bool = False) -> Iterator[str]:
    """Yield a node's missing properties.

    A nested review or rating needs no `itemReviewed`.
    """
    for entry in REQUIRED[kind]:
        names = (entry,) if isinstance(entry, str) else entry
        if is_nested and names == ("itemReviewed",):
            continue
        if not any(_has_property_value(node.get(name)) for name in names):
            yield " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    if (find_missing_inside := FIND_MISSING_INSIDE_BY_TYPE.get(kind)) is not None:
        yield from find_missing_inside(node, graph)


def _missing_in_reviews(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    """Yield the missing properties of a node's nested reviews and ratings."""
    for name, kind in (("aggregateRating", "AggregateRating"), ("review", "Review")):
        for inner in _resolve_nodes(node.get(name), graph):
            yield from (f"{name}.{path}" for path in _missing_properties_of(inner, kind, graph, is_nested=True))


def _missing_in_breadcrumbs(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    items = _resolve_nodes(node.get("itemListElement"), graph)
    # The last breadcrumb is the page itself and needs no `item`.
    last = max(items, key=lambda item: _parse_number(item.get("position")), default=None)
    for item in items:
        inner = next(iter(_resolve_nodes(item.get("item"), graph)), {})
        if not _has_property_value(item.get("position")):
            yield "itemListElement.position"
        if not _has_property_value(item.get("name")) and not _has_property_value(inner.get("name")):
            yield "itemListElement.name"
        if item is not last and not _has_property_value(item.get("item")):
            yield "itemListElement.item"


def _parse_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf


def _missing_in_questions(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    for question in _resolve_nodes(node.get("mainEntity"), graph):
        if not _has_property_value(question.get("name")):
            yield "mainEntity.name"
        answers = _resolve_nodes(question.get("acceptedAnswer"), graph) + _resolve_nodes(
            question.get("suggestedAnswer"), graph
        )
        if not answers:
            yield "mainEntity.acceptedAnswer"
        elif not all(_has_property_value(answer.get("text")) for answer in answers):
            yield "mainEntity.acceptedAnswer.text"


def _missing_in_offers(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    for offer in _resolve_nodes(node.get("offers"), graph):
        is_aggregate_offer = "AggregateOffer" in schema_org_types(offer)
        prices = ("lowPrice", "price") if is_aggregate_offer else ("price", "priceSpecification")
        if schema_org_types(offer) and not any(_has_property_value(offer.get(name)) for name in prices):
            yield f"offers.{prices[0]}"
        elif (
            schema_org_types(offer)
            and not _has_property_value(offer.get("priceSpecification"))
            and not _has_property_value(offer.get("priceCurrency"))
        ):
            yield "offers.priceCurrency"


def _missing_in_review(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    yield from _missing_names(node, "author", graph)
    yield from _missing_names(node, "itemReviewed", graph)
    for rating in _resolve_nodes(node.get("reviewRating"), graph):
        if not _has_property_value(rating.get("ratingValue")):
            yield "reviewRating.ratingValue"


def _missing_in_aggregate_rating(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    yield from _missing_names(node, "itemReviewed", graph)


def _missing_names(node: Node, name: str, graph: SchemaOrgGraph) -> Iterator[str]:
    for inner in _resolve_nodes(node.get(name), graph):
        if not _has_property_value(inner.get("name")):
            yield f"{name}.name"


def _missing_in_event(node: Node, graph: SchemaOrgGraph) -> Iterator[str]:
    for location in _resolve_nodes(node.get("location"), graph):
        types = schema_org_types(location)
        is_place = bool(types) and not {"VirtualLocation", "PostalAddress"} & set(types)
        if is_place and not _has_property_value(location.get("address")):
            yield "location.address"


FIND_MISSING_INSIDE_BY_TYPE: Mapping[str, Callable[[Node, SchemaOrgGraph], Iterator[str]]] = {
    "AggregateRating": _missing_in_aggregate_rating,
    "BreadcrumbList": _missing_in_breadcrumbs,
    "Event": _missing_in_event,
    "FAQPage": _missing_in_questions,
    "Product": _missing_in_offers,
    "QAPage": _missing_in_questions,
    "Review": _missing_in_review,
}


def _resolve_nodes(value: Any, graph: SchemaOrgGraph) -> list[Node]:
    if isinstance(value, Mapping) and isinstance(value.get("@list"), list):
        value = value["@list"]
    values = value if isinstance(value, list) else [value]
    resolved = [graph.resolved(value) for value in values]
    # An unresolved reference, to another page or another format, cannot be judged.
    return [node for node in resolved if isinstance(node, Mapping) and set(node) != {"@id"}]


def _has_property_value(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(entry.strip() if isinstance(entry, str) else entry not in (None, {}, []) for entry in values)
