"""Plug-ins that this process uses, with their descriptions and host processes."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Mapping

from msgspec import Struct

from website_scan.plugins.description import Description, read_description
from website_scan.plugins.installed import InstalledPlugIn, installed_plug_ins
from website_scan.plugins.json_checking import WrongData
from website_scan.plugins.runner import PlugInFailed, Runner

logger = logging.getLogger(__name__)

# A busy machine may be the reason why a plug-in could not be loaded.
RETRY_AFTER_S = 60.0
NO_DESCRIPTION = Description()


class UsedPlugIn(Struct, frozen=True, eq=False):
    """Plug-in that is used, with the weight of its categories.

    `error` is a sentence if it could not be loaded; then the description is empty.
    """

    installed: InstalledPlugIn
    weight: int
    runner: Runner
    description: Description = NO_DESCRIPTION
    error: str = ""

    @property
    def name(self) -> str:
        return self.installed.name


class _Loaded(Struct):
    """Plug-ins of a selection. They are loaded again at `expires_at`, on the monotonic clock, if one has failed."""

    plug_ins: tuple[UsedPlugIn, ...]
    expires_at: float


_loaded: dict[tuple[tuple[str, int], ...], _Loaded] = {}
_runners: dict[str, Runner] = {}
_lock = threading.Lock()


def used_plug_ins(selection: Mapping[str, int] | None) -> tuple[UsedPlugIn, ...]:
    """Return the plug-ins to use. Those that are not loaded yet are loaded.

    `selection` maps their names to the weights of their categories. None selects all installed plug-ins, without
    weight. The result is the same object until one that could not be loaded is tried again.
    """
    if selection is None:
        selection = dict.fromkeys(installed_plug_ins(), 0)
    if not selection:
        return ()
    key = tuple(selection.items())
    with _lock:
        loaded = _loaded.get(key)
        if loaded is None or loaded.expires_at <= time.monotonic():
            plug_ins = tuple(_load(name, weight) for name, weight in key)
            has_failed = any(plug_in.error for plug_in in plug_ins)
            expires_at = time.monotonic() + RETRY_AFTER_S if has_failed else float("inf")
            loaded = _loaded[key] = _Loaded(plug_ins, expires_at)
        return loaded.plug_ins


def _load(name: str, weight: int) -> UsedPlugIn:
    installed = installed_plug_ins().get(name) or InstalledPlugIn(name, "", "", problem="It is not installed.")
    runner = _runners.setdefault(name, Runner(installed))
    error = installed.problem
    description = NO_DESCRIPTION
    if not error:
        try:
            description = read_description(runner.describe(), installed)
        except (PlugInFailed, WrongData) as failed:
            error = f"It could not be loaded: {failed}."
    if error:
        logger.warning("The plug-in %s is not used. %s", name, error)
    for problem in description.problems:
        logger.warning("Plug-in %s: %s", name, problem)
    return UsedPlugIn(installed, weight, runner, description, error)


def find_format(name: str, selection: Mapping[str, int] | None) -> UsedPlugIn | None:
    """Return the plug-in that has an output format, or None."""
    plug_in = name.partition("-")[0]
    if selection is None:
        selection = {plug_in: 0} if plug_in in installed_plug_ins() else {}
    if plug_in not in selection or name not in dict(getattr(installed_plug_ins().get(plug_in), "formats", ())):
        return None
    (used,) = used_plug_ins({plug_in: selection[plug_in]})
    return used


def close_hosts() -> None:
    """Kill the host processes of this process."""
    for runner in _runners.values():
        runner.close()


def _forget() -> None:
    """Forget the plug-ins in a forked process, which has neither the threads nor the hosts."""
    global _lock
    _lock = threading.Lock()
    _loaded.clear()
    _runners.clear()


atexit.register(close_hosts)
os.register_at_fork(after_in_child=_forget)
