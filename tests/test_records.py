"""Parts of records that are left out of `repr`, equality and hashes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from infrastructure.environment import IdentityProvider
from operations.stack.demo import DemoLogin
from sites.journeys.requests import JourneyRequest
from tests.website_scan.cast import POLICY
from website_scan.command.journey_options import JourneyOptions
from website_scan.command.journey_source import JourneySource
from website_scan.journeys.journey import Journey, SetViewport
from website_scan.journeys.passwords import ReadJourney
from website_scan.net.credentials import Credentials, OriginCredentials
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.records import repr_without, values_without

SECRET = "tr0ub4dor"
STEP = SetViewport(width=800, height=600, line=2)


class Row(Struct, frozen=True):
    name: str
    line: int = 1


def test_fields_are_left_out() -> None:
    row = Row("a", 7)
    assert repr_without(row, "line") == "Row(name='a')"
    assert repr_without(row) == repr(row)
    assert values_without(row, "line") == ("a",)


@pytest.mark.parametrize(
    "record",
    [
        Credentials(headers=(("X-Key", SECRET),), basic_auth=("me", SECRET), cookies=(("id", SECRET),)),
        OriginCredentials("https://a.example", Credentials(cookies=(("id", SECRET),))),
        Request("https://a.example/", headers={"Cookie": f"id={SECRET}"}),
        JourneyRequest(secrets={"password": SECRET}),
        JourneyOptions((), secrets={"password": SECRET}),
        JourneySource("login.json", text=f"type {SECRET}"),
        JourneySource("login", table={"steps": [SECRET]}),
        ReadJourney(Journey(title="", steps=(STEP,)), secrets={"password": SECRET}),
        IdentityProvider("id", "name", "https://login.example", "client", SECRET),
        DemoLogin("https://a.example/", "me@a.example", SECRET, SECRET),
    ],
    ids=lambda record: type(record).__name__,
)
def test_secrets_are_not_shown(record: Any) -> None:
    assert SECRET not in repr(record)


def test_steps_are_equal_on_different_lines() -> None:
    other = replace(STEP, line=9)
    assert other == STEP
    assert hash(STEP) == hash(other)
    assert replace(STEP, width=801) != STEP


def test_targets_are_equal_with_different_policies() -> None:
    target, other = (parse_target("https://a.example.com/", policy) for policy in (POLICY, Policy(user_agent="Other")))
    assert target == other
    assert {target} == {other}
    assert target != parse_target("https://a.example.com/b", POLICY)
