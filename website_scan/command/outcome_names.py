"""Validate names of outcomes, such as `hsts.short`, in the options of the command."""

from __future__ import annotations

from collections.abc import Iterable

from website_scan.command.errors import WrongUsage
from website_scan.requirements.model import CHECK_ID_PREFIX, NO_REQUIREMENTS, Requirements, is_own_check

# All outcomes of all own requirements.
ALL_OWN = f"{CHECK_ID_PREFIX}*"


def known_outcomes(names: Iterable[str], requirements: Requirements = NO_REQUIREMENTS) -> frozenset[str]:
    """Return the names as a set. `own-*` stands for all outcomes of own requirements.

    Raises WrongUsage for an outcome that neither a check nor a requirement has.
    """
    chosen = frozenset(names)
    if not chosen:
        return chosen
    # Imported only here, because few commands name outcomes.
    from website_scan.check_outcomes import outcomes_by_check

    outcomes = {**outcomes_by_check(), **{rule.check_id: rule.outcomes for rule in requirements.rules}}
    for name in sorted(chosen - {ALL_OWN}):
        check_id, _, outcome = name.partition(".")
        if outcome not in outcomes.get(check_id, ()):
            raise WrongUsage(f"{name} is not an outcome: {_reason(check_id, outcomes.get(check_id, ()))}.")
    if ALL_OWN not in chosen:
        return chosen
    if not requirements.rules:
        raise WrongUsage(f"{ALL_OWN} is not an outcome: there are no requirements.")
    return chosen - {ALL_OWN} | requirements.outcome_names


def _reason(check_id: str, outcomes: Iterable[str]) -> str:
    if outcomes:
        return f"{check_id} has {', '.join(outcomes)}"
    return f"there is no {'requirement' if is_own_check(check_id) else 'check'} {check_id}"
