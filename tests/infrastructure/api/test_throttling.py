"""Rate limit of the API, as the X-RateLimit headers show it."""

from __future__ import annotations

import socket
import time

import pytest
import redis
from django.conf import settings

from accounts.keys.services import create_api_key
from accounts.models import Tier
from infrastructure.api import throttling
from tests.factories import Api, Member


def test_the_last_allowed_request_says_that_none_remains(home: Member) -> None:
    Tier.objects.filter(name="free").update(requests_per_minute=3)
    answers = [home.api.get("/v1/usage") for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert [each["X-RateLimit-Remaining"] for each in answers] == ["2", "1", "0", "0"]
    assert answers[3].json()["code"] == "RATE_LIMITED"
    assert {each["X-RateLimit-Limit"] for each in answers} == {"3"}


def test_the_window_begins_with_the_first_request_and_lasts_a_minute(home: Member) -> None:
    before = int(time.time())
    first = home.api.get("/v1/usage")
    reset = int(first["X-RateLimit-Reset"])
    assert before + 60 <= reset <= int(time.time()) + 60
    assert home.api.get("/v1/usage")["X-RateLimit-Reset"] == str(reset)


def test_more_keys_do_not_buy_more_requests(home: Member) -> None:
    _, second = create_api_key(organization=home.organization, name="second")
    home.api.get("/v1/usage")
    assert Api(second).get("/v1/usage")["X-RateLimit-Remaining"] == "58"


def test_organizations_do_not_share_a_window(home: Member, stranger: Member) -> None:
    home.api.get("/v1/usage")
    assert stranger.api.get("/v1/usage")["X-RateLimit-Remaining"] == "59"


def test_a_new_window_begins_after_the_minute(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    Tier.objects.filter(name="free").update(requests_per_minute=1)
    home.api.get("/v1/usage")
    assert home.api.get("/v1/usage").status_code == 429
    (key,) = throttling._redis.keys("rate:*")
    assert 0 < throttling._redis.pttl(key) <= 60_000
    throttling._redis.pexpire(key, 0)  # as if the minute was over
    assert home.api.get("/v1/usage").status_code == 200


def test_a_connection_that_redis_closed_is_replaced_unnoticed(home: Member) -> None:
    home.api.get("/v1/usage")
    used = throttling._redis.client_id()
    assert redis.Redis.from_url(settings.REDIS_URL).client_kill_filter(_id=str(used)) == 1
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "58"
    assert throttling._redis.client_id() != used


def test_requests_pass_uncounted_while_redis_is_away(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    away = redis.Redis.from_url(f"redis://127.0.0.1:{port}/0", **settings.REDIS_TIMEOUTS)
    with pytest.raises(redis.ConnectionError):
        away.ping()
    with monkeypatch.context() as patch:
        patch.setattr(throttling, "_redis", away)
        answer = home.api.get("/v1/usage")
        assert (answer.status_code, answer["X-RateLimit-Remaining"]) == (200, "60")
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "60", "it is not asked again at once"
    throttling._paused_until[0] = 0
    assert home.api.get("/v1/usage")["X-RateLimit-Remaining"] == "59"
