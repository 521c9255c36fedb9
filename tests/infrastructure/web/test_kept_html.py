"""Cache of rendered HTML: expiry, eviction and size limit."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest
from django.utils.safestring import SafeString

from infrastructure.web.kept_html import KeptHtml


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def never() -> SafeString:
    raise AssertionError("It was there.")


def test_a_piece_is_made_once_and_anew_when_it_is_old() -> None:
    clock = Clock()
    kept = KeptHtml(max_bytes=1000, max_age_s=60, clock=clock)
    assert kept.get("a", lambda: SafeString("<b>ü</b>")) == "<b>ü</b>"
    assert isinstance(kept.get("a", never), SafeString)
    assert kept.get(("a", 1), lambda: SafeString("other")) == "other"
    clock.now = 60
    assert kept.get("a", lambda: SafeString("new")) == "new"


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    dice = Random(1)
    pieces = {name: SafeString(dice.randbytes(200).hex()) for name in "abc"}
    kept = KeptHtml(max_bytes=600, max_age_s=60)
    for name in "aba":
        kept.get(name, partial(pieces.__getitem__, name))
    kept.get("c", lambda: pieces["c"])
    assert kept.get("a", never) == pieces["a"]
    with pytest.raises(AssertionError):
        kept.get("b", never)


def test_what_is_too_large_is_not_kept_and_drives_nothing_out() -> None:
    kept = KeptHtml(max_bytes=300, max_age_s=60)
    kept.get("small", lambda: SafeString("small"))
    kept.get("large", lambda: SafeString(Random(1).randbytes(2000).hex()))
    assert kept.get("small", never) == "small"
    with pytest.raises(AssertionError):
        kept.get("large", never)
