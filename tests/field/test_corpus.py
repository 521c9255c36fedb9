"""Tests for field cases that need no browser.

See tests/field/README.md.
"""

from __future__ import annotations

import pytest

from tests.field.corpus import Case, assert_right, cases


@pytest.mark.parametrize("case", cases(needs_browser=False), ids=lambda case: case.name)
def test_case_gets_the_expected_verdicts(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_right(case, monkeypatch)


def test_cases_name_their_sources() -> None:
    assert all(case.sources and case.expected for case in cases(needs_browser=False) + cases(needs_browser=True))
