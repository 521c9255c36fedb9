from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, message, outcome, page, verdict
from tests.website_scan.seo.cast import message_with_places
from website_scan.seo.checks import structured_data as checks
from website_scan.seo.structured_data import MAX_BLOCKS, MAX_DEPTH, JsonLd, read_json_ld

SCHEMA = "https://schema.org"


def json_ld(html: str) -> JsonLd:
    return read_json_ld(document(page(html)))


def with_blocks(*blocks: str) -> JsonLd:
    return json_ld(head("".join(f'<script type="application/ld+json">{block}</script>' for block in blocks)))


def with_nodes(*nodes: dict[str, Any]) -> JsonLd:
    return with_blocks(*(json.dumps({"@context": SCHEMA} | node) for node in nodes))


@pytest.mark.parametrize(
    ("block", "expected_text"),
    [
        ('{"@context": "https://schema.org", "@type": "Thing"}', None),
        ('\ufeff [{"a": "\\u003c/script\\u003e"}] ', None),
        ('{"a": 1e400}', None),
        ('{"a": ' + "1" * 5000 + "}", None),
        ('{"a": "x\u2028y",}', "line 1, column"),  # U+2028 is not a line end in JSON
        ('{"a": 1,}', "line 1, column"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} // note', "line 1, column 10"),
        ('{\n"a": "x\ny"}', "line 2, column 8"),  # unescaped line end in a string
        ('{\n"a": "x\ny"}', "invalid control character in line 2"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        ("{&quot;a&quot;: 1}", "line 1, column 2"),  # browsers do not decode entities in scripts
        ("//<![CDATA[\n{}\n//]]>", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_jsonld_syntax(block: str, expected_text: str | None) -> None:
    finding = checks.jsonld_syntax(with_blocks(block))
    assert outcome(finding) == ("pass" if expected_text is None else "invalid"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "fail")
    assert (expected_text or "") in message_with_places(finding)


@pytest.mark.parametrize(
    "html", ["", '<script type="application/ld+json"> </script>', '<script type="application/json">{,}</script>']
)
def test_json_ld_checks_do_not_apply_without_json_ld(html: str) -> None:
    parsed = json_ld(head(html))
    for judge in (checks.jsonld_syntax, checks.jsonld_vocabulary, checks.rich_result_required):
        assert verdict(judge(parsed)) == "n/a"


def test_json_ld_in_comment_or_template_is_ignored() -> None:
    block = '<script type="application/ld+json">{,}</script>'
    parsed = json_ld(head(f"<!-- {block} --><template>{block}</template>"))
    assert verdict(checks.jsonld_syntax(parsed)) == "n/a"


def test_json_ld_in_body_with_media_type_parameter_counts() -> None:
    parsed = json_ld(head("", '<script type="Application/LD+JSON; charset=utf-8">{,}</script>'))
    assert verdict(checks.jsonld_syntax(parsed)) == "fail"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"@type": "Product", "name": "Shoe", "gtin13": "1"}, "pass"),
        ({"@type": ["Product", "Vehicle"], "name": "Car"}, "pass"),
        ({"@type": "https://schema.org/Product", "schema:name": "Shoe"}, "pass"),
        ({"@type": "http://schema.org/Product", "http://schema.org/name": "Shoe"}, "pass"),
        ({"@type": "Product", "gs1:gtin": "1", "@id": "#a"}, "pass"),  # a term of another vocabulary
        ({"@type": "gs1:Product"}, "pass"),
        ({"@type": "SearchAction", "query-input": "required name=q", "target": "x"}, "pass"),
        ({"@graph": [{"@type": "WebPage", "name": "x"}, "odd", 7]}, "pass"),
        (
            {"@context": [SCHEMA, {"sku2": "gs1:sku"}], "@type": "Product", "sku2": "1"},
            "pass",
        ),  # the page's own term
        # schema.org's context defines type and id as aliases of the keywords. Contexts of the page may define others.
        ({"type": "Product", "id": "#a", "name": "Shoe", "offers": {"type": "Offer", "id": "#b"}}, "pass"),
        ({"type": "Produkt"}, "unknown"),
        ({"type": "Product", "Type": "x"}, "unknown"),
        ({"@context": [SCHEMA, {"kind": "@type"}], "kind": "Produkt", "name": "Shoe"}, "unknown"),
        ({"@context": [SCHEMA, {"kind": {"@id": "@type"}}], "kind": "Product", "name": "Shoe"}, "pass"),
        ({"@context": [SCHEMA, {"kind": "type"}], "kind": "Produkt"}, "unknown"),  # an alias of an alias
        ({"@context": [SCHEMA, {"type": "gs1:type"}], "type": "Produkt"}, "pass"),  # redefined, so no alias
        ({"@type": "Product", "brand": {"@context": {"kind": "@type"}, "kind": "Brnd"}}, "unknown"),
        ({"@type": "Product", "brand": {"@context": {"tag": "gs1:tag"}, "tag": "x"}}, "pass"),
        (
            {"@context": [SCHEMA, "https://w3id.org/security/v1"], "@type": "Kee", "owner": "x"},
            "pass",
        ),  # remote context
        ({"@type": "Produkt"}, "unknown"),
        ({"@type": "product"}, "unknown"),
        ({"@type": "Product", "Name": "Shoe"}, "unknown"),
        ({"@type": "Product", "offers": {"@type": "Offer", "prize": "1"}}, "unknown"),
        ({"@graph": [{"@type": "WebPage", "titel": "x"}]}, "unknown"),
    ],
)
def test_jsonld_vocabulary(node: dict[str, Any], expected: str) -> None:
    finding = checks.jsonld_vocabulary(with_nodes(node))
    assert outcome(finding) == expected, message(finding)


@pytest.mark.parametrize(
    "context", ["https://json-ld.org/contexts/person.jsonld", {"name": "http://xmlns.com/foaf/0.1/name"}, None, 7]
)
def test_json_ld_of_other_vocabularies_is_not_judged(context: object) -> None:
    block = json.dumps({"@context": context, "@type": "Whatever", "naem": "x"})
    assert verdict(checks.jsonld_vocabulary(with_blocks(block))) == "n/a"


@pytest.mark.parametrize(
    "context",
    [
        "http://schema.org",
        "https://schema.org/",
        "https://www.schema.org",
        {"@vocab": "https://schema.org/"},
        [SCHEMA, {}],
    ],
)
def test_every_spelling_of_schema_org_context_counts(context: object) -> None:
    block = json.dumps({"@context": context, "@type": "Whatever"})
    assert outcome(checks.jsonld_vocabulary(with_blocks(block))) == "unknown"


def test_type_and_id_are_not_aliases_with_vocab_context() -> None:
    block = json.dumps({"@context": {"@vocab": f"{SCHEMA}/"}, "type": "Product"})
    assert "the property a node.type" in message_with_places(checks.jsonld_vocabulary(with_blocks(block)))


def test_aliases_of_type_id_and_graph_are_resolved() -> None:
    context = [SCHEMA, {"nodes": "@graph"}]
    nodes = [
        {"type": "Product", "name": "Shoe", "offers": {"id": "#offer"}},
        {"id": "#offer", "type": "Offer", "price": "9.90"},
    ]
    block = json.dumps({"@context": context, "nodes": nodes})
    assert "Product lacks offers.priceCurrency" in message_with_places(checks.rich_result_required(with_blocks(block)))


def test_keyword_wins_over_its_alias() -> None:
    parsed = with_nodes({"@type": "Product", "type": "Produkt", "name": "Shoe"})
    assert verdict(checks.jsonld_vocabulary(parsed)) == "pass"


OFFER = {"@type": "Offer", "price": "9.90", "priceCurrency": "EUR"}
CRUMBS = [
    {"@type": "ListItem", "position": 1, "name": "Shop", "item": "https://site.example.com/shop"},
    {"@type": "ListItem", "position": 2, "name": "Shoes"},
]
QUESTION = {"@type": "Question", "name": "Why?", "acceptedAnswer": {"@type": "Answer", "text": "Because."}}


@pytest.mark.parametrize(
    ("node", "expected_text"),
    [
        ({"@type": "Product", "name": "Shoe", "offers": OFFER}, None),
        ({"@type": "Product", "name": "Shoe", "offers": [OFFER, {"@id": "https://elsewhere/#offer"}]}, None),
        (
            {
                "@type": "Product",
                "name": "Shoe",
                "offers": {"@type": "AggregateOffer", "lowPrice": 0, "priceCurrency": "EUR"},
            },
            None,
        ),
        ({"@type": "Product", "name": "Shoe"}, "Product lacks offers, review or aggregateRating"),
        ({"@type": "Product", "name": " ", "offers": OFFER}, "Product lacks name"),
        ({"@type": "Product", "name": "Shoe", "offers": {"@type": "Offer", "price": "1"}}, "offers.priceCurrency"),
        ({"@type": "Product", "name": "Shoe", "offers": {"@type": "Offer"}}, "offers.price"),
        (
            {"@type": "Product", "name": "Shoe", "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4}},
            "ratingCount or reviewCount",
        ),
        ({"@type": "BreadcrumbList", "itemListElement": CRUMBS}, None),
        ({"@type": "BreadcrumbList", "itemListElement": [CRUMBS[1], CRUMBS[0]]}, None),  # `position` gives the order
        ({"@type": "BreadcrumbList", "itemListElement": {"@list": CRUMBS}}, None),
        (
            {"@type": "BreadcrumbList", "itemListElement": [{"position": 1, "name": "Shop"}, CRUMBS[1]]},
            "itemListElement.item",
        ),
        ({"@type": "BreadcrumbList", "itemListElement": [{"name": "Shop"}]}, "itemListElement.position"),
        ({"@type": "BreadcrumbList", "itemListElement": [{"position": 1}]}, "itemListElement.name"),
        ({"@type": "FAQPage", "mainEntity": [QUESTION | {"name": ""}]}, "mainEntity.name"),
        (
            {"@type": "FAQPage", "mainEntity": [QUESTION | {"acceptedAnswer": {"@type": "Answer"}}]},
            "mainEntity.acceptedAnswer.text",
        ),
        (
            {
                "@type": "BreadcrumbList",
                "itemListElement": [{"@type": "ListItem", "position": 1, "item": {"@id": "/x", "name": "X"}}],
            },
            None,
        ),
        ({"@type": "BreadcrumbList"}, "itemListElement"),
        ({"@type": "FAQPage", "mainEntity": [QUESTION]}, None),
        ({"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why?"}]}, "acceptedAnswer"),
        ({"@type": "FAQPage", "mainEntity": []}, "mainEntity"),
        ({"@type": "Restaurant", "name": "Luigi", "address": "Main Street 1"}, None),
        ({"@type": "Restaurant", "name": "Luigi"}, "Restaurant lacks address"),
        ({"@type": "Event", "name": "Concert", "startDate": "2027-01-01", "location": {"@type": "Place"}}, None),
        ({"@type": "Event", "name": "Concert"}, "startDate"),
        ({"@type": "Recipe", "name": "Soup"}, "Recipe lacks image"),
        ({"@type": "VideoObject", "name": "A", "thumbnailUrl": ["https://a/b.jpg"], "uploadDate": "2026-01-01"}, None),
        ({"@type": "Review", "author": "A", "reviewRating": {"@type": "Rating"}}, "reviewRating.ratingValue"),
    ],
)
def test_rich_result_required(node: dict[str, Any], expected_text: str | None) -> None:
    finding = checks.rich_result_required(with_nodes(node))
    assert outcome(finding) == ("pass" if expected_text is None else "incomplete"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "warn")
    assert (expected_text or "") in message_with_places(finding)


@pytest.mark.parametrize(
    "node",
    [
        {"@type": "WebSite", "name": "Shop"},
        {"@type": "Article", "headline": "News"},  # articles have no required properties
        {"@type": "WebPage", "isPartOf": {"@type": "Product"}},  # a product that is only mentioned
        {"@type": "ItemList", "itemListElement": [{"@type": "Product", "name": "Shoe"}]},
    ],
)
def test_types_without_rich_result_are_not_judged(node: dict[str, Any]) -> None:
    assert verdict(checks.rich_result_required(with_nodes(node))) == "n/a"


@pytest.mark.parametrize(
    "block",
    [
        # Circular references.
        '{"@graph": [{"@type": "Product", "name": "x", "aggregateRating": {"@id": "#r"}},'
        ' {"@id": "#r", "ratingValue": 1, "aggregateRating": {"@id": "#r"}}]}',
        '{"@context": ["https://schema.org", %s], "@type": "Product"}' % ("[" * 900 + "]" * 900),
        '{"@type": "Product", "name": %s}' % ("[" * 900 + "]" * 900),
        '{"@type": "Product", "@id": %s, "name": "x"}' % ("[" * 900 + "]" * 900),
        json.dumps(
            {"@type": [f"T{number}" for number in range(20_000)]} | {f"p{number}": 1 for number in range(20_000)}
        ),
        json.dumps({"@graph": [{"@id": "#a"} | {f"k{i}_{j}": 1 for j in range(50)} for i in range(2000)]}),
    ],
)
def test_json_ld_made_to_be_slow_is_judged_in_five_seconds(block: str) -> None:
    parsed = with_blocks(block.replace("{", f'{{"@context": "{SCHEMA}", ', 1))
    started = time.process_time()
    for judge in (checks.jsonld_vocabulary, checks.rich_result_required):
        assert verdict(judge(parsed)) in ("pass", "warn", "n/a")
    assert time.process_time() - started < 5


def test_number_of_blocks_and_depth_are_limited() -> None:
    assert len(with_blocks(*["{}"] * (MAX_BLOCKS + 10)).blocks) == MAX_BLOCKS
    deep: dict[str, Any] = {"@type": "Nonsense"}
    for _ in range(MAX_DEPTH + 1):
        deep = {"@type": "Thing", "subjectOf": deep}
    assert verdict(checks.jsonld_vocabulary(with_nodes(deep))) == "pass"
    assert verdict(checks.jsonld_vocabulary(with_nodes(deep["subjectOf"]))) == "warn"


def test_node_parts_with_same_id_in_several_blocks_are_merged() -> None:
    first = {"@type": "Product", "@id": "#shoe", "name": "Shoe"}
    assert (
        verdict(
            checks.rich_result_required(
                with_nodes(first, {"@id": "#shoe", "offers": {"@id": "#offer"}}, {"@id": "#offer"} | OFFER)
            )
        )
        == "pass"
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["Product", "FAQPage", SCHEMA]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["@type", "@id", "@graph", "@context", "name", "offers", "mainEntity", "itemListElement", "item"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_json_ld_checks_accept_any_json(value: object) -> None:
    parsed = with_blocks(json.dumps({"@context": SCHEMA, "@graph": value}))
    for judge in (checks.jsonld_syntax, checks.jsonld_vocabulary, checks.rich_result_required):
        assert verdict(judge(parsed)) in ("pass", "warn", "fail", "n/a")
