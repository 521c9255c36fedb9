"""Tests for the cache of rendered HTML."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from django.utils.safestring import SafeString

from infrastructure.web.html_cache import HtmlCache


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def never_rendered() -> SafeString:
    raise AssertionError("The HTML should be in the cache.")


def test_html_is_cached_until_it_expires() -> None:
    clock = Clock()
    cache = HtmlCache(max_bytes=1000, max_age_s=60, clock=clock)
    assert cache.get("a", lambda: SafeString("<b>ü</b>")) == "<b>ü</b>"
    assert isinstance(cache.get("a", never_rendered), SafeString)
    assert cache.get(("a", 1), lambda: SafeString("other")) == "other"
    clock.now = 60
    assert cache.get("a", lambda: SafeString("new")) == "new"


def test_least_recently_used_html_is_evicted() -> None:
    dice = Random(1)
    pieces = {name: SafeString(dice.randbytes(200).hex()) for name in "abc"}
    cache = HtmlCache(max_bytes=600, max_age_s=60)
    for name in "aba":
        cache.get(name, partial(pieces.__getitem__, name))
    cache.get("c", lambda: pieces["c"])
    assert cache.get("a", never_rendered) == pieces["a"]
    with pytest.raises(AssertionError):
        cache.get("b", never_rendered)


def test_too_large_html_is_not_cached() -> None:
    cache = HtmlCache(max_bytes=300, max_age_s=60)
    cache.get("small", lambda: SafeString("small"))
    cache.get("large", lambda: SafeString(Random(1).randbytes(2000).hex()))
    assert cache.get("small", never_rendered) == "small"
    with pytest.raises(AssertionError):
        cache.get("large", never_rendered)
