"""Tests for the admission of long request bodies."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import ApiKey, User
from config.admission import admit
from config.incoming import Admission, RefusedBody
from tests.factories import Member
from tests.page_reading import browser_of

pytestmark = pytest.mark.django_db
KIB, MIB = 1024, 1024 * 1024


def environ(path: str, **fields: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "REMOTE_ADDR": "192.0.2.7",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "wsgi.input": BytesIO(),
        "wsgi.url_scheme": "http",
        **fields,
    }


@pytest.mark.parametrize(
    ("path", "max_bytes"),
    [
        ("/v1/scan", 64 * KIB),
        ("/v1/lists", 64 * KIB),
        ("/v1/lists/lst_1", 64 * KIB),
        ("/v1/audits", MIB),
        ("/v1/monitors", MIB),
        ("/v1/lists/lst_1/entries", 16 * MIB),
    ],
)
def test_key_is_admitted_up_to_the_limit_of_the_view(home: Member, path: str, max_bytes: int) -> None:
    admission = admit(environ(path, HTTP_AUTHORIZATION=f"Bearer {home.plaintext}"))
    assert admission == Admission(f"organization {home.organization.pk}", max_bytes)


@pytest.mark.parametrize(("path", "max_bytes"), [("/", MIB), ("/o/{slug}/lists/lst_1/import", 10_000_000 + MIB)])
def test_session_is_admitted_up_to_the_page_limit(home: Member, path: str, max_bytes: int) -> None:
    browser = browser_of(home)
    user = User.objects.get()
    cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
    path = path.format(slug=home.organization.slug)
    admission = admit(environ(path, HTTP_COOKIE=f"{settings.SESSION_COOKIE_NAME}={cookie}"))
    assert admission == Admission(f"user {user.pk}", max_bytes)


@pytest.mark.parametrize(
    ("path", "fields", "status", "code"),
    [
        ("/v1/lists/lst_1/entries", {}, 401, "UNAUTHORIZED"),
        ("/v1/lists/lst_1/entries", {"HTTP_AUTHORIZATION": "Bearer wss_wrong"}, 401, "UNAUTHORIZED"),
        ("/v1/lists/lst_1/entries", {"HTTP_COOKIE": "sessionid=wrong"}, 401, "UNAUTHORIZED"),
        ("/login/", {}, 413, "PAYLOAD_TOO_LARGE"),
        ("/o/home/lists/lst_1/import", {"HTTP_COOKIE": "sessionid=wrong"}, 413, "PAYLOAD_TOO_LARGE"),
        ("/", {"HTTP_AUTHORIZATION": "Bearer wss_wrong"}, 413, "PAYLOAD_TOO_LARGE"),
    ],
)
def test_body_from_a_stranger_is_refused(path: str, fields: dict[str, str], status: int, code: str) -> None:
    refused = admit(environ(path, **fields))
    assert isinstance(refused, RefusedBody)
    assert refused.status.startswith(f"{status} ")
    assert json.loads(refused.body)["code"] == code
    assert (refused.headers.get("WWW-Authenticate") == "Bearer") == (status == 401)


def test_revoked_key_is_refused(home: Member) -> None:
    ApiKey.objects.update(revoked_at=timezone.now())
    refused = admit(environ("/v1/audits", HTTP_AUTHORIZATION=f"Bearer {home.plaintext}"))
    assert isinstance(refused, RefusedBody)
    assert json.loads(refused.body)["code"] == "KEY_REVOKED"


def test_wrong_keys_are_limited_per_address() -> None:
    responses = [admit(environ("/v1/audits", HTTP_AUTHORIZATION="Bearer wss_wrong")) for _ in range(31)]
    assert isinstance(responses[-1], RefusedBody)
    assert responses[-1].status.startswith("429 ")
    assert int(responses[-1].headers["Retry-After"]) >= 1


def test_unknown_path_has_the_default_limit(home: Member) -> None:
    admission = admit(environ("/v1/unknown/path", HTTP_AUTHORIZATION=f"Bearer {home.plaintext}"))
    assert admission == Admission(f"organization {home.organization.pk}", 64 * KIB)


def test_unknown_page_is_refused(home: Member) -> None:
    browser = browser_of(home)
    cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
    refused = admit(environ("/unknown/page/of/this", HTTP_COOKIE=f"{settings.SESSION_COOKIE_NAME}={cookie}"))
    assert isinstance(refused, RefusedBody)
    assert refused.status == "404 Not Found"
