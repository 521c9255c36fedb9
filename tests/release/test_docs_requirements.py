"""Test the examples and tables of docs/requirements.md."""

from __future__ import annotations

import json
import re
import tomllib

from tests.project import ROOT
from website_scan.requirements.model import FileKind, Metric
from website_scan.requirements.reading import FIELDS, KINDS, read_requirements

DOC = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)


def test_examples_are_valid() -> None:
    examples = [tomllib.loads(text) for text in blocks("toml")]
    rules = [rule for example in examples for rule in example.get("requirements", {}).get("rules", [])]
    # Names are unique in a set, and the page repeats its first example.
    unique = list({rule["name"]: rule for rule in rules}.values())
    kinds = {type(rule.condition) for rule in read_requirements({"rules": unique}).rules}
    assert len(kinds) == len(KINDS)


def test_first_example_is_the_same_in_json() -> None:
    written = blocks("json")[0]
    of_toml = read_requirements(tomllib.loads(blocks("toml")[0])["requirements"])
    assert read_requirements(json.loads(written)) == of_toml


def test_page_describes_each_kind_field_and_value() -> None:
    assert set(re.findall(r"^### (\w+)$", DOC, re.MULTILINE)) == set(KINDS)
    for name in (*FIELDS, *Metric, *FileKind):
        assert f"`{name}`" in DOC or f"{name} = " in DOC, name
