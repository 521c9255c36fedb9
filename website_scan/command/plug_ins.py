"""Plug-ins in the command: which are used, their checks in scans, and their formats."""

from __future__ import annotations

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
    """Names of the scanner's formats. Those of plug-ins are members, too; they are searched only for other names."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and _is_plug_in_format(name))


def _is_plug_in_format(name: str) -> bool:
    from website_scan.plugins.installed import installed_plug_ins  # Only unknown formats need it.

    plug_in = name.partition("-")[0]
    is_selected = scanning.SCAN_PLUGINS is None or plug_in in scanning.SCAN_PLUGINS
    installed = installed_plug_ins().get(plug_in)
    return is_selected and installed is not None and name in dict(installed.formats)


def plug_in_text(name: str, result: CommandResult) -> str:
    """Return the reports in a plug-in's format. Raises WrongUsage if it fails."""
    from website_scan.plugins.registry import find_format
    from website_scan.plugins.runner import PlugInFailed
    from website_scan.report.exports import exported

    plug_in = find_format(name, scanning.SCAN_PLUGINS)
    if plug_in is None:
        raise WrongUsage(f"There is no format {name}.")
    if plug_in.error:
        raise WrongUsage(f"The plug-in {plug_in.name} cannot be used. {plug_in.error}")
    try:
        return plug_in.runner.render(name, [dict(exported(report.export)) for report in result.reports])
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
