from __future__ import annotations

import pytest

from website_scan.security.mx_records import has_null_mx, read_mx


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (["20 b.example.com.", "10 A.example.com."], [("a.example.com", 10), ("b.example.com", 20)]),
        (["10 b.example.com.", "10 a.example.com."], [("a.example.com", 10), ("b.example.com", 10)]),
        (["20 a.example.com.", "10 a.example.com."], [("a.example.com", 10)]),
        (["10 mail_1.example.com."], [("mail_1.example.com", 10)]),
        (["0 ."], []),
        # Such names would be invalid in a TLS hello.
        ([r"10 a\032b.example.com.", f"10 {'a' * 64}.com.", f"10 {'a.' * 130}com.", "10 é.com."], []),
        (["hello", "10", "", "x a.example.com.", "-1 a.example.com."], []),
    ],
)
def test_mx_records_are_sorted_by_preference(records: list[str], expected: list[tuple[str, int]]) -> None:
    assert read_mx(records) == expected


@pytest.mark.parametrize(
    ("records", "expected"), [(["0 ."], True), (["10 a.example.com."], False), ([], False), (["0"], False)]
)
def test_null_mx(records: list[str], expected: bool) -> None:
    assert has_null_mx(records) is expected
