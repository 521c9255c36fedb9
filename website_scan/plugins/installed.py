"""Discover the installed plug-ins, without an import of their code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct

CHECKS = "website_scan.checks"
FORMATS = "website_scan.formats"
# Name of an entry point. The name of the plug-in comes before the first dash.
ENTRY_POINT = re.compile(r"([a-z][a-z0-9]{1,31})(?:-[a-z0-9]+)*")
NAME = re.compile(r"[a-z][a-z0-9]{1,31}")
# Requirements of users are checks with this prefix.
RESERVED = frozenset({"own"})
MAX_ENTRY_POINTS = 50


class InstalledPlugIn(Struct, frozen=True):
    """Installed distribution with entry points for this scanner.

    `name` is the beginning of the names of all its entry points. `checks` and `formats` are their values by name.
    `problem` says why the plug-in cannot be used; it is empty if its code may be imported.
    """

    name: str
    distribution: str
    version: str
    checks: tuple[tuple[str, str], ...] = ()
    formats: tuple[tuple[str, str], ...] = ()
    problem: str = ""


@cache
def installed_plug_ins() -> Mapping[str, InstalledPlugIn]:
    """Return the installed plug-ins by name, in the order of their names."""
    # One call reads the distributions once, for both groups.
    points = entry_points()
    return plug_ins_of([*points.select(group=CHECKS), *points.select(group=FORMATS)])


def plug_ins_of(points: Iterable[EntryPoint]) -> dict[str, InstalledPlugIn]:
    """Group entry points by plug-in. Those without a valid name form a plug-in with a problem."""
    by_distribution: dict[tuple[str, str], list[EntryPoint]] = {}
    for point in points:
        distribution = point.dist
        key = (distribution.name, distribution.version) if distribution else ("unknown", "")
        by_distribution.setdefault(key, []).append(point)
    plug_ins: dict[str, InstalledPlugIn] = {}
    for (source, version), members in sorted(by_distribution.items()):
        plug_in = _plug_in(source, version, members)
        if plug_in.name in plug_ins:
            other = plug_ins[plug_in.name].distribution
            problem = f"The distributions {other} and {source} both have plug-ins of this name."
            plug_in = InstalledPlugIn(plug_in.name, source, version, problem=problem)
        plug_ins[plug_in.name] = plug_in
    return dict(sorted(plug_ins.items()))


def _plug_in(distribution: str, version: str, points: Iterable[EntryPoint]) -> InstalledPlugIn:
    checks: dict[str, str] = {}
    formats: dict[str, str] = {}
    names = set()
    problem = ""
    for point in points:
        entries = checks if point.group == CHECKS else formats
        if match := ENTRY_POINT.fullmatch(point.name):
            names.add(match[1])
        else:
            problem = f"The entry point {point.name[:80]!r} must have a name such as acme or acme-links."
        if point.group == CHECKS and ":" in point.value:
            problem = f"The entry point {point.name[:80]} must name a module, not “{point.value[:80]}”."
        if entries.setdefault(point.name, point.value) != point.value:
            problem = f"Two entry points have the name {point.name[:80]}."
    name = min(names, default=distribution.lower())
    if len(names) > 1:
        problem = f"The entry points must begin with one name, not with {', '.join(sorted(names))}."
    elif name in RESERVED:
        problem = f"The name {name} is reserved."
    elif len(checks) + len(formats) > MAX_ENTRY_POINTS:
        problem = f"The distribution has more than {MAX_ENTRY_POINTS} entry points."
    return InstalledPlugIn(name, distribution, version, tuple(checks.items()), tuple(formats.items()), problem)
