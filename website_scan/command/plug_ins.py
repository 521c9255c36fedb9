"""Plug-ins in the command: which are used, their checks in scans, and their formats."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from website_scan import settings as scanning
from website_scan.command.errors import WrongUsage

if TYPE_CHECKING:
    from website_scan.command.gate import CommandResult
    from website_scan.extension import Extension


def extension_of_command(*, uses_plug_ins: bool) -> Extension | None:
    """Return the checks of the plug-ins that the command uses, or None without plug-ins."""
    if not uses_plug_ins or not _has_plug_ins():
        return None
    # Most installations have no plug-ins.
    from website_scan.plugins.registry import used_plug_ins
    from website_scan.plugins.scanning import extension_of

    return extension_of(used_plug_ins(scanning.SCAN_PLUGINS))


def _has_plug_ins() -> bool:
    if scanning.SCAN_PLUGINS is not None:
        return bool(scanning.SCAN_PLUGINS)
    from website_scan.plugins.installed import installed_plug_ins  # Not needed if the variable selects plug-ins.

    return bool(installed_plug_ins())


class FormatNames(tuple[str, ...]):
    """Names of the scanner's formats. Those of plug-ins are members, too; they are searched only for other names.

    Iteration includes them, for messages that list all formats.
    """

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in set(_plug_in_formats())

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from _plug_in_formats()


def _plug_in_formats() -> Iterator[str]:
    """Yield the names of the formats of the plug-ins that the command uses. Their code does not run."""
    from website_scan.plugins.installed import installed_plug_ins  # Only unknown formats need it.

    for plug_in in installed_plug_ins().values():
        if scanning.SCAN_PLUGINS is None or plug_in.name in scanning.SCAN_PLUGINS:
            yield from dict(plug_in.formats)


def format_name(name: str, formats: Iterable[str]) -> str:
    """Return the name if it is one of the scanner's `formats` or of a plug-in. Raises ValueError, which lists them all.

    The choices of argparse are no alternative, because its help would import what finds plug-ins.
    """
    names = FormatNames(formats)
    if name not in names:
        raise ValueError(f"invalid choice: {name!r} (choose from {', '.join(map(repr, names))})")
    return name


def refuse_plug_in_formats(names: Iterable[str], formats: Container[str]) -> None:
    """Raise WrongUsage for the name of a format that is not one of the scanner's `formats`."""
    for name in names:
        if name not in formats:
            raise WrongUsage(f"The format {name} is part of a plug-in, so it does not work with --no-plugins.")


def has_plug_in(name: str) -> bool:
    """Return True if a plug-in is installed. Its code does not run."""
    from website_scan.plugins.installed import installed_plug_ins  # Most commands do not need it.

    return name in installed_plug_ins()


def plug_in_text(name: str, result: CommandResult) -> str:
    """Return the reports in a plug-in's format. Raises WrongUsage if it fails."""
    from website_scan.command.formats.data import full_report
    from website_scan.plugins.registry import find_format
    from website_scan.plugins.runner import PlugInFailed

    plug_in = find_format(name, scanning.SCAN_PLUGINS)
    if plug_in is None:
        raise WrongUsage(f"There is no format {name}.")
    if plug_in.error:
        raise WrongUsage(f"The plug-in {plug_in.name} cannot be used. {plug_in.error}")
    if name not in plug_in.description.formats:
        raise WrongUsage(" ".join((f"The format {name} cannot be used.", *plug_in.description.problems)))
    try:
        return plug_in.runner.render(name, [full_report(report) for report in result.reports])
    except PlugInFailed as failed:
        raise WrongUsage(f"The format {name} of the plug-in {plug_in.name} failed: {failed}.") from None


def plug_in_outcomes() -> dict[str, list[str]]:
    """Return the names of outcomes by the IDs of the checks of plug-ins."""
    if not _has_plug_ins():
        return {}
    from website_scan.plugins.registry import used_plug_ins

    return {
        check.id: list(check.declaration.outcomes)
        for plug_in in used_plug_ins(scanning.SCAN_PLUGINS)
        for check in plug_in.description.checks
    }
