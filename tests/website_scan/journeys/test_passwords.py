"""Tests that typed passwords are moved out of recordings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.website_scan.journeys.recorded import CLICK, recording
from website_scan.journeys.journey import Change, ExpectedNavigation, JourneyRefused
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.recordings import read_recording, recording_of

PASSWORD = "Corr3ct-horse!"


def typed(value: str, *selectors: str) -> dict[str, Any]:
    """Return a step that types the value."""
    return {"type": "change", "target": "main", "value": value, "selectors": [[selector] for selector in selectors]}


def read(*steps: dict[str, Any], **fields: Any) -> ReadJourney:
    """Read a recording of these steps."""
    return read_recording(recording(*steps, **fields))


def values(result: ReadJourney) -> list[str]:
    """Return the values of the fields."""
    return [step.value for step in result.journey.steps if isinstance(step, Change)]


@pytest.mark.parametrize(
    ("selectors", "name"),
    [
        (["aria/Password"], "password"),
        (["aria/Passwort"], "password"),
        (["aria/パスワード"], "password"),
        (["aria/Mot de passe"], "password"),
        (["#x1", "xpath///*[@id='x1']", "aria/Your password"], "password"),
        (["#userPassword"], "password"),
        (["input[type=password]"], "password"),
        (['form > div.row input[name="login[pwd]"]'], "password"),
        (["pierce/#pass"], "password"),
        (["xpath//html/body/form/input[@type='password']"], "password"),
        (["aria/API key"], "token"),
        (["#access-token"], "token"),
        (["#client_secret"], "secret"),
        (["aria/Code from your e-mail"], "code"),
        (["aria/One-time code"], "code"),
        (["#pin"], "pin"),
        (["aria/Card number"], "card-number"),
        (["#ccnumber"], "card-number"),
        (["aria/CVC"], "card-code"),
    ],
)
def test_value_of_a_field_for_secrets_is_replaced_by_a_name(selectors: list[str], name: str) -> None:
    result = read(typed("xy", *selectors))
    assert values(result) == [f"{{{{{name}}}}}"]
    assert result.secrets == {name: "xy"}
    assert result.notes == (f"Line 2: The typed text is stored as the secret {{{{{name}}}}}, not in the journey.",)
    assert result.journey.secret_names == (name,)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("4111 1111 1111 1111", "card-number"),
        (PASSWORD, "password"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ", "token"),
        ("0123456789abcdef0123456789abcdef", "token"),
    ],
)
def test_value_that_looks_like_a_secret_is_replaced_in_any_field(value: str, name: str) -> None:
    assert read(typed(value, "#field-2")).secrets == {name: value}


@pytest.mark.parametrize(
    ("value", "selector"),
    [
        ("12345", "aria/ZIP code"),
        ("SAVE10", "aria/Discount code"),
        ("+49", "#countryCode"),
        ("me", "#password-form input[name=user]"),
        ("me", "xpath///*[@id='password-form']/div/input"),
        ("true", "aria/Show password"),
        ("", "aria/Password"),
        ("{{mine}}", "aria/Password"),
        ("Bearer {{mine}}", "aria/Token"),
        ("red shipping boots", "aria/Shipping"),
        ("4111 1111 1111 1112", "aria/Order"),
        ("Anna-Maria1@shop.example", "aria/E-mail"),
        ("https://Shop.example/A1", "aria/Website"),
    ],
)
def test_other_value_stays(value: str, selector: str) -> None:
    result = read(typed(value, selector))
    assert (values(result), result.secrets, result.notes) == ([value], {}, ())


def test_different_passwords_have_different_names() -> None:
    result = read(
        typed("{{password}}", "#password"),
        typed("first one", "#password"),
        typed("second one", "#new-password"),
        typed("second one", "#repeat-password"),
    )
    assert values(result) == ["{{password}}", "{{password-2}}", "{{password-3}}", "{{password-3}}"]
    assert result.secrets == {"password-2": "first one", "password-3": "second one"}


def test_password_is_nowhere_in_the_journey() -> None:
    address = "https://shop.example/?user=me&password=Corr3ct-horse%21"
    result = read(
        typed(PASSWORD, "#password"),
        typed(f"My password is {PASSWORD}", "#message"),
        {**CLICK, "assertedEvents": [{"type": "navigation", "url": address, "title": "Welcome"}]},
        {**CLICK, "selectors": [[f"aria/{PASSWORD}"], ["#show"]]},
        title=f"Log-in with {PASSWORD}",
    )
    written = json.dumps(recording_of(result.journey))
    assert "orse" not in written
    assert "orse" not in repr(result)
    assert values(result)[1] == "My password is {{password}}"
    assert result.journey.steps[3].expected_navigation == ExpectedNavigation()
    assert result.journey.title == "Log-in with •••"
    assert result.secrets == {"password": PASSWORD}


@pytest.mark.parametrize(
    "step",
    [
        {"type": "navigate", "url": "https://shop.example/?p=Corr3ct-horse%21"},
        {**CLICK, "selectors": [[f"text/{PASSWORD}"]]},
        {"type": "waitForElement", "selectors": ["#a"], "attributes": {"value": PASSWORD}},
        {"type": "customStep", "name": "judge", "parameters": {"name": PASSWORD}},
    ],
)
def test_password_in_another_part_of_a_step_is_refused(step: dict[str, Any]) -> None:
    with pytest.raises(JourneyRefused) as refused:
        read(typed(PASSWORD, "#password"), step)
    assert str(refused.value).startswith("Line 3: The step contains text that was also typed as a password")
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("password", ["shop", "1", "example", "password"])
def test_common_word_as_password_may_occur_elsewhere(password: str) -> None:
    asserted = [{"type": "navigation", "url": f"https://shop.example/?p={password}"}]
    result = read(
        typed(password, "#user"), typed(password, "#password"), {**CLICK, "assertedEvents": asserted}, title="My shop"
    )
    assert result.secrets == {"password": password}
    assert values(result) == [password, "{{password}}"]
    assert result.journey.title == "My shop"
    assert result.journey.start_url == "https://shop.example/"
    assert result.journey.steps[3].expected_navigation == ExpectedNavigation()
