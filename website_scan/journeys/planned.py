"""Number of states that executing a journey can judge, for the quota."""

from __future__ import annotations

from website_scan.journeys.journey import MAX_STATES, Click, Journey, Judge, KeyDown, Navigate, StateRule, Step


def planned_states(journey: Journey, most: int = MAX_STATES) -> int:
    """Return the largest number of states that the journey is expected to have, and at most `most`.

    By the rule `navigations`, each click may open a page, and most do not. States beyond this number, for example after
    a page that opens another one by itself, are left out by the caller.
    """
    count, last = 0, len(journey.steps) - 1
    for number, step in enumerate(journey.steps):
        if isinstance(step, Judge):
            count += 1
        elif number == last:
            count += journey.rule is not StateRule.STEPS
        elif not isinstance(journey.steps[number + 1], Judge):  # Else the next step judges the same page.
            count += journey.rule is StateRule.NAVIGATIONS and _may_navigate(step)
    return min(max(count, 1), MAX_STATES, most)


def _may_navigate(step: Step) -> bool:
    return isinstance(step, Navigate | Click | KeyDown) or step.expected_navigation is not None
