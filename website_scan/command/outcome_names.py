"""Validate names of outcomes, such as `hsts.short`, in the options of the command."""

from __future__ import annotations

from collections.abc import Iterable

from website_scan.command.errors import WrongUsage


def known_outcomes(names: Iterable[str]) -> frozenset[str]:
    """Return the names as a set.

    Raises WrongUsage for an outcome that no check has.
    """
    chosen = frozenset(names)
    if chosen:
        # Import these modules only here, because few commands name outcomes.
        import json
        from importlib.resources import files

        checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
        outcomes = {check["id"]: [outcome["name"] for outcome in check["outcomes"]] for check in checks}
        for name in sorted(chosen):
            check_id, _, outcome = name.partition(".")
            if check_id not in outcomes:
                from website_scan.command.plug_ins import plug_in_outcomes  # Only unknown checks need it.

                outcomes |= plug_in_outcomes()
            if outcome not in outcomes.get(check_id, ()):
                reason = (
                    f"{check_id} has {', '.join(outcomes[check_id])}"
                    if check_id in outcomes
                    else f"there is no check {check_id}"
                )
                raise WrongUsage(f"{name} is not an outcome: {reason}.")
    return chosen
