"""Tests for the journeys of website-scan.toml."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from website_scan.journeys.journey import JourneyRefused, StateRule
from website_scan.journeys.tables import journey_from_table

SITE = "https://shop.example/"
TEXT = """
[[journeys]]
name = "Log-in"
steps = '''
open /login
fill “Password” with {{password}}
click “Sign in”
'''
allow_log_in_at = ["idp.example"]
judge = "end"

[[journeys]]
name = "Menu"
steps = ["open /", "click `#menu`", "judge “Menu”"]
"""


def refusal(**fields: Any) -> str:
    """Return the reason for which a table is refused."""
    with pytest.raises(JourneyRefused) as refused:
        journey_from_table({"name": "Log-in", "steps": ["open /"], **fields}, SITE)
    return str(refused.value)


def test_journeys_of_a_file_are_read() -> None:
    log_in, menu = (journey_from_table(table, SITE) for table in tomllib.loads(TEXT)["journeys"])
    assert (log_in.title, log_in.start_url) == ("Log-in", "https://shop.example/login")
    assert (log_in.rule, log_in.identity_providers) == (StateRule.END, ("idp.example",))
    assert [step.line for step in log_in.steps] == [1, 2, 3]
    assert (menu.title, menu.rule, [step.line for step in menu.steps]) == ("Menu", StateRule.STEPS, [1, 2, 3])


def test_hosts_of_lines_and_of_the_key_are_joined() -> None:
    steps = "open /\nallow log-in at a.example"
    table = {"name": "x", "steps": steps, "allow_log_in_at": "b.example"}
    assert journey_from_table(table, SITE).identity_providers == ("a.example", "b.example")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": 5}, "A journey has no name."),
        ({"name": " "}, "The journey has no name."),
        ({"steps": None}, "“steps” is neither a text nor a list of lines."),
        ({"steps": [5]}, "“steps” is neither a text nor a list of lines."),
        ({"steps": ["open /\nclick “x”"]}, "Line 1 of the steps contains more than one line."),
        ({"steps": ["open /", "clik “x”"]}, "Journey “Log-in”: Line 2: “clik “x”” is not a step."),
        ({"steps": ""}, "A journey begins with the address of a page."),
        ({"judge": "all"}, "“judge” is none of steps, navigations, end."),
        ({"judge": []}, "“judge” is none of steps, navigations, end."),
        ({"judge": "steps"}, "no step “judge”"),
        ({"allow_log_in_at": 5}, "“allow_log_in_at” is not a list of hosts."),
        ({"allow_log_in_at": ["https://x"]}, "is not a host name"),
        ({"allow-log-in-at": []}, "The key “allow-log-in-at” is unknown. Did you mean “allow_log_in_at”?"),
    ],
)
def test_refusal_names_the_journey(fields: dict[str, Any], reason: str) -> None:
    assert reason in refusal(**fields)


def test_password_in_the_file_is_refused() -> None:
    message = refusal(steps=["open /", "fill “Password” with hunter2"])
    assert message.startswith("Journey “Log-in”: Line 2: Passwords and other secrets do not belong in this file.")
    assert "Write {{password}} instead" in message
    assert "hunter2" not in message
