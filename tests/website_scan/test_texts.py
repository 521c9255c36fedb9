"""Tests for the texts of checks and findings."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from tests.targets.server import Answer, Site
from tests.targets.shop import shop_site
from tests.website_scan.cast import target
from tests.website_scan.net.loopback import NETWORKS
from website_scan.catalogue import checks
from website_scan.findings import SEVERE, ScanType
from website_scan.messages import counted, duration, part
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.outcomes import Warn, judge_by_limits
from website_scan.result import Budget, CheckResult
from website_scan.run import scan
from website_scan.values import Bytes, outline
from website_scan.wording import fix, message

ALTERNATIVES = re.compile(r",|;|/|\b(?:or|and|nor)\b")
# These titles with “and” or a slash describe a single fault.
SINGLE_FAULT_TITLES = frozenset(
    {
        "Duplicate IDs in labels and ARIA",
        "Touch targets that are too small and too close together",
        "Tap targets are too small and too close together",
        "Frames with controls and a negative tabindex",
        "Terms and descriptions outside a description list",
        "Landmarks with the same role and name",
        "lang and xml:lang differ",
        "CSP leaves plug-ins and the base URL unrestricted",  # One title describes both faults together.
        "Back/forward cache is prevented",
        "Static files are sent over HTTP/1.1",
    }
)
LONGEST = 60


def titles(scan_type: ScanType) -> set[str]:
    """Return the titles of all outcomes.

    Ellipses replace their values.
    """
    return {outline(check.outcome(name).title) for check in checks(scan_type) for name in check.outcomes}


@pytest.mark.parametrize("scan_type", ScanType)
def test_outcome_title_names_one_fault(scan_type: ScanType) -> None:
    """Regression test: 44 of 255 titles listed several possible faults.

    For example: "HSTS missing, ignored or weak".
    """
    assert {text for text in titles(scan_type) if ALTERNATIVES.search(text)} <= SINGLE_FAULT_TITLES


@pytest.mark.parametrize("scan_type", ScanType)
def test_titles_are_short_phrases(scan_type: ScanType) -> None:
    for text in titles(scan_type):
        assert len(text) <= LONGEST, text
        assert not text.endswith("."), text


@pytest.mark.parametrize("scan_type", ScanType)
def test_reasons_are_unique_sentences(scan_type: ScanType) -> None:
    """A pronoun in a reason would have no antecedent.

    A reason follows various messages.
    """
    for check in checks(scan_type):
        assert not re.match(r"(?:It|They|This|That|These)\b", check.why), (check.id, check.why)


@pytest.mark.parametrize("scan_type", ScanType)
def test_fix_names_what_to_change(scan_type: ScanType) -> None:
    """A pronoun in a fix would have no antecedent.

    Lists and exports show a fix without its message.
    """
    for check in checks(scan_type):
        assert not re.match(r"(?:\w+ ){1,3}(?:it|its|them|they)\b", check.own_fix.text), (check.id, check.fix)


# Words that the owner of a shop need not know.
JARGON = re.compile(
    r"\b(?:API|ARIA|attributes?|CDN|canonical|certificates?|ciphers?|cookies?|CORS|crawl\w*|CSP|CSS|DNS|DOM|endpoints?"
    r"|elements?|frames?|Git|headers?|hosts?|hreflang|HSTS|HTML|HTTPS?|iframes?|index\w*|inject\w*|JavaScript|JSON|LCP"
    r"|markup|metadata|MIME|nonces?|noindex|origins?|payloads?|polic(?:y|ies)|protocols?|redirects?|render\w*|resources?"
    r"|robots|screen readers?|scripts?|SEO|SQL|SSL|SVG|tags?|TLS|URLs?|viewport|vulnerabilit\w+|WCAG|XSS|XML)\b",
    re.IGNORECASE,
)
EXAGGERATION = re.compile(r"\b(?:always|completely|everyone|hackers?|immediately|never|nobody|no one|will lose)\b")
MAX_CONSEQUENCE = 140


@pytest.mark.parametrize("scan_type", ScanType)
def test_severe_outcomes_state_a_consequence(scan_type: ScanType) -> None:
    """Regression test: the owner of a shop got technical terms only."""
    for check in checks(scan_type):
        for name in check.outcomes:
            outcome, key = check.outcome(name), f"{check.id}.{name}"
            text = outcome.consequence
            if not SEVERE.intersection(outcome.severities):
                assert text == "", key
                continue
            assert 30 < len(text) <= MAX_CONSEQUENCE, (key, text)
            assert re.fullmatch(r"[A-Z][^.!?]*\.", text), (key, text)
            assert not re.match(r"(?:It|They|This|That|These)\b", text), (key, text)
            assert not JARGON.search(text), (key, text)
            assert not EXAGGERATION.search(text), (key, text)
            assert text != check.why, key


INTERNAL_WORDS = re.compile(r"\b(?:mend(?:s|ed|ing)?|tells of|is told|told once|what drives)\b", re.IGNORECASE)
# Punctuation within quotes, markup, URLs and brackets ends no sentence.
FOREIGN = re.compile(r"“[^”]*”|<[^>]*>|https?://\S+|\([^()]*\)")
# Bad typography, such as “1 of 1”, empty quotes and attributes in curly quotes.
ODD = re.compile(r"\b1 of 1\b|(?<!:)\b\d{4,} [a-z]+s\b|“”|=“")
BARE = (
    "<html><head><title>Ends with a stop.</title><meta name=description content='Short.'></head><body>{}</body></html>"
)
CROWDED = (
    "<img src=/a.png><a href=/b>click here</a><a href=/c></a><input><h4>Tea</h4><p tabindex=3>Tea<script src=/a.js>"
    "</script><form action='http://shop.example/'><input type=password></form><iframe src=/b></iframe><ul><p>Tea</ul>"
)


@pytest.fixture(scope="module")
def check_results() -> list[CheckResult]:
    """Scan three pages and return all checks that did not pass.

    The scans use no browser.
    """
    html = {"Content-Type": "text/html; charset=utf-8", "Server": "nginx/1.18.0"}
    pages = [Site({"/": Answer(BARE.format(content), headers=html)}) for content in ("", CROWDED)]
    results: list[CheckResult] = []
    for site in (shop_site(), *pages):
        with site, Network(Policy(allowed_networks=NETWORKS, ca_bundle=site.ca_file)) as network:
            for result in scan(target(site.url_as("localhost") + "/"), list(ScanType), network, Budget()):
                results += [check for check in result.checks if check.status != "pass"]
    return results


def sentences(text: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", FOREIGN.sub("X", text).strip()) if sentence]


def test_findings_are_not_repetitive(check_results: list[CheckResult]) -> None:
    """Regression test: a finding gave its reason twice.

    The finding included others. In another text, a quote ended with two full stops.
    """
    assert len({check_result.id for check_result in check_results}) > 35
    for check_result in check_results:
        assert check_result.how_to_fix is not None
        text_of_finding, fix_text = message(check_result), fix(check_result.how_to_fix)
        text = f"{text_of_finding} {fix_text}"
        assert len(sentences(text_of_finding)) <= 3, text_of_finding
        # A finding has the fixes of all findings that it suppresses.
        assert len(sentences(text)) <= (7 if check_result.includes else 5), text
        assert text_of_finding.endswith(check_result.why), text_of_finding
        assert text_of_finding.count(check_result.why) == 1, text_of_finding
        assert len(set(sentences(text))) == len(sentences(text)), text
        assert not INTERNAL_WORDS.search(f"{check_result.title} {text}"), text
        assert not re.search(r"[.!?…]”\.|\.\.(?!\.)|  | \.(?:\s|$)", text_of_finding), text_of_finding
        assert not re.search(r"\b1 of [\d,]+ [a-z ]+(?:\([^)]*\) )?(?:have|are|were|go)\b", text_of_finding), (
            text_of_finding
        )
        assert not ODD.search(text_of_finding), text_of_finding


@pytest.mark.parametrize("scan_type", ScanType)
def test_prose_has_typographic_quotes(scan_type: ScanType) -> None:
    """Regression test: reasons had inconsistent quotation marks.

    Some reasons quoted the words of screen readers as code, and others as speech.
    """
    for check in checks(scan_type):
        assert '"' not in FOREIGN.sub("", check.why), (check.id, check.why)


def test_count_has_noun_and_separators() -> None:
    assert [counted(1, "form"), counted(2, "form"), counted(5000, "form")] == ["1 form", "2 forms", "5,000 forms"]


def test_part_of_all_items_has_no_total() -> None:
    """Regression test: "1 of 1 image has no width and height"."""
    assert [part(1, 1, "form"), part(3, 3, "form"), part(1, 3, "form")] == ["1 form", "3 forms", "1 of 3 forms"]


def test_value_just_above_the_limit_is_marked() -> None:
    """Regression test: "The page weighs 1.5 MB; up to 1.5 MB is good".

    This was a warning.
    """
    limit, limits = Bytes(1_500_000), (1_500_000, 4_000_000)
    for weight, expected in (
        (1_540_000, "It weighs 1.5 MB; just above the limit: up to 1.5 MB is good."),
        (2_000_000, "It weighs 2.0 MB; up to 1.5 MB is good."),
    ):
        verdict = judge_by_limits("heavy", "It weighs {weight}", weight, limits, limit=limit, weight=Bytes(weight))
        assert (type(verdict), verdict.message) == (Warn, expected)


def test_duration_is_never_0_hours() -> None:
    """Regression test: "The certificate expired …, 0 hours ago"."""
    durations = [timedelta(minutes=1), timedelta(hours=1), timedelta(hours=47), timedelta(days=2)]
    assert [duration(length) for length in durations] == ["less than an hour", "1 hour", "47 hours", "2 days"]
