"""Compare standards.toml with the W3C's own list of success criteria, as an npm package has it.

@siteimprove/alfa-wcag (licence MIT) is generated from the W3C's recommendations.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import TypedDict

import pytest

from tests.npm import installed
from website_scan.accessibility.standards import SuccessCriterion, success_criteria

# Reads the data of the package, which has no other dependency than its own file.
SCRIPT = "import(process.argv[1]).then((data) => console.log(JSON.stringify(data.Criteria)))"
VERSIONS = ("2.0", "2.1", "2.2")


class Listed(TypedDict):
    """Criterion in the list. `versions` are pairs of a version of WCAG and the criterion's data in it."""

    title: str
    versions: list[tuple[str, dict[str, str]]]


@cache
def listed_criteria() -> dict[str, Listed]:
    """Return the criteria in the list by number."""
    data = installed() / "@siteimprove" / "alfa-wcag" / "dist" / "criterion" / "data.js"
    execution = subprocess.run(["node", "-e", SCRIPT, data], capture_output=True, text=True, check=True)
    criteria: dict[str, Listed] = json.loads(execution.stdout)
    return criteria


def levels_by_version(criterion: SuccessCriterion) -> dict[str, str]:
    return {version: criterion.level for version in VERSIONS if criterion.is_in(version)}


def test_table_has_the_same_criteria() -> None:
    assert set(success_criteria()) == set(listed_criteria())


@pytest.mark.parametrize("number", success_criteria())
def test_criterion_has_the_same_name_level_and_versions(number: str) -> None:
    criterion, listed = success_criteria()[number], listed_criteria()[number]
    assert criterion.name == listed["title"]
    assert levels_by_version(criterion) == {version: data["level"] for version, data in listed["versions"]}


@pytest.mark.parametrize("number", [number for number, one in success_criteria().items() if one.is_in("2.2")])
def test_page_is_the_anchor_of_the_recommendation(number: str) -> None:
    """The W3C names the page that explains a criterion like the criterion's anchor in WCAG 2.2."""
    versions = dict(listed_criteria()[number]["versions"])
    assert versions["2.2"]["uri"].partition("#")[2] == success_criteria()[number].page
