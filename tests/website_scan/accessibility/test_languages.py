from __future__ import annotations

import itertools
import string

import langcodes

from website_scan.accessibility.languages import TWO_LETTER_CODES, is_registered_subtag


def test_two_letter_codes_match_the_IANA_registry() -> None:
    all_codes = map("".join, itertools.product(string.ascii_lowercase, repeat=2))
    assert {code for code in all_codes if langcodes.tag_is_valid(code)} == TWO_LETTER_CODES


def test_two_letter_code_replaces_three_letter_code() -> None:
    codes = ("haw", "fil", "adp", "tok", "eng", "deu", "tgl", "qaa", "qab", "zzz")
    assert [code for code in codes if is_registered_subtag(code)] == ["haw", "fil", "adp", "tok", "qaa"]
    assert not any(map(is_registered_subtag, ("", "e", "xx", "e1", "engl", "en-us", "ÿÿ")))
