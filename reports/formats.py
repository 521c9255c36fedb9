"""Export formats of a report: those of the scanner, and those of enabled plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from scans.plug_ins import plug_in_formats
from website_scan.errors import Refusal
from website_scan.report.exports import FORMATS, ExportFormat, Muted, exported
from website_scan.report.storage import read_export

if TYPE_CHECKING:
    from website_scan.plugins.registry import UsedPlugIn


class ExportFailed(Refusal):
    """Raised if a plug-in fails to write its format."""

    code = "EXPORT_FAILED"
    status = 500


def report_formats() -> Mapping[str, ExportFormat]:
    """Return the export formats by name. Those of plug-ins are always plain text, so that no browser executes them."""
    return {
        **FORMATS,
        **{
            name: ExportFormat(
                name,
                "text/plain; charset=utf-8",
                f"of the plug-in {plug_in.name} {plug_in.installed.version}",
                "",
                partial(_render, plug_in, name),
            )
            for name, plug_in in plug_in_formats().items()
        },
    }


def _render(plug_in: UsedPlugIn, name: str, text: str, _muted: Muted, _check_pages: str) -> str:
    """Return a report in a plug-in's format. Raises ExportFailed."""
    from website_scan.plugins.runner import PlugInFailed  # Most installations have no plug-ins.

    try:
        return plug_in.runner.render(name, [dict(exported(read_export(text)))])
    except PlugInFailed as failed:
        raise ExportFailed(f"The format {name} of the plug-in {plug_in.name} failed: {failed}.") from None
