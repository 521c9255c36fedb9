"""Tests that API operations refuse unknown names.

They name unknown query parameters and body fields.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from infrastructure.api.views import ApiView, UnknownPath
from tests.factories import Member
from tests.generated import description
from tests.sites.lists.cast import make_list

OPERATIONS = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for path, methods in description()["paths"].items()
    for method, operation in methods.items()
]
# Missing fields are reported first, so bodies have all required fields.
REQUIRED_FIELDS: dict[str, Any] = {
    "create_scan": {"url": "https://example.com/", "type": "seo"},
    "create_webhook": {"url": "https://example.com/", "events": ["scan.completed"]},
    "create_mute": {"check": "hsts", "host": "example.com", "reason": "Not ours."},
    "create_list": {"name": "Cities"},
    "create_maintenance_window": {
        "name": "Move",
        "starts_at": "2030-01-01T00:00:00Z",
        "ends_at": "2030-01-01T02:00:00Z",
    },
    "add_entries": {"entries": []},
    "create_assessment": {"audit": "aud_x", "name": "Museum"},
    "refresh_assessment": {"audit": "aud_x"},
    "add_assessment_page": {"url": "https://example.com/"},
    "update_assessment_page": {"name": "Start"},
    "set_remaining_results": {"result": "passed"},
    "create_monitor": {"page": "https://example.com/", "every": "day"},
}


def address(path: str) -> str:
    return path.replace("{", "").replace("}", "")


def assert_refused(response: Any) -> str:
    assert response.status_code == 400, response.content
    assert response.json()["code"] == "INVALID_PARAMS"
    return str(response.json()["error"])


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_unknown_query_parameter_is_refused(home: Member, method: str, path: str, operation: dict[str, Any]) -> None:
    error = assert_refused(home.api.call(method.upper(), f"{address(path)}?statsu=failed"))
    assert error.startswith("Unknown parameter 'statsu'. Allowed: ")
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            assert parameter["name"] in error


@pytest.mark.parametrize(("method", "path", "operation"), [case for case in OPERATIONS if "post" in case.values])
def test_unknown_field_in_POST_body_is_refused(home: Member, method: str, path: str, operation: dict[str, Any]) -> None:
    if operation["operationId"] == "add_entries":
        # Bodies for unknown lists are not parsed, so the list must exist.
        path = path.replace("{list_id}", make_list(home).id)
    body = REQUIRED_FIELDS.get(operation["operationId"], {}) | {"colour": "red"}
    assert assert_refused(home.api.post(address(path), body)).startswith("Unknown field 'colour'. Allowed: ")


@pytest.mark.parametrize(("method", "path", "operation"), [case for case in OPERATIONS if "patch" in case.values])
def test_unknown_field_in_PATCH_body_is_refused(
    home: Member, method: str, path: str, operation: dict[str, Any]
) -> None:
    body = REQUIRED_FIELDS.get(operation["operationId"], {}) | {"colour": "red"}
    error = assert_refused(home.api.patch(address(path), body))
    assert error.startswith("Unknown field 'colour'. Allowed: ")


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_documented_query_parameters_are_accepted(
    home: Member, method: str, path: str, operation: dict[str, Any]
) -> None:
    names = [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]
    for name in names:
        response = home.api.call(method.upper(), f"{address(path)}?{name}=x")
        assert b"Unknown parameter" not in response.content


def test_operation_without_body_accepts_empty_body(home: Member) -> None:
    for body in (b"", b"{}"):
        assert home.api.post("/v1/monitors/mon_x/runs", body).status_code == 404


def views() -> list[type[ApiView]]:
    patterns = [pattern for pattern in get_resolver().url_patterns if isinstance(pattern, URLPattern)]
    classes = {getattr(pattern.callback, "view_class", None) for pattern in patterns}
    return [view for view in classes if view is not None and issubclass(view, ApiView) and view is not UnknownPath]


def test_view_methods_declare_parameter_names() -> None:
    """Every method needs `names`.

    Without `names`, it would accept any parameter and document none in openapi.yaml.
    """
    assert len(views()) > 20
    for view in views():
        for name in set(view.http_method_names) - {"head"}:
            if method := getattr(view, name, None):
                assert hasattr(method, "names"), f"{view.__name__}.{name}"
