"""pytest plugin that distributes tests among pytest-xdist processes.

Loaded with `-p tests.distribution`.

A file is a unit of work, so that fixtures shared by its tests are created once. The tests of an `xdist_group` are one
unit across files. Units with slow tests come first: they wait more than they compute, and a late start would leave the
other processes idle at the end. Then come the largest units. Tests that empty the database come last, as pytest-django
orders the tests of one process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

EMPTYING = frozenset({"transactional_db", "live_server"})


class FileScheduling(LoadGroupScheduling):
    """Scheduler that hands out groups and files in the order of their tests."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling | None:
    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False
    return FileScheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """Set the groups and sort the tests.

    xdist reads the groups later, and pytest-django has sorted the tests before.
    """
    if not hasattr(config, "workerinput"):
        return (yield)
    for item in items:
        if empties_database(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"emptying {file_of(item)}"))
    yield
    items[:] = sort_by_unit(items)
    return None


def sort_by_unit(items: list[pytest.Item]) -> list[pytest.Item]:
    """Sort the tests by unit of work, preserving the order within each unit."""
    sizes = Counter(map(unit_of, items))
    slow_units = {unit_of(item) for item in items if item.get_closest_marker("slow")}
    emptying_units = {unit_of(item) for item in items if empties_database(item)}

    def rank(item: pytest.Item) -> tuple[bool, bool, int, str]:
        unit = unit_of(item)
        return unit in emptying_units, unit not in slow_units, -sizes[unit], unit

    return sorted(items, key=rank)


def unit_of(item: pytest.Item) -> str:
    group = item.get_closest_marker("xdist_group")
    return file_of(item) if group is None else str(group.args[0])


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def empties_database(item: pytest.Item) -> bool:
    """Return True if the test empties the database afterwards.

    Other tests roll back their transaction.
    """
    marker = item.get_closest_marker("django_db")
    group_marker = marker is not None and bool(marker.kwargs.get("transaction"))
    return group_marker or not EMPTYING.isdisjoint(getattr(item, "fixturenames", ()))
