"""Tests for the text that owners send to their web developer."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from website_scan.report.developer_text import MAX_FINDINGS, WIDTH, DeveloperFinding, DeveloperText

LONG_URL = f"https://shop.example.com/{'a' * 100}"
CODE = "add_header Strict-Transport-Security " + '"max-age=31536000; includeSubDomains; preload" always;'
FINDING = DeveloperFinding(
    title="Environment file is public",
    type="Security",
    severity="critical",
    consequence="Anyone can read the passwords and keys in your site's settings, and may use them to get at your data.",
    fix={"text": "Move `.env` out of the web root.", "snippets": [{"label": "nginx", "code": f"location /\n{CODE}"}]},
    places=("/.env", LONG_URL),
    more_places=2,
    pages="On 3 of 4 pages, such as https://shop.example.com/teas and https://shop.example.com/coffees",
)
TEXT = DeveloperText(
    address="https://shop.example.com/",
    day=date(2026, 11, 3),
    grades={"Security": "F", "SEO": ""},
    findings=[FINDING],
    link="https://scans.example/report/scan_1",
    readers="Anyone with this link can open the report.",
)


def test_developer_text_states_problem_place_and_fix() -> None:
    assert TEXT.render().splitlines() == [
        "Website scan",
        "",
        "Address: https://shop.example.com/",
        "Date:    3 November 2026",
        "",
        "Grades, from A+ (best) to F:",
        "  Security: F",
        "  SEO:      -",
        "",
        "Critical and high problems, worst first",
        "",
        "1. Environment file is public (Security, critical)",
        "   Anyone can read the passwords and keys in your site's settings, and",
        "   may use them to get at your data.",
        "   On 3 of 4 pages, such as https://shop.example.com/teas and",
        "   https://shop.example.com/coffees",
        "   Where:",
        "   - /.env",
        f"   - {LONG_URL}",
        "   - and 2 more",
        "   Fix: Move `.env` out of the web root.",
        "   nginx:",
        "     location /",
        f"     {CODE}",
        "",
        "Report:  https://scans.example/report/scan_1",
        "Anyone with this link can open the report.",
    ]


def test_developer_text_wraps_lines_except_code() -> None:
    words = "The quick brown fox jumps over the lazy dog. " * 5
    finding = replace(
        FINDING, title=words, consequence=words, fix={"text": words, "snippets": []}, places=(words[:99],)
    )
    lines = replace(TEXT, findings=[finding], readers=words).render().splitlines()
    assert max(map(len, lines)) <= WIDTH


def test_developer_text_lists_critical_problems_first() -> None:
    high, critical = replace(FINDING, severity="high", title="High"), replace(FINDING, title="Critical")
    text = replace(TEXT, findings=[high, critical]).render()
    assert text.index("1. Critical (Security, critical)") < text.index("2. High (Security, high)")


@pytest.mark.parametrize(("count", "more"), [(MAX_FINDINGS, ""), (MAX_FINDINGS + 7, "... and 7 more in the report.")])
def test_developer_text_limits_its_problems(count: int, more: str) -> None:
    text = replace(TEXT, findings=[FINDING] * count).render()
    assert text.count("Environment file is public") == MAX_FINDINGS
    assert more in text
    assert ("more in the report" in text) is bool(more)


def test_developer_text_has_no_control_characters() -> None:
    hostile = "a\r\nBcc: x@example.com\x1b[31m\u202eb\x00"
    finding = replace(
        FINDING, places=(hostile,), fix={"text": hostile, "snippets": [{"label": "HTML", "code": "\u202e"}]}
    )
    text = replace(TEXT, address=hostile, findings=[finding]).render()
    assert "\nBcc" not in text
    assert all(character.isprintable() or character == "\n" for character in text)


def test_developer_text_without_problems_says_so() -> None:
    assert "No critical or high problems were found." in replace(TEXT, findings=[]).render()
