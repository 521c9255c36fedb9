"""Tests for the API key scopes read, scan and manage."""

from __future__ import annotations

import pytest
from django.urls import URLPattern

from accounts.keys.services import create_api_key
from accounts.models import ApiKey, Tier
from config.urls import urlpatterns
from infrastructure.api.scopes import Scope
from infrastructure.api.views import ApiView, UnknownPath
from scans.models import Scan
from tests.factories import Api, Member

SCANNING = {
    ("v1/scan", "post"),
    ("v1/audits", "post"),
    ("v1/audits/<any:audit_id>", "delete"),
    ("v1/lists/<any:list_id>/runs", "post"),
    ("v1/lists/<any:list_id>/runs/<any:run_id>", "delete"),
    ("v1/lists/<any:list_id>/entries/<any:entry_id>/scan", "post"),
}
METHODS = ("get", "post", "put", "patch", "delete")
ENDPOINTS = [
    (str(pattern.pattern), view, method)
    for pattern in urlpatterns
    if isinstance(pattern, URLPattern)
    and isinstance(view := getattr(pattern.callback, "cls", None), type)
    and issubclass(view, ApiView)
    and view is not UnknownPath
    for method in METHODS
    if hasattr(view, method)
]


def create_key_with_scope(member: Member, scope: Scope) -> Api:
    return Api(create_api_key(organization=member.organization, name=scope, scope=scope)[1])


def test_scope_includes_lower_scopes() -> None:
    included = {scope: [other for other in Scope if scope.holds(other)] for scope in Scope}
    assert included == {Scope.READ: ["read"], Scope.SCAN: ["read", "scan"], Scope.MANAGE: ["read", "scan", "manage"]}


def test_each_endpoint_requires_the_lowest_sufficient_scope() -> None:
    assert len(ENDPOINTS) > 20
    for path, view, method in ENDPOINTS:
        expected = "read" if method == "get" else "scan" if (path, method) in SCANNING else "manage"
        assert view.scope_of(method.upper()) == expected, f"{method} {path}"
        assert view.scope_of("HEAD") == "read"


@pytest.mark.parametrize("scope", list(Scope))
def test_each_endpoint_refuses_insufficient_scopes(home: Member, scope: Scope) -> None:
    Tier.objects.update(requests_per_minute=10 * len(ENDPOINTS))
    api = create_key_with_scope(home, scope)
    for path, view, method in ENDPOINTS:
        address = "/" + path.replace("<any:", "").replace("_id>", "")
        response = api.call(method.upper(), address, Content_Type="application/json")
        needed = view.scope_of(method.upper())
        if scope.holds(needed):
            assert response.status_code != 403, f"{method} {path}"
        else:
            assert response.status_code == 403, f"{method} {path}"
            message = f"This requires an API key with the scope {needed}; this key has the scope {scope}."
            assert response.json() == {"code": "INSUFFICIENT_SCOPE", "error": message}
            assert "X-RateLimit-Remaining" in response, "a valid key's refusal is counted like every answer to one"


def test_unknown_path_or_method_is_reported_before_the_scope(home: Member) -> None:
    api = create_key_with_scope(home, Scope.READ)
    wrong_method = api.call("POST", "/v1/usage")
    assert (wrong_method.status_code, wrong_method.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    unknown = api.call("DELETE", "/v1/nothing")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "NOT_FOUND")


def test_read_key_cannot_replay_an_idempotent_creation(home: Member, target: str) -> None:
    body = {"url": target, "type": "seo"}
    first = create_key_with_scope(home, Scope.SCAN).post("/v1/scan", body, Idempotency_Key="once")
    assert first.status_code == 201, first.content
    replayed = create_key_with_scope(home, Scope.READ).post("/v1/scan", body, Idempotency_Key="once")
    assert (replayed.status_code, replayed.json()["code"]) == (403, "INSUFFICIENT_SCOPE")
    assert Scan.objects.count() == 1


def test_key_without_explicit_scope_has_scope_manage(home: Member) -> None:
    assert ApiKey.objects.get().scope == "manage"
