"""Helpers that read openapi.yaml and its examples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from infrastructure.api.references import resolve_references

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTION = ROOT / "openapi.yaml"


@cache
def description() -> dict[str, Any]:
    """Return openapi.yaml with resolved references.

    Responses, parameters and headers are resolved.

    The file is parsed with libyaml, because PyYAML's own parser takes a second in each process that collects tests.
    """
    return resolve_references(yaml.load(DESCRIPTION.read_text(encoding="utf-8"), yaml.CSafeLoader))


def examples() -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield every example with its schema.

    The first value is the ID of the operation or event.
    """
    for methods in (description()["paths"] | description()["webhooks"]).values():
        for operation in methods.values():
            contents = [operation.get("requestBody", {}).get("content", {})]
            contents += [response.get("content", {}) for response in operation["responses"].values()]
            for content in contents:
                for media_type in content.values():
                    if "example" in media_type:
                        yield operation["operationId"], media_type["schema"], media_type["example"]


def assert_described(event: dict[str, Any]) -> None:
    """Assert that a delivery's body matches its schema in openapi.yaml.

    Additional fields are errors.
    """
    schemas = description()["components"]["schemas"]
    content = description()["webhooks"][event["event"]]["post"]["requestBody"]["content"]["application/json"]
    jsonschema.validate(event, content["schema"] | {"components": description()["components"]})
    name = content["schema"]["$ref"].rpartition("/")[2]
    data = schemas[schemas[name]["properties"]["data"]["$ref"].rpartition("/")[2]]
    assert event.keys() <= schemas[name]["properties"].keys()
    assert event["data"].keys() <= data["properties"].keys()
