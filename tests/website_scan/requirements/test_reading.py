"""Test that sets of requirements are validated, whoever wrote them."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.findings import HIGH, MEDIUM, ScanType
from website_scan.requirements.model import (
    BytesRule,
    ElementRule,
    FileKind,
    FileRule,
    HeaderRule,
    LinkRule,
    Metric,
    MetricRule,
    RequestsRule,
    Requirements,
    Rule,
    TextRule,
)
from website_scan.requirements.reading import read_requirements

EXAMPLE = {
    "weight": 5,
    "rules": [
        {"name": "Frames are refused", "header": "X-Frame-Options", "equals": "DENY", "severity": "high"},
        {"name": "Server is not named", "header": "Server", "matches": "*/*", "absent": True},
        {"name": "Year is shown", "text": "© * Example Ltd", "pages": ["/shop/*", "/"]},
        {"name": "Page has one main", "element": "body > main:not(.old), [role=main]", "type": "accessibility"},
        {"name": "Contact of researchers", "file": "/.well-known/security.txt"},
        {"name": "Imprint is linked", "link": "/imprint"},
        {"name": "Page paints early", "metric": "largest-contentful-paint", "at_most": 2500.5},
        {"name": "Scripts are small", "bytes": "script", "at_most": 170_000},
        {"name": "Few third parties", "requests": "third-party", "at_most": 0},
    ],
}


def rule(**fields: Any) -> dict[str, Any]:
    return {"name": "Rule", **fields}


def test_each_kind_is_read() -> None:
    requirements = read_requirements(EXAMPLE)
    assert requirements == Requirements(
        (
            Rule("Frames are refused", HeaderRule("X-Frame-Options", equals="DENY"), ScanType.SECURITY, HIGH),
            Rule("Server is not named", HeaderRule("Server", matches="*/*", absent=True), ScanType.SECURITY, MEDIUM),
            Rule("Year is shown", TextRule("© * Example Ltd"), ScanType.SEO, MEDIUM, ("/shop/*", "/")),
            Rule("Page has one main", ElementRule("body > main:not(.old), [role=main]"), ScanType.ACCESSIBILITY),
            Rule("Contact of researchers", FileRule("/.well-known/security.txt"), ScanType.SECURITY),
            Rule("Imprint is linked", LinkRule("/imprint"), ScanType.SEO),
            Rule("Page paints early", MetricRule(Metric.LARGEST_CONTENTFUL_PAINT, 2500.5), ScanType.PERFORMANCE),
            Rule("Scripts are small", BytesRule(FileKind.SCRIPT, 170_000), ScanType.PERFORMANCE),
            Rule("Few third parties", RequestsRule(FileKind.THIRD_PARTY, 0), ScanType.PERFORMANCE),
        ),
        weight=5,
    )


def test_written_json_is_read_again() -> None:
    requirements = read_requirements(EXAMPLE)
    assert read_requirements(json.loads(json.dumps(requirements.json()))) == requirements


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "Requirements must be an object with a list of rules."),
        ({}, "“rules” must be a list of rules."),
        ({"rules": [], "rule": []}, "“rule” is not a field of requirements; these are rules and weight."),
        ({"rules": [], "weight": True}, "“weight” must be a whole number from 0 to 100."),
        ({"rules": [], "weight": 101}, "“weight” must be a whole number from 0 to 100."),
        ({"rules": ["text"]}, "Rule 1: must be an object."),
        ({"rules": [{"text": "a"}]}, "Rule 1: “name” must be a text that is not empty."),
        ({"rules": [{"name": "a" * 61, "text": "a"}]}, "Rule 1: “name” has more than 60 characters."),
        ({"rules": [{"name": "a\u202eb", "text": "a"}]}, "Rule 1: “name” contains characters that cannot be shown."),
        ({"rules": [{"name": "{x}", "text": "a"}]}, "Rule 1: “name” must not contain { or }."),
        (
            {"rules": [rule(text="a"), rule(text="b")]},
            "Rule 2 (“Rule”): “name” is the name of another rule.",
        ),
        (
            {"rules": [{"name": "A, b", "text": "a"}, {"name": "A b!", "text": "b"}]},
            "Rule 2 (“A b!”): “name” is too similar to the name “A, b”.",
        ),
    ],
)
def test_invalid_sets_are_refused(data: object, message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        read_requirements(data)
    assert str(refusal.value) == message


KINDS = "header, text, element, file, link, metric, bytes, requests"


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, f"must have exactly one of {KINDS}; it has none."),
        ({"text": "a", "link": "/"}, f"must have exactly one of {KINDS}; it has text and link."),
        ({"text": "a", "severty": "low"}, "“severty” is not a field of a rule. Did you mean “severity”?"),
        ({"text": "a", "at_most": 1}, "“at_most” has no meaning with text."),
        ({"bytes": "font", "at_most": 1, "absent": True}, "“absent” has no meaning with bytes."),
        ({"text": "a", "severity": "worst"}, "“severity” must be one of critical, high, medium, low."),
        ({"text": "a", "severity": ["low"]}, "“severity” must be one of critical, high, medium, low."),
        ({"text": "a", "type": "speed"}, "“type” must be one of security, performance, accessibility, seo."),
        ({"bytes": "font", "at_most": 1, "type": "seo"}, "“type” must be performance for bytes."),
        ({"text": "a", "absent": 1}, "“absent” must be true or false."),
        ({"text": "a", "pages": "/shop"}, "“pages” must be a list of patterns, such as /shop/*."),
        (
            {"text": "a", "pages": ["shop"]},
            "“pages” has the pattern “shop”. A pattern must start with / or *, for example /docs/* or *?page=*.",
        ),
        ({"text": "a", "pages": ["/"] * 11}, "“pages” may have at most 10 patterns."),
        ({"text": "a", "pages": ["/" * 201]}, "“pages” has a pattern of more than 200 characters."),
        ({"text": ""}, "“text” must be a text that is not empty."),
        ({"text": "**"}, "“text” must have a character other than *."),
        ({"text": "a" * 301}, "“text” has more than 300 characters."),
        ({"text": "\ud800"}, "“text” contains characters that cannot be shown."),
        ({"header": "X Frame"}, "“header” is not the name of a header, such as X-Frame-Options."),
        ({"header": "A", "equals": "a", "matches": "a"}, "“equals” and “matches” exclude each other."),
        (
            {"file": "https://example.com/"},
            "“file” must be a path on the site that starts with /, such as /.well-known/security.txt.",
        ),
        (
            {"file": "//example.com/"},
            "“file” must be a path on the site that starts with /, such as /.well-known/security.txt.",
        ),
        (
            {"link": "javascript:alert(1)"},
            "“link” must be an address such as /imprint, https://example.com/* or tel:+49*.",
        ),
        ({"element": "p["}, "“element” is not a valid CSS selector."),
        ({"metric": "fps", "at_most": 1}, f"“metric” must be one of {', '.join(Metric)}."),
        ({"metric": "speed-index"}, "“at_most” must be a number."),
        ({"metric": "speed-index", "at_most": True}, "“at_most” must be a number."),
        ({"metric": "speed-index", "at_most": math.nan}, "“at_most” must be a number from 0 to 1,000,000,000,000."),
        ({"metric": "speed-index", "at_most": -1}, "“at_most” must be a number from 0 to 1,000,000,000,000."),
        ({"bytes": "font", "at_most": 0.5}, "“at_most” must be a whole number."),
        ({"bytes": "icon", "at_most": 1}, f"“bytes” must be one of {', '.join(FileKind)}."),
        ({"requests": "total", "at_most": 10**400}, "“at_most” must be a whole number from 0 to 1,000,000,000,000."),
    ],
)
def test_invalid_rules_are_refused(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError) as refusal:
        read_requirements({"rules": [rule(**fields)]})
    assert str(refusal.value) == f"Rule 1 (“Rule”): {fault}"


def test_number_of_rules_is_limited() -> None:
    rules = [{"name": f"Rule {number}", "text": "a"} for number in range(51)]
    with pytest.raises(ValueError, match="There may be at most 50 rules; these are 51"):
        read_requirements({"rules": rules})
    files = [{"name": f"Rule {number}", "file": f"/{number}"} for number in range(11)]
    with pytest.raises(ValueError, match="At most 10 rules may have “file”"):
        read_requirements({"rules": files})


@pytest.mark.parametrize(
    ("name", "check_id"),
    [
        ("Imprint is linked", "own-imprint-is-linked"),
        ("  Größe:  klein ", "own-grosse-klein"),
        ("Café", "own-cafe"),
        ("100 % HTTPS", "own-100-https"),
        ("会社概要", "own-c6e7e84a"),
        ("LCP 会社", "own-lcp-cc8f4a46"),
        ("㎑" * 60, "own-" + "khz" * 20 + "-e49ecf12"),
    ],
)
def test_check_id_is_made_of_the_name(name: str, check_id: str) -> None:
    (one,) = read_requirements({"rules": [{"name": name, "text": "a"}]}).rules
    assert one.check_id == check_id
    assert len(one.check_id) <= 80


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        ["name", "severity", "type", "pages", "equals", "matches", "absent", "at_most", *KINDS.split(", ")]
    ),
    JSON | st.sampled_from(["/a", "low", "seo", "script", "speed-index", "a > b"]),
)


@given(st.fixed_dictionaries({"rules": st.lists(FIELDS, max_size=3)}) | JSON)
def test_any_json_is_read_or_refused_with_a_sentence(data: object) -> None:
    try:
        requirements = read_requirements(data)
    except ValueError as error:
        message, requirements = str(error), Requirements()
    else:
        message = ""
    assert message[-1:] in ("", ".", "?")
    assert read_requirements(requirements.json()) == requirements


def test_validation_imports_no_scan_engine() -> None:
    code = (
        "import sys; from website_scan.requirements.reading import read_requirements;"
        "read_requirements({'rules': [{'name': 'a', 'element': 'p'}]});"
        "print([name for name in sys.modules if name.startswith(('website_scan.catalogue', 'website_scan.performance',"
        " 'website_scan.browser', 'requests', 'urllib3', 'django'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
