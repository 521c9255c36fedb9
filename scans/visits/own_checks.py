"""Checks of a visit in addition to those of the catalogue: own requirements, and those of plug-ins."""

from __future__ import annotations

from functools import lru_cache

from scans.own_requirements import requirements_of_column
from scans.plug_ins import scan_extension
from scans.visits.claims import ScanClaim
from website_scan.extension import Extension
from website_scan.requirements.building import extension_of


def extension_of_visit(claim: ScanClaim) -> Extension:
    """Return the checks of the visit's own requirements and of the enabled plug-ins.

    Those of types that the visit does not scan are not judged. Raises ValueError if this version refuses the stored
    requirements.
    """
    plug_ins = scan_extension()
    requirements = requirements_of_column(claim.requirements)
    if requirements is None:
        return plug_ins
    return _joined(extension_of(requirements), plug_ins)


# The pages of an audit have the same checks, and the plan of a scan is cached by them.
@lru_cache(maxsize=8)
def _joined(own: Extension, plug_ins: Extension) -> Extension:
    return own | plug_ins
