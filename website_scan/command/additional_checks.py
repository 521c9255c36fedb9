"""Checks that scans of the command run in addition to the catalogue: own requirements, and those of plug-ins."""

from __future__ import annotations

from functools import lru_cache

from website_scan.command.plug_ins import extension_of_command
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.requirements.model import Requirements


def additional_checks(requirements: Requirements, *, uses_plug_ins: bool) -> Extension:
    """Return the checks of the user's requirements and of installed plug-ins.

    The result is the same object for all pages of a command, so that the plan of a scan is made once.
    """
    plug_ins = extension_of_command(uses_plug_ins=uses_plug_ins)
    if not requirements.rules:
        return plug_ins or NO_EXTENSION
    from website_scan.requirements.building import extension_of  # Few commands have requirements.

    own = extension_of(requirements)
    return _joined(own, plug_ins) if plug_ins else own


@lru_cache(maxsize=1)
def _joined(own: Extension, plug_ins: Extension) -> Extension:
    return own | plug_ins
