from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import document, head, message, outcome, page, verdict
from tests.website_scan.seo.cast import message_with_places
from website_scan.outcomes import Verdict
from website_scan.seo.checks import structured_data as checks
from website_scan.seo.microdata import Microdata, read_microdata
from website_scan.seo.structured_data import MAX_DEPTH, MAX_JSON_LD_BLOCKS, JsonLd, read_json_ld

SCHEMA = "https://schema.org"


def json_ld(html: str) -> JsonLd:
    return read_json_ld(document(page(html)))


def page_with_blocks(*blocks: str) -> JsonLd:
    return json_ld(head("".join(f'<script type="application/ld+json">{block}</script>' for block in blocks)))


def page_with_nodes(*nodes: dict[str, Any]) -> JsonLd:
    return page_with_blocks(*(json.dumps({"@context": SCHEMA} | node) for node in nodes))


def rich_result_required(parsed: JsonLd) -> Verdict:
    return checks.rich_result_required(parsed, Microdata())


@pytest.mark.parametrize(
    ("block", "expected_text"),
    [
        ('{"@context": "https://schema.org", "@type": "Thing"}', None),
        ('\ufeff [{"a": "\\u003c/script\\u003e"}] ', None),
        ('{"a": 1e400}', None),
        ('{"a": ' + "1" * 5000 + "}", None),
        ('{"a": "x\u2028y",}', "line 1, column"),  # In JSON, U+2028 is not a line end.
        ('{"a": 1,}', "line 1, column"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} // note', "line 1, column 10"),
        ('{\n"a": "x\ny"}', "line 2, column 8"),  # The JSON string contains an unescaped line end.
        ('{\n"a": "x\ny"}', "invalid control character in line 2"),
        ('{"a": NaN}', "NaN is not valid JSON"),
        ("{&quot;a&quot;: 1}", "line 1, column 2"),  # Browsers do not decode entities in scripts.
        ("//<![CDATA[\n{}\n//]]>", "line 1, column 1"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_jsonld_syntax_check_verdict(block: str, expected_text: str | None) -> None:
    finding = checks.jsonld_syntax(page_with_blocks(block))
    assert outcome(finding) == ("pass" if expected_text is None else "invalid"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "fail")
    assert (expected_text or "") in message_with_places(finding)


@pytest.mark.parametrize(
    "html", ["", '<script type="application/ld+json"> </script>', '<script type="application/json">{,}</script>']
)
def test_json_ld_checks_skip_other_pages(html: str) -> None:
    parsed = json_ld(head(html))
    for judge in (checks.jsonld_syntax, checks.jsonld_vocabulary, rich_result_required):
        assert verdict(judge(parsed)) == "n/a"


def test_json_ld_in_comment_is_ignored() -> None:
    block = '<script type="application/ld+json">{,}</script>'
    parsed = json_ld(head(f"<!-- {block} --><template>{block}</template>"))
    assert verdict(checks.jsonld_syntax(parsed)) == "n/a"


def test_json_ld_in_body_counts() -> None:
    parsed = json_ld(head("", '<script type="Application/LD+JSON; charset=utf-8">{,}</script>'))
    assert verdict(checks.jsonld_syntax(parsed)) == "fail"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"@type": "Product", "name": "Shoe", "gtin13": "1"}, "pass"),
        ({"@type": ["Product", "Vehicle"], "name": "Car"}, "pass"),
        ({"@type": "https://schema.org/Product", "schema:name": "Shoe"}, "pass"),
        ({"@type": "http://schema.org/Product", "http://schema.org/name": "Shoe"}, "pass"),
        ({"@type": "Product", "gs1:gtin": "1", "@id": "#a"}, "pass"),  # The term belongs to another vocabulary.
        ({"@type": "gs1:Product"}, "pass"),
        ({"@type": "SearchAction", "query-input": "required name=q", "target": "x"}, "pass"),
        ({"@graph": [{"@type": "WebPage", "name": "x"}, "odd", 7]}, "pass"),
        (
            {"@context": [SCHEMA, {"sku2": "gs1:sku"}], "@type": "Product", "sku2": "1"},
            "pass",
        ),  # The page's JSON-LD context defines the term.
        # The context of schema.org defines aliases such as type and id, and a page's context may define others.
        ({"type": "Product", "id": "#a", "name": "Shoe", "offers": {"type": "Offer", "id": "#b"}}, "pass"),
        ({"type": "Produkt"}, "unknown"),
        ({"type": "Product", "Type": "x"}, "unknown"),
        ({"@context": [SCHEMA, {"kind": "@type"}], "kind": "Produkt", "name": "Shoe"}, "unknown"),
        ({"@context": [SCHEMA, {"kind": {"@id": "@type"}}], "kind": "Product", "name": "Shoe"}, "pass"),
        # The JSON-LD alias refers to another alias.
        ({"@context": [SCHEMA, {"kind": "type"}], "kind": "Produkt"}, "unknown"),
        # A redefined term is no longer an alias.
        ({"@context": [SCHEMA, {"type": "gs1:type"}], "type": "Produkt"}, "pass"),
        ({"@type": "Product", "brand": {"@context": {"kind": "@type"}, "kind": "Brnd"}}, "unknown"),
        ({"@type": "Product", "brand": {"@context": {"tag": "gs1:tag"}, "tag": "x"}}, "pass"),
        (
            {"@context": [SCHEMA, "https://w3id.org/security/v1"], "@type": "Kee", "owner": "x"},
            "pass",
        ),  # A remote JSON-LD context is not loaded.
        ({"@type": "Produkt"}, "unknown"),
        ({"@type": "product"}, "unknown"),
        ({"@type": "Product", "Name": "Shoe"}, "unknown"),
        ({"@type": "Product", "offers": {"@type": "Offer", "prize": "1"}}, "unknown"),
        ({"@graph": [{"@type": "WebPage", "titel": "x"}]}, "unknown"),
    ],
)
def test_jsonld_vocabulary_check_verdict(node: dict[str, Any], expected: str) -> None:
    finding = checks.jsonld_vocabulary(page_with_nodes(node))
    assert outcome(finding) == expected, message(finding)


@pytest.mark.parametrize(
    "context", ["https://json-ld.org/contexts/person.jsonld", {"name": "http://xmlns.com/foaf/0.1/name"}, None, 7]
)
def test_other_vocabularies_are_not_judged(context: object) -> None:
    block = json.dumps({"@context": context, "@type": "Whatever", "naem": "x"})
    assert verdict(checks.jsonld_vocabulary(page_with_blocks(block))) == "n/a"


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
def test_schema_org_context_has_many_spellings(context: object) -> None:
    block = json.dumps({"@context": context, "@type": "Whatever"})
    assert outcome(checks.jsonld_vocabulary(page_with_blocks(block))) == "unknown"


def test_vocab_context_has_no_aliases() -> None:
    block = json.dumps({"@context": {"@vocab": f"{SCHEMA}/"}, "type": "Product"})
    assert "the property a node.type" in message_with_places(checks.jsonld_vocabulary(page_with_blocks(block)))


def test_json_ld_aliases_are_resolved() -> None:
    context = [SCHEMA, {"nodes": "@graph"}]
    nodes = [
        {"type": "Product", "name": "Shoe", "offers": {"id": "#offer"}},
        {"id": "#offer", "type": "Offer", "price": "9.90"},
    ]
    block = json.dumps({"@context": context, "nodes": nodes})
    assert "Product lacks offers.priceCurrency" in message_with_places(rich_result_required(page_with_blocks(block)))


def test_keyword_wins_over_its_alias() -> None:
    parsed = page_with_nodes({"@type": "Product", "type": "Produkt", "name": "Shoe"})
    assert verdict(checks.jsonld_vocabulary(parsed)) == "pass"


OFFER = {"@type": "Offer", "price": "9.90", "priceCurrency": "EUR"}
CRUMBS = [
    {"@type": "ListItem", "position": 1, "name": "Shop", "item": "https://site.example.com/shop"},
    {"@type": "ListItem", "position": 2, "name": "Shoes"},
]
VENUE = {"@type": "MusicVenue", "address": "Quay 1"}
STARS = {"@type": "Rating", "ratingValue": 4}
REVIEW = {"@type": "Review", "author": {"@type": "Person", "name": "A"}, "reviewRating": STARS}
RATING = {"@type": "AggregateRating", "ratingValue": 4, "ratingCount": 9}
BOOK = {"@type": "Book", "name": "Tides"}
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
        # The property `position` determines the order of breadcrumbs.
        ({"@type": "BreadcrumbList", "itemListElement": [CRUMBS[1], CRUMBS[0]]}, None),
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
        ({"@type": "Event", "name": "Concert", "startDate": "2027-01-01", "location": VENUE}, None),
        (
            {"@type": "Event", "name": "A", "startDate": "2027-01-01", "location": {"@type": "Place"}},
            "location.address",
        ),
        ({"@type": "Event", "name": "A", "startDate": "2027-01-01", "location": "The old pier"}, None),
        ({"@type": "Event", "name": "A", "startDate": "2027-01-01", "location": {"@id": "https://x.example/#a"}}, None),
        ({"@type": "Event", "name": "A", "startDate": "2027-01-01", "location": {"@type": "VirtualLocation"}}, None),
        ({"@type": "Event", "name": "Concert"}, "startDate"),
        ({"@type": "Recipe", "name": "Soup"}, "Recipe lacks image"),
        ({"@type": "VideoObject", "name": "A", "thumbnailUrl": ["https://a/b.jpg"], "uploadDate": "2026-01-01"}, None),
        ({"@type": "Review", "author": "A", "reviewRating": {"@type": "Rating"}}, "reviewRating.ratingValue"),
    ],
)
def test_rich_result_required_check_verdict(node: dict[str, Any], expected_text: str | None) -> None:
    finding = rich_result_required(page_with_nodes(node))
    assert outcome(finding) == ("pass" if expected_text is None else "incomplete"), message(finding)
    assert verdict(finding) == ("pass" if expected_text is None else "warn")
    assert (expected_text or "") in message_with_places(finding)


# Google Search Central, “Review snippet”: properties of reviews and ratings.
REVIEWS: dict[str, tuple[dict[str, Any], str | None]] = {
    "review of a book": (REVIEW | {"itemReviewed": BOOK}, None),
    "review without subject": (REVIEW, "Review lacks itemReviewed"),
    "review of a nameless subject": (REVIEW | {"itemReviewed": {"@type": "Book"}}, "itemReviewed.name"),
    "review of another page's subject": (REVIEW | {"itemReviewed": {"@id": "https://x.example/#book"}}, None),
    "review by a nameless author": (
        REVIEW | {"itemReviewed": BOOK, "author": {"@type": "Person"}},
        "Review lacks author.name",
    ),
    "special review without subject": (REVIEW | {"@type": "CriticReview"}, "CriticReview lacks itemReviewed"),
    "fact check": (
        {"@type": "ClaimReview", "claimReviewed": "A", "reviewRating": STARS, "url": "https://a.example/"},
        None,
    ),
    "rating without subject": (RATING, "AggregateRating lacks itemReviewed"),
    "rating of a book": (RATING | {"itemReviewed": BOOK}, None),
    "rating of an employer": (RATING | {"@type": "EmployerAggregateRating"}, "EmployerAggregateRating lacks item"),
    "nested review": (BOOK | {"review": REVIEW}, None),
    "nested reviews": (BOOK | {"review": [REVIEW, REVIEW]}, None),
    "nested review without author": (BOOK | {"review": {"@type": "Review", "reviewRating": STARS}}, "review.author"),
    "nested review without stars": (BOOK | {"review": {"@type": "Review", "author": "A"}}, "Book lacks review.review"),
    "nested rating": (BOOK | {"aggregateRating": RATING}, None),
    "nested rating without count": (
        BOOK | {"aggregateRating": {"ratingValue": 4}},
        "Book lacks aggregateRating.ratingCount or reviewCount",
    ),
    "rating of a subtype": (
        {"@type": "TVSeries", "name": "A", "aggregateRating": {"ratingCount": 4}},
        "TVSeries lacks aggregateRating.ratingValue",
    ),
    "review that a product contains by reference": (
        {
            "@graph": [
                {"@type": "Product", "name": "Shoe", "review": [{"@id": "#r"}]},
                REVIEW | {"@id": "#r"},
                {"@type": "Product", "name": "Boot", "aggregateRating": {"@id": "#a"}},
                RATING | {"@id": "#a"},
            ]
        },
        None,
    ),
    "review that nothing contains": ({"@graph": [BOOK, REVIEW | {"@id": "#r"}]}, "Review lacks itemReviewed"),
}
# Special types of schema.org inherit required properties.
SPECIAL_TYPES: dict[str, tuple[dict[str, Any], str | None]] = {
    **{
        name: ({"@type": name, "name": "Harbour"}, f"{name} lacks address")
        for name in ("Dentist", "Bakery", "Physician", "TattooParlor", "GasStation", "BedAndBreakfast", "Hostel")
    },
    **{
        name: ({"@type": name, "name": "Harbour", "location": VENUE}, f"{name} lacks startDate")
        for name in ("ComedyEvent", "Hackathon", "ExhibitionEvent", "ScreeningEvent", "Festival")
    },
    "complete dentist": ({"@type": "Dentist", "name": "Harbour", "address": "Quay 1"}, None),
    "type as URL": ({"@type": "http://schema.org/Dentist", "name": "Harbour"}, "Dentist lacks address"),
    "type and its parent": ({"@type": ["Dentist", "LocalBusiness"], "name": "Harbour"}, "Dentist lacks address"),
    "app": ({"@type": "WebApplication", "name": "A", "offers": OFFER}, "WebApplication lacks aggregateRating or"),
    "game that is an app": ({"@type": ["VideoGame", "MobileApplication"], "name": "A"}, "MobileApplication lacks"),
    "product for sale": ({"@type": "IndividualProduct", "name": "Shoe"}, "IndividualProduct lacks offers"),
    "group of variants": ({"@type": "ProductGroup", "name": "Shoe"}, None),
    "snapshot": ({"@type": "VideoObjectSnapshot", "name": "A", "uploadDate": "2026-01-05"}, "lacks thumbnailUrl"),
}


@pytest.mark.parametrize(("node", "expected_text"), REVIEWS.values(), ids=REVIEWS)
def test_missing_review_properties_are_reported(node: dict[str, Any], expected_text: str | None) -> None:
    finding = rich_result_required(page_with_nodes(node))
    assert outcome(finding) == ("pass" if expected_text is None else "incomplete"), message_with_places(finding)
    assert (expected_text or "") in message_with_places(finding)


@pytest.mark.parametrize(("node", "expected_text"), SPECIAL_TYPES.values(), ids=SPECIAL_TYPES)
def test_special_type_inherits_properties(node: dict[str, Any], expected_text: str | None) -> None:
    finding = rich_result_required(page_with_nodes(node))
    assert outcome(finding) == ("pass" if expected_text is None else "incomplete"), message_with_places(finding)
    assert (expected_text or "") in message_with_places(finding)


def test_inherited_fault_is_reported_once() -> None:
    parsed = page_with_nodes({"@type": ["Dentist", "LocalBusiness"], "name": "Harbour"})
    assert message_with_places(rich_result_required(parsed)).count("lacks") == 1


@pytest.mark.parametrize(
    "node",
    [
        {"@type": "WebSite", "name": "Shop"},
        {"@type": "Article", "headline": "News"},  # Articles have no required properties.
        # Google treats these types differently from their ancestors.
        *({"@type": name, "name": "A"} for name in ("Car", "VideoGame", "ProductModel", "CourseInstance", "DataFeed")),
        *({"@type": name, "name": "A"} for name in ("PublicationEvent", "Person", "Organization", "Thing", "Produkt")),
        BOOK,  # Of a book, only the reviews become rich results.
        {"@type": "Book", "review": []},
        {"@type": "WebPage", "isPartOf": {"@type": "Product"}},  # The product is only mentioned in another node.
        {"@type": "ItemList", "itemListElement": [{"@type": "Product", "name": "Shoe"}]},
    ],
)
def test_types_without_rich_result_are_skipped(node: dict[str, Any]) -> None:
    assert verdict(rich_result_required(page_with_nodes(node))) == "n/a"


@pytest.mark.parametrize(
    "block",
    [
        # These JSON-LD blocks refer to each other in a circle.
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
def test_hostile_json_ld_takes_under_five_seconds(block: str) -> None:
    parsed = page_with_blocks(block.replace("{", f'{{"@context": "{SCHEMA}", ', 1))
    started = time.process_time()
    for judge in (checks.jsonld_vocabulary, rich_result_required):
        assert verdict(judge(parsed)) in ("pass", "warn", "n/a")
    assert time.process_time() - started < 5


def test_number_of_blocks_is_limited() -> None:
    assert len(page_with_blocks(*["{}"] * (MAX_JSON_LD_BLOCKS + 10)).blocks) == MAX_JSON_LD_BLOCKS
    deep: dict[str, Any] = {"@type": "Nonsense"}
    for _ in range(MAX_DEPTH + 1):
        deep = {"@type": "Thing", "subjectOf": deep}
    assert verdict(checks.jsonld_vocabulary(page_with_nodes(deep))) == "pass"
    assert verdict(checks.jsonld_vocabulary(page_with_nodes(deep["subjectOf"]))) == "warn"


def test_nodes_with_same_id_are_merged() -> None:
    first = {"@type": "Product", "@id": "#shoe", "name": "Shoe"}
    assert (
        verdict(
            rich_result_required(
                page_with_nodes(first, {"@id": "#shoe", "offers": {"@id": "#offer"}}, {"@id": "#offer"} | OFFER)
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
    parsed = page_with_blocks(json.dumps({"@context": SCHEMA, "@graph": value}))
    for judge in (checks.jsonld_syntax, checks.jsonld_vocabulary, rich_result_required):
        assert verdict(judge(parsed)) in ("pass", "warn", "fail", "n/a")


def judge_microdata(html: str) -> Verdict:
    parsed = document(page(head("", html)))
    return checks.rich_result_required(read_json_ld(parsed), read_microdata(parsed))


def item(type: str, content: str, attributes: str = "") -> str:
    return f'<div itemscope itemtype="{SCHEMA}/{type}" {attributes}>{content}</div>'


MICRODATA_OFFER = item(
    "Offer", '<b itemprop="price" content="9.9">9,90</b><meta itemprop="priceCurrency" content="EUR">'
)
PRODUCT_OFFER = MICRODATA_OFFER.replace("itemscope", 'itemprop="offers" itemscope')
MICRODATA_RATING = '<b itemprop="reviewRating" itemscope><b itemprop="ratingValue">4</b></b>'
ABSOLUTE_NAME = f'<b itemprop="{SCHEMA}/name">Soup</b>'
START_TIME = '<time itemprop="startDate" datetime="2027-05-01">May</time>'
BOOK_ITEM = item("Book", '<b itemprop="name">Emma</b>', 'itemprop="itemReviewed"')
SOUP = '<b id="n" itemprop="name">Soup</b><img id="i" itemprop="image" src="s.jpg">'
MICRODATA_AUTHOR = '<b itemprop="author" itemscope><b itemprop="name">Ada</b></b>'


def breadcrumb(position: str, content: str) -> str:
    return item("ListItem", f'<meta itemprop="position" content="{position}">{content}', 'itemprop="itemListElement"')


# Google Search Central accepts microdata for the same features (HTML Standard, section 5.2.4).
@pytest.mark.parametrize(
    ("html", "expected_text"),
    [
        pytest.param("<p itemscope>No type</p>", None, id="no-type"),
        pytest.param('<p itemscope itemtype="https://example.com/Product"></p>', None, id="other-vocabulary"),
        pytest.param(item("Article", ""), None, id="no-rich-result"),
        pytest.param(item("Product", '<h1 itemprop="name">Shoe</h1>' + MICRODATA_OFFER), "offers", id="separate-offer"),
        pytest.param(
            item("Product", '<h1 itemprop="name">Shoe</h1>' + PRODUCT_OFFER),
            "",
            id="product-with-offer",
        ),
        pytest.param(item("Product", '<h1 itemprop="name"> </h1>'), "Product lacks name", id="empty-text"),
        pytest.param(item("Product", '<h1 itemprop="name brand">Shoe</h1>'), "lacks offers", id="several-names"),
        pytest.param(item("Recipe", '<b itemprop="name">Soup</b><img itemprop="image" src="s.jpg">'), "", id="image"),
        pytest.param(
            item("Recipe", '<b itemprop="name">Soup</b><img itemprop="image" alt="Soup">'), "image", id="no-src"
        ),
        pytest.param(item("Recipe", ABSOLUTE_NAME + '<a itemprop="image" href="s.jpg">S</a>'), "", id="absolute-name"),
        pytest.param(item("Dentist", '<b itemprop="name">Dr. Wu</b>'), "Dentist lacks address", id="subtype"),
        pytest.param(
            item("Event", '<b itemprop="name">Fair</b><b itemprop="location">Ulm</b>' + START_TIME),
            "",
            id="time",
        ),
        pytest.param(item("Review", MICRODATA_AUTHOR + MICRODATA_RATING), "lacks itemReviewed", id="no-subject"),
        pytest.param(
            item("Review", MICRODATA_AUTHOR + MICRODATA_RATING + BOOK_ITEM),
            "",
            id="review",
        ),
        pytest.param(
            item("Book", '<b itemprop="name">Emma</b>' + item("Review", MICRODATA_RATING, 'itemprop="review"')),
            "Book lacks review.author",
            id="nested-review",
        ),
        pytest.param(
            item(
                "BreadcrumbList",
                breadcrumb("1", '<a itemprop="item" href="/"><b itemprop="name">Home</b></a>')
                + breadcrumb("2", '<b itemprop="name">Shoes</b>'),
            ),
            "",
            id="breadcrumbs",
        ),
        pytest.param(
            item("BreadcrumbList", breadcrumb("1", '<a itemprop="item" href="/">Home</a>')),
            "BreadcrumbList lacks itemListElement.name",
            id="breadcrumb-without-name",
        ),
        pytest.param(
            SOUP + item("Recipe", "", 'itemref="n i"'),
            "",
            id="itemref",
        ),
        pytest.param(
            item("Recipe", '<b itemprop="name">Soup</b>', 'id="r" itemref="r"'), "image", id="itemref-to-itself"
        ),
        pytest.param(f"<template>{item('Product', '')}</template>", None, id="template"),
    ],
)
def test_microdata_has_required_properties(html: str, expected_text: str | None) -> None:
    finding = judge_microdata(html)
    assert verdict(finding) == ("n/a" if expected_text is None else "warn" if expected_text else "pass")
    assert (expected_text or "") in message_with_places(finding)


def test_missing_property_is_reported_once() -> None:
    block = json.dumps({"@context": SCHEMA, "@type": "Recipe", "name": "Soup"})
    html = f'<script type="application/ld+json">{block}</script>' + item("Recipe", '<b itemprop="name">Soup</b>')
    assert message_with_places(judge_microdata(html)).count("lacks image") == 1


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(item("Product", "<p itemprop=name>", 'id="a" itemref="a a b"') * 2_000, id="references"),
        pytest.param("<div itemscope itemprop=review>" * 500 + "x" * 1_000_000, id="nested-texts"),
        pytest.param("<div itemscope itemtype=https://schema.org/Product itemprop=isRelatedTo>" * 20_000, id="depth"),
        pytest.param(
            "<b id=b>" + "<i itemprop=name>" * 300 + "</b>" + item("Product", "", 'itemref="b"') * 3_000, id="width"
        ),
    ],
)
def test_microdata_made_to_be_slow_is_judged(html: str) -> None:
    started = time.process_time()
    judge_microdata(html)
    assert time.process_time() - started < 2
