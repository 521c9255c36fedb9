"""Checks of a visit in addition to those of the catalogue."""

from __future__ import annotations

from scans.own_requirements import read_requirements
from scans.visits.claims import ScanClaim
from website_scan.extension import NO_EXTENSION, Extension
from website_scan.requirements.building import extension_of


def extension_of_visit(claim: ScanClaim) -> Extension:
    """Return the checks of the visit's own requirements.

    Those of types that the visit does not scan are not judged. Raises ValueError if this version refuses the stored
    requirements.
    """
    requirements = read_requirements(claim.requirements)
    return NO_EXTENSION if requirements is None else extension_of(requirements)
