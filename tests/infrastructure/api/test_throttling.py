"""Tests for the API's rate limit and its X-RateLimit headers."""

from __future__ import annotations

import socket
import time

import pytest
import redis
from django.conf import settings

from accounts.keys.services import create_api_key
from accounts.models import Tier
from infrastructure import redis_client
from infrastructure.api import throttling
from tests.factories import Api, Member
from tests.redis_commands import counted_redis_commands


def test_rate_limit_is_enforced(home: Member) -> None:
    Tier.objects.filter(name="free").update(requests_per_minute=3)
    responses = [home.api.get("/v1/usage") for _ in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert [response["X-RateLimit-Remaining"] for response in responses] == ["2", "1", "0", "0"]
    assert responses[3].json()["code"] == "RATE_LIMITED"
    assert {response["X-RateLimit-Limit"] for response in responses} == {"3"}


def test_rate_limit_window_lasts_a_minute(home: Member) -> None:
    before = int(time.time())
    first = home.api.get("/v1/usage")
    reset = int(first["X-RateLimit-Reset"])
    assert before + 60 <= reset <= int(time.time()) + 60
    assert home.api.get("/v1/usage")["X-RateLimit-Reset"] == str(reset)


def test_keys_of_an_organization_share_rate_limit(home: Member) -> None:
    _, second = create_api_key(organization=home.organization, name="second")
    home.api.get("/v1/usage")
    assert Api(second).get("/v1/usage")["X-RateLimit-Remaining"] == "58"


def test_organizations_have_separate_rate_limits(home: Member, stranger: Member) -> None:
    home.api.get("/v1/usage")
    assert stranger.api.get("/v1/usage")["X-RateLimit-Remaining"] == "59"


def test_rate_limit_window_begins_after_a_minute(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    Tier.objects.filter(name="free").update(requests_per_minute=1)
    home.api.get("/v1/usage")
    assert home.api.get("/v1/usage").status_code == 429
    (key,) = redis_client.client.keys("rate:*")
    assert 0 < redis_client.client.pttl(key) <= 60_000
    redis_client.client.pexpire(key, 0)  # The minute ends when the key expires.
    assert home.api.get("/v1/usage").status_code == 200


def test_counter_without_lifetime_gets_one(home: Member) -> None:
    """Redis creates such a counter if the previous one expires between the two commands of a request."""
    key = f"rate:api:{home.organization.id}"
    redis_client.client.set(key, 1)
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "58"
    assert 0 < redis_client.client.pttl(key) <= 60_000
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "57"


def test_request_needs_two_redis_commands(home: Member) -> None:
    home.api.get("/v1/usage")
    with counted_redis_commands() as commands:
        home.api.get("/v1/usage")
    assert commands == {"SET": 1, "INCRBY": 1}


def test_throttle_reconnects_to_redis(home: Member) -> None:
    home.api.get("/v1/usage")
    client_id = redis_client.client.client_id()
    assert redis.Redis.from_url(settings.REDIS_URL).client_kill_filter(_id=str(client_id)) == 1
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "58"
    assert redis_client.client.client_id() != client_id


def test_requests_are_not_counted_during_redis_outage(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    unreachable = redis.Redis.from_url(f"redis://127.0.0.1:{port}/0", **settings.REDIS_TIMEOUTS)
    with pytest.raises(redis.ConnectionError):
        unreachable.ping()
    with monkeypatch.context() as patch:
        patch.setattr(throttling, "_redis", unreachable)
        response = home.api.get("/v1/usage")
        assert (response.status_code, response["X-RateLimit-Remaining"]) == (200, "60")
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "60", "Redis is not used again for REDIS_PAUSE_S"
    throttling._paused_until[0] = 0
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "59"
