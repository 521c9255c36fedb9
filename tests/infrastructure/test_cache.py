"""Tests that the cache stores JSON and executes no code from Redis."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from redis import Redis


class Payload:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.mark.django_db
def test_pickled_cache_value_is_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "run"
    Redis.from_url(settings.REDIS_URL).set(":1:readiness", pickle.dumps(Payload(trace)))
    assert cache.get("readiness") is None
    assert Client().get("/readyz").status_code == 200
    assert not trace.exists()


@pytest.mark.parametrize("value", [0, 7, "7", "text", None, True, ["a"], {"a": [1, 2.5]}])
def test_cached_json_value_keeps_its_type(value: object, db: None) -> None:
    cache.set("kept", value)
    cached = cache.get("kept", "missing")
    assert (type(cached), cached) == (type(value), value)


def test_cache_increments_integers(db: None) -> None:
    cache.set("count", 1)
    assert cache.incr("count") == 2
