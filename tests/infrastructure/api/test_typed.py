"""Tests for OpenAPI schemas generated from TypedDicts."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from drf_spectacular.plumbing import ComponentRegistry

from infrastructure.api.schema import ScopedSchema
from infrastructure.api.typed import Answer, in_order, returned_by
from website_scan.json_types import Component, Count, Grade, JsonValue, Published, Timestamp, component, values

COLOURS = Annotated[str, values([("red", "Red"), ("green", "Green")])]


class Leaf(TypedDict):
    """A leaf of a tree."""

    colour: COLOURS | None
    grade: Annotated[Grade | None, "Null before it was judged."]


@component("Oak")
class OakDocument(TypedDict):
    leaves: list[Leaf]
    by_branch: dict[str, Leaf]
    top: Annotated[Leaf | None, "The highest."]
    rings: Count
    bark: list[list[JsonValue]]
    sap: object
    felled_at: NotRequired[Timestamp]


class Passed(TypedDict):
    status: Literal["pass"]
    severity: None


class Failed(TypedDict):
    status: Literal["fail", "warn"]
    severity: str
    fix: str


class Result(TypedDict):
    check: Annotated[Passed | Failed, Component("Checked", "A check.")]
    score: Annotated[Count | None, Published.NOT_NULL]
    browser: NotRequired[Annotated[str, Published.PRESENT]]
    error: NotRequired[Annotated[str, Published.ABSENT]]


def schemas(kind: Any) -> dict[str, Any]:
    schema = ScopedSchema()
    schema.registry = ComponentRegistry()
    schema.resolve_serializer(kind, "response")
    return dict(schema.registry.build({})["schemas"])


def test_typed_dict_becomes_component() -> None:
    leaf = schemas(Leaf)["Leaf"]
    assert leaf["description"] == "A leaf of a tree."
    assert leaf["required"] == ["colour", "grade"]
    assert leaf["properties"]["colour"]["enum"] == ["red", "green", None]
    grade = {"type": ["string", "null"], "pattern": r"^(A\+|[ABCDF])$", "description": "Null before it was judged."}
    assert leaf["properties"]["grade"] == grade


def test_schema_refers_to_nested_types() -> None:
    reference = {"$ref": "#/components/schemas/Leaf"}
    oak = schemas(OakDocument)["Oak"]
    assert oak["properties"]["leaves"] == {"type": "array", "items": reference}
    assert oak["properties"]["by_branch"] == {"type": "object", "additionalProperties": reference}
    assert oak["properties"]["top"] == {"oneOf": [reference, {"type": "null"}], "description": "The highest."}
    assert oak["properties"]["rings"] == {"type": "integer", "minimum": 0}
    assert oak["properties"]["bark"] == {"type": "array", "items": {"type": "array", "items": {}}}
    assert oak["properties"]["sap"] == {}
    assert oak["required"] == ["bark", "by_branch", "leaves", "rings", "sap", "top"]


def test_union_of_typed_dicts_becomes_one_schema() -> None:
    checked = schemas(Result)["Checked"]
    assert checked["properties"]["status"]["enum"] == ["pass", "fail", "warn"]
    assert checked["properties"]["severity"] == {"type": ["string", "null"]}
    assert (checked["description"], checked["required"]) == ("A check.", ["severity", "status"])


def test_Published_metadata_overrides_the_type() -> None:
    result = schemas(Result)["Result"]
    assert result["properties"]["score"] == {"type": "integer", "minimum": 0}
    assert result["required"] == ["browser", "check", "score"]
    assert "error" not in result["properties"]


def test_in_order_sorts_keys_like_the_typed_dict() -> None:
    leaf = {"grade": "A", "colour": None}
    stored = {"top": leaf, "rings": 3, "leaves": [leaf], "unknown": 1, "by_branch": {"b": leaf, "a": leaf}}
    ordered = in_order(OakDocument, stored)
    assert json.dumps(ordered) == (
        '{"leaves": [{"colour": null, "grade": "A"}], "by_branch": {"b": {"colour": null, "grade": "A"}, '
        '"a": {"colour": null, "grade": "A"}}, "top": {"colour": null, "grade": "A"}, "rings": 3}'
    )


class Mixed(TypedDict):
    either: Passed | Failed


def test_union_without_name_raises_TypeError() -> None:
    with pytest.raises(TypeError, match="Component"):
        schemas(Mixed)


def test_returned_by_reads_the_Answer_annotation() -> None:
    def get() -> Answer[Leaf]:
        return Answer({"colour": None, "grade": "A"}, status=201)

    get.__annotations__["return"] = Answer[Leaf]
    assert returned_by(get) is Leaf
    assert (get().status_code, get().data) == (201, {"colour": None, "grade": "A"})
