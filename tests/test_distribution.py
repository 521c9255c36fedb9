"""Which process runs which tests: see `distribution.py`."""

from __future__ import annotations

from itertools import groupby

import pytest

from tests.distribution import ByFile, empties, ordered, piece_of


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("tests/test_a.py::test_b", "tests/test_a.py"),
        ("tests/test_a.py::test_b[c::d@e]", "tests/test_a.py"),
        ("tests/test_a.py::test_b@pages", "pages"),
        ("tests/test_a.py::test_b[c@d]@pages", "pages"),
    ],
)
def test_a_file_is_one_piece_and_a_group_another(name: str, piece: str) -> None:
    assert ByFile._split_scope(object.__new__(ByFile), name) == piece


def test_all_tests_run_in_whole_pieces_and_what_empties_the_database_last(request: pytest.FixtureRequest) -> None:
    items = ordered(request.session.items)
    assert set(items) == set(request.session.items)
    pieces = [list(each) for _, each in groupby(items, piece_of)]
    assert len(pieces) == len(set(map(piece_of, items)))
    emptying = [any(map(empties, each)) for each in pieces]
    assert emptying == sorted(emptying)
