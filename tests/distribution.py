"""pytest plugin: distribution of the tests to processes under pytest-xdist.

Loaded with `-p tests.distribution`. A file is one piece of work, so that its tests' shared fixtures are made once; the
tests of an `xdist_group` are one piece across files. Pieces with slow tests come first: they wait more than they
compute, and a late start would leave the other processes idle at the end. Then the largest pieces. Tests that empty the
database come last, because they delete the rows of migrations too (pytest-django orders one process' tests so).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

EMPTYING = frozenset({"transactional_db", "live_server"})


class ByFile(LoadGroupScheduling):
    """Scheduler that distributes groups and files in the order of their tests."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByFile | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Wrap xdist's hook, which adds the groups to the names, and pytest-django's hook, which orders the tests."""
    if not hasattr(config, "workerinput"):
        return (yield)
    for item in items:
        if empties(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"emptying {file_of(item)}"))
    yield
    items[:] = ordered(items)
    return None


def ordered(items: list[pytest.Item]) -> list[pytest.Item]:
    """Sort the tests by piece, and keep the order of the tests within a piece."""
    sizes = Counter(map(piece_of, items))
    slow = {piece_of(item) for item in items if item.get_closest_marker("slow")}
    emptying = {piece_of(item) for item in items if empties(item)}

    def rank(item: pytest.Item) -> tuple[bool, bool, int, str]:
        piece = piece_of(item)
        return piece in emptying, piece not in slow, -sizes[piece], piece

    return sorted(items, key=rank)


def piece_of(item: pytest.Item) -> str:
    group = item.get_closest_marker("xdist_group")
    return file_of(item) if group is None else str(group.args[0])


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def empties(item: pytest.Item) -> bool:
    """Return True if the database is emptied after the test instead of rolled back."""
    marker = item.get_closest_marker("django_db")
    by_marker = marker is not None and bool(marker.kwargs.get("transaction"))
    return by_marker or not EMPTYING.isdisjoint(getattr(item, "fixturenames", ()))
