"""pytest plugin: which process runs which tests, under pytest-xdist.

Loaded with `-p tests.distribution`. A file is one piece of work, so that what its tests share is made once; tests of
one `xdist_group` are another, whatever their files. Pieces with slow tests begin: they wait more than they compute, and
what begins late leaves the other processes idle at the end. Then the largest. What empties the database comes last,
because it takes what the migrations wrote along (pytest-django orders the tests of one process so).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadGroupScheduling

EMPTYING = frozenset({"transactional_db", "live_server"})


class ByFile(LoadGroupScheduling):
    """Gives out groups and files in the order of their tests."""

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
    """Runs around xdist's own, which writes the groups into the names, and pytest-django's, which orders."""
    if not hasattr(config, "workerinput"):
        return (yield)
    for item in items:
        if empties(item) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"emptying {file_of(item)}"))
    yield
    items[:] = ordered(items)
    return None


def ordered(items: list[pytest.Item]) -> list[pytest.Item]:
    """The same tests, those of one piece in the order in which they were."""
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
    """Whether the database is emptied after the test instead of rolled back."""
    marker = item.get_closest_marker("django_db")
    by_marker = marker is not None and bool(marker.kwargs.get("transaction"))
    return by_marker or not EMPTYING.isdisjoint(getattr(item, "fixturenames", ()))
