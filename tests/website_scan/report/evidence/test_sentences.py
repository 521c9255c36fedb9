"""Messages without the places that the table below them lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from website_scan.report.evidence.sentences import headline

URLS = [{"url": "https://a.test/one-file.js", "wire_bytes": 3}, {"url": "https://a.test/two.js", "wire_bytes": 2}]


@pytest.mark.parametrize(
    ("message", "evidence", "shown"),
    [
        (
            '2 links have no name: <a href="/one">x</a> at #a; <a href="/two">y</a> at #b.',
            [{"snippet": '<a href="/one">x</a>', "selector": "#a"}, {"snippet": '<a href="/two">y</a>'}],
            "2 links have no name.",
        ),
        (
            "2 links have no name, unless scripts change that: <a> at #a; <a> at #b.",
            [{"snippet": "<a>", "selector": "#a"}, {"snippet": "<a>", "selector": "#b"}],
            "2 links have no name, unless scripts change that.",
        ),
        (
            "2 files loaded again: https://a.test/one-f… (as x), https://a.test/two.js; each is downloaded twice.",
            URLS,
            "2 files loaded again; each is downloaded twice.",
        ),
        (
            "2 text files sent uncompressed (https://a.test/one-file.js, https://a.test/two.js), so 3 kB too many.",
            URLS,
            "2 text files sent uncompressed, so 3 kB too many.",
        ),
        (
            "2 files: the first is https://a.test/one-file.js.",
            URLS,
            "2 files: the first is https://a.test/one-file.js.",
        ),
        ("1 file: https://a.test/one-file.js.", URLS[:1], "1 file: https://a.test/one-file.js."),
        (
            "/.git/HEAD (ref: refs/heads/main; 21 B), /.git/config ([core] bare = false; 21 B) are public: read.",
            [
                {"path": "/.git/HEAD", "proof": "ref: refs/heads/main"},
                {"path": "/.git/config", "proof": "[core] bare = false"},
            ],
            "/.git/HEAD (ref: refs/heads/main; 21 B), /.git/config ([core] bare = false; 21 B) are public: read.",
        ),
        ("Nothing: at all.", [], "Nothing: at all."),
        ("Two figures: 1 and 2.", [{"try": 1}, {"try": 2}], "Two figures: 1 and 2."),
    ],
)
def test_places_that_the_evidence_lists_are_left_out(
    message: str, evidence: list[dict[str, object]], shown: str
) -> None:
    assert headline(message, evidence) == shown


@given(st.text(), st.lists(st.dictionaries(st.sampled_from(["url", "why"]), st.text(max_size=20))))
def test_any_message_stays_a_message(message: str, evidence: list[dict[str, object]]) -> None:
    assert len(headline(message, evidence)) <= len(message) + 1


def test_a_sentence_that_only_introduced_the_list_goes_with_it() -> None:
    shifts = [{"selector": "html > body > div", "shift": 0.2}, {"selector": "html > body > p", "shift": 0.1}]
    assert headline(
        "It shifts by 0.3; 0.1 is good. Shifted most: html > body > div (0.200), html > body > p (0.1).", shifts
    ) == ("It shifts by 0.3; 0.1 is good.")
    kept = "The page loads. 2 files are broken: https://a.test/one-file.js, https://a.test/two.js."
    assert headline(kept, URLS) == "The page loads. 2 files are broken."
