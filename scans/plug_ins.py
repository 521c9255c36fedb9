"""Plug-ins that the service uses: those in SCAN_PLUGINS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from website_scan.extension import NO_EXTENSION, Extension

if TYPE_CHECKING:
    from website_scan.plugins.registry import UsedPlugIn


def enabled_plug_ins() -> tuple[UsedPlugIn, ...]:
    """Return the enabled plug-ins, also those that could not be loaded.

    The first call of a process starts the processes of the plug-ins.
    """
    if not settings.SCAN_PLUGINS:
        return ()
    from website_scan.plugins.registry import used_plug_ins  # Most installations have no plug-ins.

    return used_plug_ins(settings.SCAN_PLUGINS)


def scan_extension() -> Extension:
    """Return the checks of the enabled plug-ins for scans."""
    if not (plug_ins := enabled_plug_ins()):
        return NO_EXTENSION
    from website_scan.plugins.scanning import extension_of  # Loads the scan engine, like the scan itself.

    return extension_of(plug_ins)


def plug_in_formats() -> dict[str, UsedPlugIn]:
    """Return the plug-ins that have export formats, by the name of the format."""
    return {name: plug_in for plug_in in enabled_plug_ins() for name in plug_in.description.formats}
