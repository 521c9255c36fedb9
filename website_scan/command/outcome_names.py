"""Validate names of outcomes, such as `hsts.short`, in the options of the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from website_scan.command.errors import WrongUsage
from website_scan.requirements.model import CHECK_ID_PREFIX, NO_REQUIREMENTS, Requirements, is_own_check

# All outcomes of all own requirements.
ALL_OWN = f"{CHECK_ID_PREFIX}*"


def known_outcomes(
    names: Iterable[str], requirements: Requirements = NO_REQUIREMENTS, *, uses_plug_ins: bool = True
) -> frozenset[str]:
    """Return the names as a set. `own-*` stands for all outcomes of own requirements, `acme-*` for those of a plug-in.

    Raises WrongUsage for an outcome that neither a check nor a requirement has. Without plug-ins, their code does not
    run, so names of their outcomes are not validated.
    """
    chosen = frozenset(names)
    if not chosen:
        return chosen
    # Imported only here, because few commands name outcomes.
    from website_scan.check_outcomes import outcomes_by_check

    outcomes = {**outcomes_by_check(), **{rule.check_id: rule.outcomes for rule in requirements.rules}}
    known: set[str] = set()
    for name in sorted(chosen - {ALL_OWN}):
        check_id, _, outcome = name.partition(".")
        if check_id not in outcomes and not is_own_check(check_id):
            from website_scan.command.plug_ins import has_plug_in, plug_in_outcomes  # Only unknown checks need it.

            if not uses_plug_ins and has_plug_in(check_id.partition("-")[0]):
                known.add(name)
                continue
            of_plug_ins = plug_in_outcomes() if uses_plug_ins else {}
            if name.endswith("-*"):
                known |= _all_of_plug_in(name, of_plug_ins)
                continue
            outcomes |= {id: tuple(names) for id, names in of_plug_ins.items()}
        if outcome not in outcomes.get(check_id, ()):
            raise WrongUsage(f"{name} is not an outcome: {_reason(check_id, outcomes.get(check_id, ()))}.")
        known.add(name)
    if ALL_OWN not in chosen:
        return frozenset(known)
    if not requirements.rules:
        raise WrongUsage(f"{ALL_OWN} is not an outcome: there are no requirements.")
    return requirements.outcome_names | known


def _all_of_plug_in(name: str, outcomes: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all outcomes of the plug-in in a name such as `acme-*`. Raises WrongUsage if it has none."""
    prefix = name.removesuffix("*")
    names = {f"{id}.{outcome}" for id, of_check in outcomes.items() if id.startswith(prefix) for outcome in of_check}
    if not names:
        raise WrongUsage(f"{name} is not an outcome: no plug-in {prefix.removesuffix('-')} with checks is used.")
    return names


def _reason(check_id: str, outcomes: Iterable[str]) -> str:
    if outcomes:
        return f"{check_id} has {', '.join(outcomes)}"
    return f"there is no {'requirement' if is_own_check(check_id) else 'check'} {check_id}"
