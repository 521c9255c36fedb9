from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from website_scan.findings import Severity
from website_scan.priority import Priority, priority

POINTS = st.sampled_from((0.0, 1.2, 16.2))


def build_priority(
    status: str, severity: str | None, holds: bool = False, points: float = 0.0, later: float = 0.0
) -> Priority:
    return priority(status=status, severity=severity, holds=holds, points=points, later=later)


PRIORITIES = st.one_of(
    st.builds(
        build_priority, st.sampled_from(("fail", "warn")), st.sampled_from(Severity), st.booleans(), POINTS, POINTS
    ),
    st.builds(build_priority, st.just("pass"), st.none(), st.just(False), POINTS, POINTS),
)


ORDERED = [
    build_priority("fail", "critical", holds=True, points=1.2),
    build_priority("fail", "critical"),
    build_priority("fail", "high", holds=True, later=3.0),
    build_priority("fail", "medium", points=16.2, later=16.2),
    build_priority("warn", "low", points=1.2, later=1.2),
    build_priority("fail", "high", later=4.0),
    build_priority("fail", "high", later=2.0),
    build_priority("warn", "high"),
    build_priority("fail", "low"),
    build_priority("warn", "low"),
    build_priority("pass", None, points=0.3),
    build_priority("pass", None),
]


@given(st.permutations(ORDERED))
def test_critical_failures_come_first(shuffled: list[Priority]) -> None:
    assert sorted(shuffled) == ORDERED


@given(PRIORITIES, PRIORITIES)
def test_points_never_outrank_verdicts(first: Priority, second: Priority) -> None:
    if first.is_not_emergency < second.is_not_emergency or first.passes < second.passes:
        assert first < second
