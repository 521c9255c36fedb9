from __future__ import annotations

import itertools
import string

import langcodes

from website_scan.accessibility.languages import TWO_LETTER_CODES, is_registered


def test_the_codes_of_two_letters_are_all_that_the_registry_has() -> None:
    every = map("".join, itertools.product(string.ascii_lowercase, repeat=2))
    assert {each for each in every if langcodes.tag_is_valid(each)} == TWO_LETTER_CODES


def test_codes_of_three_letters_are_registered_if_none_of_two_means_the_same() -> None:
    codes = ("haw", "fil", "adp", "tok", "eng", "deu", "tgl", "qaa", "qab", "zzz")
    assert [each for each in codes if is_registered(each)] == ["haw", "fil", "adp", "tok", "qaa"]
    assert not any(map(is_registered, ("", "e", "xx", "e1", "engl", "en-us", "ÿÿ")))
