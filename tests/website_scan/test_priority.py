from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from website_scan.findings import Severity
from website_scan.priority import Priority, priority

POINTS = st.sampled_from((0.0, 1.2, 16.2))


def of(status: str, severity: str | None, holds: bool = False, points: float = 0.0, later: float = 0.0) -> Priority:
    return priority(status=status, severity=severity, holds=holds, points=points, later=later)


PRIORITIES = st.one_of(
    st.builds(of, st.sampled_from(("fail", "warn")), st.sampled_from(Severity), st.booleans(), POINTS, POINTS),
    st.builds(of, st.just("pass"), st.none(), st.just(False), POINTS, POINTS),
)


ORDERED = [
    of("fail", "critical", holds=True, points=1.2),
    of("fail", "critical"),
    of("fail", "high", holds=True, later=3.0),
    of("fail", "medium", points=16.2, later=16.2),
    of("warn", "low", points=1.2, later=1.2),
    of("fail", "high", later=4.0),
    of("fail", "high", later=2.0),
    of("warn", "high"),
    of("fail", "low"),
    of("warn", "low"),
    of("pass", None, points=0.3),
    of("pass", None),
]


@given(st.permutations(ORDERED))
def test_critical_failures_sort_first_then_failures_that_hold_the_score_then_points(shuffled: list[Priority]) -> None:
    assert sorted(shuffled) == ORDERED


@given(PRIORITIES, PRIORITIES)
def test_points_never_move_a_finding_before_a_critical_failure_or_a_pass_before_a_finding(
    first: Priority, second: Priority
) -> None:
    if first.is_not_emergency < second.is_not_emergency or first.passes < second.passes:
        assert first < second
