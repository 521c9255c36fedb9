"""Tests that no stable part of an interface was removed.

The previous release is compared.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from infrastructure.api.references import resolve_references
from tests.releases import PREVIOUS, ROOT, needs_previous

ENVIRONMENT = re.compile(r"^\| `([A-Z][A-Z_]+)` \|", re.MULTILINE)
OPTION = re.compile(r"^\| `(--[a-z-]+)` \|", re.MULTILINE)


FUNCTION = re.compile(r"^\| `([a-z_]+)` \| (.*) \| `([^|]*)` \|$", re.MULTILINE)
CLASS = re.compile(r"^\| `([A-Z]\w+)` \| (.*?) \| .+ \|$", re.MULTILINE)


def previous_file(path: str) -> str:
    """Return a file of the previous release.

    The string is empty if the file did not exist.
    """
    git_show = subprocess.run(
        ["git", "show", f"{PREVIOUS}:{path}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return git_show.stdout


def current_file(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def interface_parts(description: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of an OpenAPI description, one per line.

    Parts are operations, parameters, statuses, events and fields.
    """
    description = resolve_references(description)
    for kind in ("paths", "webhooks"):
        for path, methods in description.get(kind, {}).items():
            for method, operation in methods.items():
                name = f"{method} {path}"
                yield name
                for parameter in operation.get("parameters", ()):
                    yield f"{name} parameter {parameter.get('name')}"
                for status in operation["responses"]:
                    yield f"{name} status {status}"
    for name, schema in description["components"]["schemas"].items():
        for field in schema.get("properties", ()):
            yield f"{name}.{field}"


def library_parts(document: str) -> Iterator[str]:
    """Yield the public names of the Python library in docs/library.md, one per line.

    Parts are functions with their results, parameters with their defaults, and attributes of classes. Parameters that
    may be passed by position have their number.
    """
    _, _, reference = document.partition("<!-- generated: functions of the library -->")
    functions, _, classes = reference.partition("<!-- generated: classes of the library -->")
    for name, parameters, result in FUNCTION.findall(functions):
        yield f"{name}() returns {result}"
        by_position, star, by_name = parameters.partition("`*`, ")
        for number, parameter in enumerate(re.findall(r"`([^`]+)`", by_position)):
            yield f"{name}() parameter {number} {parameter}"
        for parameter in re.findall(r"`([^`]+)`", by_name if star else ""):
            yield f"{name}() parameter {parameter}"
    for name, attributes in CLASS.findall(classes):
        yield name
        for attribute in re.findall(r"`([^`]+)`", attributes):
            yield f"{name}.{attribute}"


def removed_parts(old: set[str], new: set[str]) -> list[str]:
    return sorted(old - new)


@needs_previous
def test_no_part_of_the_api_was_removed() -> None:
    old, new = (
        {*interface_parts(yaml.safe_load(text))}
        for text in (previous_file("openapi.yaml"), current_file("openapi.yaml"))
    )
    assert len(old) > 100
    assert removed_parts(old, new) == []


@needs_previous
def test_no_check_was_removed() -> None:
    path = "website_scan/checks.json"
    old, new = (
        {check["id"] for check in json.loads(text)["checks"]} for text in (previous_file(path), current_file(path))
    )
    assert removed_parts(old, new) == []


@needs_previous
@pytest.mark.parametrize(
    ("path", "pattern"),
    [("docs/operations.md", ENVIRONMENT), ("docs/command.md", OPTION)],
    ids=["variables", "options"],
)
def test_no_variable_or_option_was_removed(path: str, pattern: re.Pattern[str]) -> None:
    old = {*pattern.findall(previous_file(path))}
    assert old
    assert removed_parts(old, {*pattern.findall(current_file(path))}) == []


@needs_previous
def test_no_part_of_the_library_was_removed() -> None:
    path = "docs/library.md"
    old, new = ({*library_parts(text)} for text in (previous_file(path), current_file(path)))
    assert removed_parts(old, new) == []


def test_removed_parts_of_the_library_are_reported() -> None:
    document = current_file("docs/library.md")
    parts = {*library_parts(document)}
    assert {"scan() returns PageResult", "scan() parameter 0 url", "scan() parameter browser=None"} <= parts
    assert {"Finding", "Finding.outcome", "PageResult.findings", "Browser.close()", "InvalidUrl.url"} <= parts
    changed = document.replace("| `url`, `types=None`, `*`, ", "| `types`, `url`, `*`, ").replace("`outcome`, ", "")
    assert removed_parts(parts, {*library_parts(changed)}) == [
        "Change.outcome",
        "Finding.outcome",
        "scan() parameter 0 url",
        "scan() parameter 1 types=None",
    ]


def test_removed_operation_is_reported() -> None:
    description: dict[str, Any] = yaml.safe_load(current_file("openapi.yaml"))
    all_parts = {*interface_parts(description)}
    del description["paths"]["/v1/usage"]
    assert "get /v1/usage" in removed_parts(all_parts, {*interface_parts(description)})
