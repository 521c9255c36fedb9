"""Tests for references to components in openapi.yaml."""

from __future__ import annotations

import copy
from typing import Any

import yaml

from infrastructure.api.references import move_to_components, resolve_references
from tests.generated import DESCRIPTION, description

LIMIT = {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 100}}
OTHER_LIMIT = {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": 500}}


def error_response(text: str) -> dict[str, Any]:
    return {"description": text, "headers": {"Retry-After": {"schema": {"type": "integer"}}}}


def describe_operations(*operations: dict[str, Any]) -> dict[str, Any]:
    paths = {f"/{number}": {"get": operation} for number, operation in enumerate(operations)}
    return {"paths": copy.deepcopy(paths), "webhooks": {}, "components": {}}


def operation(parameter: dict[str, Any], **responses: str) -> dict[str, Any]:
    return {
        "parameters": [parameter],
        "responses": {status.removeprefix("e"): error_response(text) for status, text in responses.items()},
    }


def test_repeated_parts_become_components() -> None:
    same = operation(LIMIT, e429="`RATE_LIMITED` or `QUOTA_EXCEEDED`: slow down.")
    shared = move_to_components(describe_operations(same, same, same))
    assert shared["components"]["parameters"] == {"limit": LIMIT}
    assert list(shared["components"]["responses"]) == ["RateLimitedOrQuotaExceeded"]
    header = shared["components"]["responses"]["RateLimitedOrQuotaExceeded"]["headers"]["Retry-After"]
    assert header == {"$ref": "#/components/headers/Retry-After"}
    assert shared["paths"]["/2"]["get"] == {
        "parameters": [{"$ref": "#/components/parameters/limit"}],
        "responses": {"429": {"$ref": "#/components/responses/RateLimitedOrQuotaExceeded"}},
    }


def test_rare_parts_are_not_moved() -> None:
    usual, other = operation(LIMIT), operation(OTHER_LIMIT)
    shared = move_to_components(describe_operations(*[usual] * 4, *[other] * 3, operation({**LIMIT, "name": "offset"})))
    assert shared["components"]["parameters"] == {"limit": LIMIT}
    assert shared["paths"]["/6"]["get"]["parameters"] == [OTHER_LIMIT]
    assert shared["paths"]["/7"]["get"]["parameters"][0]["name"] == "offset"


def test_responses_are_named_after_their_description() -> None:
    small = operation(LIMIT, e413="`PAYLOAD_TOO_LARGE`: over 64 KiB.")
    large = operation(LIMIT, e413="`PAYLOAD_TOO_LARGE`: over 16 MiB.")
    shared = move_to_components(describe_operations(*[small] * 3, *[large] * 3))
    assert list(shared["components"]["responses"]) == ["PayloadTooLargeOver16MiB", "PayloadTooLargeOver64KiB"]


def test_resolved_references_restore_the_description() -> None:
    whole = describe_operations(*[operation(LIMIT, e400="`INVALID_PARAMS`.")] * 5)
    assert resolve_references(move_to_components(copy.deepcopy(whole)))["paths"] == whole["paths"]
    committed = yaml.load(DESCRIPTION.read_text(encoding="utf-8"), yaml.CSafeLoader)
    assert move_to_components(copy.deepcopy(description())) == committed
