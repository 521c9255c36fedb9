"""Test translations of Lighthouse's files.

The files in `lighthouse_files` are those of public repositories, with other addresses. `RECORD=1` writes their
translations anew.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.outcomes import Outcome
from website_scan.performance.score_curve import log_normal_score
from website_scan.requirements.lighthouse.audits import PRESETS, audits, preset
from website_scan.requirements.lighthouse.files import translate
from website_scan.requirements.lighthouse.numbers import value_of_score
from website_scan.requirements.lighthouse.translation import Translation, UnreadableFile
from website_scan.requirements.lighthouse.url_patterns import pattern_of_budget, pattern_of_expression
from website_scan.requirements.model import MAX_RULES
from website_scan.requirements.reading import read_requirements
from website_scan.requirements.toml_text import translation_toml

FOLDER = Path(__file__).parent / "lighthouse_files"
FILES = sorted(FOLDER.glob("*.json"))


def of_assertions(assertions: dict[str, Any], **group: Any) -> Translation:
    return translate(json.dumps({"ci": {"assert": {"assertions": assertions, **group}}}))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_public_repositories_are_translated(path: Path) -> None:
    translation = translate(path.read_text("utf-8"))
    text = "".join(f"# {note}\n" for note in translation.notes) + translation_toml(translation)
    if os.environ.get("RECORD"):
        path.with_suffix(".toml").write_text(text, "utf-8")
    assert text == path.with_suffix(".toml").read_text("utf-8")
    options = tomllib.loads(text)
    assert read_requirements(options.get("requirements", {"rules": []})) == translation.requirements
    assert options.get("fail-under", {}) == translation.under


def test_named_outcomes_exist() -> None:
    outcomes: dict[str, dict[str, str | Outcome]] = {}
    for scan_type in ScanType:
        outcomes |= {check.id: dict(check.outcomes) for check in checks(scan_type)}
    for audit, names in audits().outcomes.items():
        for name in names:
            check_id, _, outcome = name.partition(".")
            assert check_id in outcomes, audit
            assert not outcome or outcome in outcomes[check_id], (audit, name)


def test_each_audit_of_the_presets_is_known() -> None:
    table = audits()
    known = {*table.outcomes, *table.numbers, *table.reasons}
    assert {audit for name in PRESETS for audit in preset(name)} <= known
    assert not set(table.outcomes) & set(table.reasons)
    assert table.never_failing <= set(table.outcomes)
    assert not set(table.numbers) & {*table.reasons, *table.outcomes}


def test_presets_differ_as_in_lighthouse_ci() -> None:
    whole, recommended, without_app = (preset(name) for name in PRESETS)
    assert {level for level, _ in whole.values()} == {"error"}
    assert set(whole) - set(recommended) == {"long-tasks", "uses-http2"}
    assert recommended["speed-index"] == ("warn", {})
    assert recommended["unused-javascript"] == ("error", {"maxLength": 0})
    assert {audit for audit, (level, _) in without_app.items() if level == "off"} == {"is-on-https", "viewport"}


@pytest.mark.parametrize(
    ("assertions", "outcomes", "notes"),
    [
        ({"color-contrast": "error"}, ("color-contrast.low",), ()),
        ({"color-contrast": ["error", {"minScore": 1}]}, ("color-contrast.low",), ()),
        ({"color-contrast": ["error", {"minScore": 0}]}, (), ()),
        ({"color-contrast": "warn", "image-alt": "off"}, (), ()),
        ({"unused-javascript": ["error", {"maxLength": 0}]}, ("unused-js.too-much",), ()),
        (
            {"unused-javascript": ["error", {"maxLength": 2}]},
            (),
            (
                "assertion unused-javascript is not translated, because the gate fails for a finding, not for the "
                "number of its places or for saved milliseconds",
            ),
        ),
        (
            {"landmark-one-main": "error"},
            (),
            (
                "assertion landmark-one-main is not translated, because Lighthouse lists facts here and never fails; "
                "--fail-on-outcome fails for landmark-one-main.missing",
            ),
        ),
        ({"landmark-one-main": ["error", {"maxLength": 0}]}, ("landmark-one-main.missing",), ()),
        (
            {"interactive": ["error", {"maxNumericValue": 1}]},
            (),
            ("assertion interactive is not translated, because the command does not measure this",),
        ),
        (
            {"service-worker": "error"},
            (),
            ("assertion service-worker is not translated, because Lighthouse 12 no longer has this audit",),
        ),
        ({"no-such": "error"}, (), ("assertion no-such is not translated, because Lighthouse has no such audit",)),
        (
            {"color-contrast": {"level": "error"}},
            (),
            ("assertion color-contrast is not translated, because it is neither a level nor a level with options",),
        ),
        (
            {"color-contrast": ["error", {"minscore": 1}]},
            (),
            ("assertion color-contrast is not translated, because its option minscore is unknown",),
        ),
        (
            {"user-timings:first": ["error", {"maxNumericValue": 1}]},
            (),
            (
                "assertion user-timings:first is not translated, because only categories and resource-summary have "
                "parts that are translated",
            ),
        ),
        (
            {"color-contrast": ["error", {"aggregationMethod": "pessimistic"}]},
            ("color-contrast.low",),
            ('aggregationMethod "pessimistic" is not translated, because the best load of a page counts',),
        ),
    ],
)
def test_assertion_is_an_outcome_of_the_gate_or_named(
    assertions: dict[str, Any], outcomes: tuple[str, ...], notes: tuple[str, ...]
) -> None:
    translation = of_assertions(assertions)
    assert (translation.outcomes, translation.notes) == (outcomes, notes)
    assert translation.requirements.rules == ()


@pytest.mark.parametrize(
    ("audit", "options", "limit"),
    [
        ("largest-contentful-paint", {"maxNumericValue": 3000}, 3000),
        ("largest-contentful-paint", {}, 2500),
        ("largest-contentful-paint", {"minScore": 0.5}, 4000),
        ("largest-contentful-paint", {"minScore": 0.9, "maxNumericValue": 2000}, 2000),
        ("largest-contentful-paint", {"minScore": 0.75}, 3123),
        ("cumulative-layout-shift", {"maxNumericValue": 0.12}, 0.12),
        ("server-response-time", {}, 600),
        ("total-byte-weight", {"maxNumericValue": 512_000}, 512_000),
        ("resource-summary:script:size", {"maxNumericValue": 150_000}, 150_000),
        ("resource-summary.font.count", {"maxNumericValue": 2}, 2),
        ("dom-size", {"maxNumericValue": 3000}, 3000),
    ],
)
def test_number_is_a_limit(audit: str, options: dict[str, Any], limit: float) -> None:
    for level, severity, gated in (("error", "high", 1), ("warn", "low", 0)):
        translation = of_assertions({audit: [level, options]})
        (rule,) = translation.requirements.json()["rules"]
        assert (rule["at_most"], rule["severity"], len(translation.outcomes)) == (limit, severity, gated)
        assert translation.notes == ()


@pytest.mark.parametrize("score", [0.05, 0.3, 0.5, 0.75, 0.89])
def test_value_of_a_score_is_on_the_curve(score: float) -> None:
    value = value_of_score(score, 2.5, 4.0)
    assert log_normal_score(value, 2.5, 4.0) == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize(
    ("score", "value"), [(1, 1545.7), (0.99, 1792.0), (0.95, 2206.4), (0.75, 3123.4), (0.05, 7312.2)]
)
def test_value_of_a_score_is_that_of_lighthouse(score: float, value: float) -> None:
    # The largest values for which `Audit.computeLogNormalScore({p10: 2500, median: 4000}, value)` of Lighthouse 12.6
    # is at least the score.
    assert value_of_score(score, 2500, 4000) == pytest.approx(value, abs=0.05)


def test_groups_of_pages_limit_their_rules() -> None:
    sizes = {"resource-summary:script:size": ["error", {"maxNumericValue": 1000}], "color-contrast": "error"}
    group = {"matchingUrlPattern": "https?://[^/]+/shop/.*", "assertions": sizes}
    translation = translate(json.dumps({"ci": {"assert": {"assertMatrix": [group, {"assertions": sizes}]}}}))
    assert [(rule.name, rule.pages) for rule in translation.requirements.rules] == [
        ("Size of scripts on /shop/*", ("/shop/*",)),
        ("Size of scripts", ()),
    ]
    assert "assertion color-contrast is not translated, because conditions of the gate apply to all pages" in (
        translation.notes
    )


@pytest.mark.parametrize(
    ("expression", "pattern"),
    [
        (".*", None),
        ("/*", None),
        ("http://[^/]+/$", "/"),
        ("^http://localhost:3000/en/$", "/en/"),
        (r"https?://.*/blog/", "*/blog/*"),
        ("/support", "*/support*"),
        ("/blog/*", "*/blog*"),
        (r"http://localhost/a\.html", "/a.html*"),
        (r".*\/checkout$", "*/checkout"),
        (r"http://[^/]+/issues/\d+/$", ValueError),
        ("/(a|b)/", ValueError),
        ("[", ValueError),
        ("x" * 501, ValueError),
    ],
)
def test_expression_for_pages_is_a_pattern(expression: str, pattern: str | type[ValueError] | None) -> None:
    if isinstance(pattern, type):
        with pytest.raises(pattern):
            pattern_of_expression(expression)
    else:
        assert pattern_of_expression(expression) == pattern


@pytest.mark.parametrize(
    ("path", "pattern"),
    [("/", None), ("/*", None), ("/blog", "/blog*"), ("/blog$", "/blog"), ("/a*b", "/a*b*"), ("/a*b$", "/a*b")],
)
def test_path_of_a_budget_is_a_pattern(path: str, pattern: str | None) -> None:
    assert pattern_of_budget(path) == pattern


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("module.exports = {}", "It is not JSON"),
        ("[" * 100_000, "It is not JSON"),
        ("{}", "It is neither a list of budgets nor a configuration with “ci”."),
        ('"ci"', "It is neither a list of budgets nor a configuration with “ci”."),
        ("[1]", "Budget 1 is not an object."),
        ('[{"timings": {}}]', "“timings” of the budget is not a list."),
        ('{"ci": {"assert": []}}', "“assert” is not an object."),
        ('{"ci": {"assert": {"assertions": []}}}', "“assertions” is not an object."),
        ('{"ci": {"assert": {"assertMatrix": {}}}}', "“assertMatrix” is not a list."),
    ],
)
def test_other_files_are_refused(text: str, words: str) -> None:
    with pytest.raises(UnreadableFile, match="^" + words.replace(".", r"\.")):
        translate(text)


def test_budget_entries_that_cannot_be_said_are_named() -> None:
    budgets = [
        {"path": "x", "timings": []},
        {
            "resourceSizes": [{"resourceType": "wasm", "budget": 1}, {"resourceType": "font"}],
            "timings": [{"metric": "fps", "budget": 1}],
            "options": {"firstPartyHostnames": ["a.example"]},
            "sizes": [],
        },
    ]
    assert translate(json.dumps(budgets)).notes == (
        "budget 1 is not translated, because its path does not start with /",
        "“sizes” of budget 2 is not translated, because budgets of Lighthouse have no such field",
        "“options” of budget 2 is not translated, because other sites are those of another domain",
        "“wasm” in “resourceSizes” of budget 2 is not translated, because it is not a kind of files",
        "“font” in “resourceSizes” of budget 2 is not translated, because it has no name or no limit",
        "“fps” in “timings” of budget 2 is not translated, because it is not a metric of budgets",
    )


def test_number_of_rules_is_limited() -> None:
    budgets = [
        {"path": f"/{number}", "timings": [{"metric": "speed-index", "budget": 1}]} for number in range(MAX_RULES + 1)
    ]
    translation = translate(json.dumps(budgets))
    assert len(translation.requirements.rules) == MAX_RULES
    assert translation.notes == ("“Speed index” is not translated, because a set may have at most 50 rules",)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
OPTIONS = ("minScore", "maxLength", "maxNumericValue")
ASSERTIONS = st.dictionaries(
    st.sampled_from(["lcp", "categories:seo", "resource-summary:font:size", "speed-index", "list", "tap-targets"]),
    JSON
    | st.tuples(st.sampled_from(["error", "warn"]), st.dictionaries(st.sampled_from(["minScore", "maxLength"]), JSON)),
    max_size=4,
)


@example({"ci": {"assert": {"assertions": {"speed-index": ["error", {"minScore": None}]}}}})
@given(
    JSON
    | st.builds(lambda asserted: {"ci": {"assert": {"assertions": asserted}}}, ASSERTIONS)
    | st.lists(st.dictionaries(st.sampled_from(["path", "timings", "resourceSizes"]), JSON), max_size=3)
)
def test_any_json_is_translated_or_refused(data: object) -> None:
    try:
        translation = translate(json.dumps(data))
    except UnreadableFile:
        return
    assert read_requirements(translation.requirements.json()) == translation.requirements
