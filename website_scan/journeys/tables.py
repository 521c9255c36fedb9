"""Read the journeys of `website-scan.toml`.

[[journeys]]
name = "Log-in"
steps = '''
open /login
fill “E-mail” with {{user}}
'''
"""

from __future__ import annotations

from collections.abc import Mapping

from website_scan.journeys import rules
from website_scan.journeys.fields import did_you_mean
from website_scan.journeys.journey import Journey, JourneyRefused, StateRule
from website_scan.journeys.short_form import read_short_form
from website_scan.messages import excerpt

KEYS = ("name", "steps", "judge", "allow_log_in_at")


def journey_from_table(table: Mapping[str, object], base_url: str = "") -> Journey:
    """Read a journey.

    `steps` are in the short form: one text, or a list of lines. Addresses may be relative to `base_url`. Raises
    JourneyRefused, whose message names the journey and the line in `steps`.
    """
    name = table.get("name")
    if not isinstance(name, str):
        raise JourneyRefused("A journey has no name.")
    try:
        return _read(name, table, base_url)
    except JourneyRefused as error:
        raise JourneyRefused(f"Journey “{excerpt(name, rules.MAX_TITLE_CHARACTERS)}”: {error}") from None


def _read(name: str, table: Mapping[str, object], base_url: str) -> Journey:
    for key in table:
        if key not in KEYS:
            raise JourneyRefused(f"The key “{excerpt(key, 40)}” is unknown.{did_you_mean(key, KEYS)}")
    rule = table.get("judge")
    if rule is not None and rule not in list(StateRule):
        raise JourneyRefused(f"“judge” is none of {', '.join(StateRule)}.")
    read = read_short_form(
        _steps(table.get("steps")), title=name, base_url=base_url, rule=None if rule is None else StateRule(str(rule))
    )
    if read.secrets:
        line, name_of_secret = read.notes[0].partition(":")[0], next(iter(read.secrets))
        raise JourneyRefused(
            f"{line}: Passwords and other secrets do not belong in this file. Write {{{{{name_of_secret}}}}} instead, "
            "and set the secret where the journey runs."
        )
    providers = table.get("allow_log_in_at", ())
    providers = [providers] if isinstance(providers, str) else providers
    if not isinstance(providers, list | tuple) or not all(isinstance(host, str) for host in providers):
        raise JourneyRefused("“allow_log_in_at” is not a list of hosts.")
    journey = read.journey
    return rules.checked_journey(journey.title, journey.steps, journey.rule, (*journey.identity_providers, *providers))


def _steps(steps: object) -> str:
    if isinstance(steps, str):
        return steps
    if not isinstance(steps, list) or not all(isinstance(line, str) for line in steps):
        raise JourneyRefused("“steps” is neither a text nor a list of lines.")
    for number, line in enumerate(steps, 1):
        if len(line.splitlines()) > 1:
            raise JourneyRefused(f"Line {number} of the steps contains more than one line.")
    return "\n".join(steps)
