"""Limits of journeys that apply to recordings and to the short form."""

from __future__ import annotations

import re
from collections.abc import Iterable

from website_scan.journeys.journey import (
    MAX_STATES,
    MAX_STEPS,
    PLACEHOLDER,
    Journey,
    JourneyRefused,
    Judge,
    Navigate,
    SetViewport,
    StateRule,
    Step,
)
from website_scan.messages import DIRECTIONS, excerpt
from website_scan.urls import Url

MAX_TITLE_CHARACTERS = 120
MAX_STATE_NAME_CHARACTERS = 80
MAX_URL_CHARACTERS = 2000
MAX_VALUE_CHARACTERS = 5000
MAX_IDENTITY_PROVIDERS = 5
MAX_PIXELS = 5000
MAX_SCROLL_PIXELS = 1_000_000
# Text that cannot be stored, or that looks different from what it is.
UNPRINTABLE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|{DIRECTIONS.pattern}")
# Values of fields may have several lines.
UNPRINTABLE_VALUE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
BRACES = re.compile(r"\{\{[^{}]{0,200}\}\}")
SECRETS_IN_VALUES_ONLY = "Secrets such as {{password}} can be used only in the values of fields."
NAMES_OF_SECRETS = (
    "The name of a secret begins with a letter from a to z and has at most 40 letters, digits, hyphens and "
    "underscores, for example {{password}}."
)


def check_text(text: str, limit: int, name: str) -> str:
    """Return the text of a step that is not the value of a field. Raises ValueError, whose message is a sentence."""
    if len(text) > limit:
        raise ValueError(f"{name} is longer than {limit:,} characters.")
    if UNPRINTABLE.search(text):
        raise ValueError(f"{name} contains characters that cannot be shown.")
    if PLACEHOLDER.search(text):
        raise ValueError(SECRETS_IN_VALUES_ONLY)
    return text


def check_value(value: str) -> str:
    """Return the value of a field, which may contain secrets by name. Raises ValueError."""
    if len(value) > MAX_VALUE_CHARACTERS:
        raise ValueError(f"The value is longer than {MAX_VALUE_CHARACTERS:,} characters.")
    if UNPRINTABLE_VALUE.search(value):
        raise ValueError("The value contains characters that nobody can type.")
    for braces in BRACES.finditer(value):
        if not PLACEHOLDER.fullmatch(braces[0]):
            raise ValueError(NAMES_OF_SECRETS)
    return value


def check_address(text: str, base: str | None = None) -> str:
    """Return an address of the web in canonical form.

    A relative one is resolved against the page `base`. Raises ValueError.
    """
    check_text(text, MAX_URL_CHARACTERS, "The address")
    url = Url.parse(text, base)
    if url is None or not url.is_http or not url.host:
        raise ValueError(f"“{excerpt(text, 80)}” is not an address that begins with https:// or http://.")
    if url.has_credentials:
        raise ValueError("The address contains a user name or a password. Type them into a form instead.")
    return url.href


def check_state_name(text: str) -> str:
    """Return the name of a state. Raises ValueError."""
    name = check_text(" ".join(text.split()), MAX_STATE_NAME_CHARACTERS, "The name of the state")
    if not name:
        raise ValueError("The state has no name.")
    return name


def check_host(text: str) -> str:
    """Return the host of an identity provider in lower case. Raises ValueError."""
    url = Url.parse(f"https://{text.strip()}/")
    if url is None or len(text) > 253 or not re.fullmatch(r"https://[^/@:?#*]+/", url.href):
        raise ValueError(f"“{excerpt(text, 80)}” is not a host name, such as login.example.com.")
    return url.host


def checked_journey(
    title: str, steps: Iterable[Step], rule: StateRule | None = None, identity_providers: Iterable[str] = ()
) -> Journey:
    """Return the journey if it respects all limits. Raises JourneyRefused.

    Without a rule, a journey that has a step `Judge` has no other states.
    """
    steps = tuple(steps)
    names = [step.name for step in steps if isinstance(step, Judge)]
    if rule is None:
        rule = StateRule.STEPS if names else StateRule.NAVIGATIONS
    try:
        title = check_text(" ".join(title.split()), MAX_TITLE_CHARACTERS, "The name of the journey")
        providers = tuple(dict.fromkeys(check_host(host) for host in identity_providers))
    except ValueError as error:
        raise JourneyRefused(str(error)) from None
    if not title:
        raise JourneyRefused("The journey has no name.")
    if len(providers) > MAX_IDENTITY_PROVIDERS:
        raise JourneyRefused(f"A journey may allow log-in at no more than {MAX_IDENTITY_PROVIDERS} hosts.")
    if len(steps) > MAX_STEPS:
        raise JourneyRefused(f"The journey has {len(steps)} steps. No more than {MAX_STEPS} are possible.")
    first = next((step for step in steps if not isinstance(step, SetViewport)), None)
    if not isinstance(first, Navigate):
        where = f"Line {first.line}: " if first is not None and first.line else ""
        raise JourneyRefused(
            f"{where}A journey begins with the address of a page. Only the size of the screen may precede."
        )
    _check_states(steps, names, rule)
    return Journey(title, steps, rule, providers)


def _check_states(steps: tuple[Step, ...], names: list[str], rule: StateRule) -> None:
    names_so_far: set[str] = set()
    for step in steps:
        if isinstance(step, Judge):
            if step.name in names_so_far:
                raise JourneyRefused(f"Line {step.line}: Two states have the name “{step.name}”.")
            names_so_far.add(step.name)
    if rule is StateRule.STEPS and not names:
        raise JourneyRefused("No page would be judged, because the journey has no step “judge”.")
    navigations = sum(isinstance(step, Navigate) or step.expected_navigation is not None for step in steps)
    states = len(names) + {StateRule.STEPS: 0, StateRule.NAVIGATIONS: navigations, StateRule.END: 1}[rule]
    if states > MAX_STATES:
        raise JourneyRefused(f"{states} states would be judged. No more than {MAX_STATES} are possible.")
