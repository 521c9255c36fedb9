"""Unknown query parameters and body fields: every operation of the API refuses them by name."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from infrastructure.api.views import ApiView, UnknownPath
from tests.factories import Member
from tests.generated import description

OPERATIONS = [
    pytest.param(method, path, operation, id=operation["operationId"])
    for path, methods in description()["paths"].items()
    for method, operation in methods.items()
]
# Required fields of each body: missing fields are reported before unknown ones.
NEEDED: dict[str, Any] = {
    "create_scan": {"url": "https://example.com/", "type": "seo"},
    "create_webhook": {"url": "https://example.com/", "events": ["scan.completed"]},
    "create_mute": {"check": "hsts", "host": "example.com", "reason": "Not ours."},
    "create_list": {"name": "Cities"},
    "add_entries": {"entries": []},
    "create_monitor": {"page": "https://example.com/", "every": "day"},
}


def address(path: str) -> str:
    return path.replace("{", "").replace("}", "")


def refused(response: Any) -> str:
    assert response.status_code == 400, response.content
    assert response.json()["code"] == "INVALID_PARAMS"
    return str(response.json()["error"])


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_an_unknown_query_parameter_is_refused_by_name(
    home: Member, method: str, path: str, operation: dict[str, Any]
) -> None:
    error = refused(home.api.call(method.upper(), f"{address(path)}?statsu=failed"))
    assert error.startswith("'statsu' is no parameter here")
    for each in operation.get("parameters", ()):
        if each["in"] == "query":
            assert each["name"] in error


@pytest.mark.parametrize(("method", "path", "operation"), [each for each in OPERATIONS if "post" in each.values])
def test_an_unknown_field_of_a_new_thing_is_refused_by_name(
    home: Member, method: str, path: str, operation: dict[str, Any]
) -> None:
    body = NEEDED.get(operation["operationId"], {}) | {"colour": "red"}
    assert refused(home.api.post(address(path), body)).startswith("'colour' is no field here")


@pytest.mark.parametrize(("method", "path", "operation"), [each for each in OPERATIONS if "patch" in each.values])
def test_an_unknown_field_of_a_change_is_refused_by_name(
    home: Member, method: str, path: str, operation: dict[str, Any]
) -> None:
    assert refused(home.api.patch(address(path), {"colour": "red"})).startswith("'colour' is no field here")


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_what_is_described_is_known(home: Member, method: str, path: str, operation: dict[str, Any]) -> None:
    names = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
    for name in names:
        response = home.api.call(method.upper(), f"{address(path)}?{name}=x")
        assert b"is no parameter here" not in response.content


def test_a_body_that_is_not_wanted_may_be_empty(home: Member) -> None:
    for body in (b"", b"{}"):
        assert home.api.post("/v1/monitors/mon_x/runs", body).status_code == 404


def views() -> list[type[ApiView]]:
    patterns = [each for each in get_resolver().url_patterns if isinstance(each, URLPattern)]
    classes = {getattr(each.callback, "view_class", None) for each in patterns}
    return [each for each in classes if each is not None and issubclass(each, ApiView) and each is not UnknownPath]


def test_every_method_of_every_view_says_what_it_takes() -> None:
    """A method without `names` would accept anything, and have no parameters in openapi.yaml."""
    assert len(views()) > 20
    for view in views():
        for name in set(view.http_method_names) - {"head"}:
            if method := getattr(view, name, None):
                assert hasattr(method, "names"), f"{view.__name__}.{name}"
