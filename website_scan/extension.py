"""Checks that a scan runs in addition to those of the catalogue.

They are requirements of the user, and checks of plug-ins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct, field

from website_scan.catalogue import VERSION_DIGITS, Check, Probe, catalogue_version
from website_scan.findings import ScanType
from website_scan.result import PlugIn


# Instances are compared by identity, so that plans can be cached.
class Extension(Struct, frozen=True, eq=False):
    """Additional checks, and the probes of their evidence by the class that they provide.

    Evidence of the catalogue's probes is available to the checks and to the probes. IDs of checks and of categories
    differ from those of the catalogue. `plug_ins` has the plug-in that added a category, by the category's ID.
    """

    checks: tuple[Check, ...] = ()
    probes: Mapping[type, Probe] = field(default_factory=dict)
    plug_ins: Mapping[str, PlugIn] = field(default_factory=dict)

    def __or__(self, other: Extension) -> Extension:
        """Return an extension with the checks of both."""
        return Extension(
            self.checks + other.checks, {**self.probes, **other.probes}, {**self.plug_ins, **other.plug_ins}
        )

    def checks_of(self, scan_type: ScanType) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.type is scan_type)

    def version(self, scan_type: ScanType) -> str:
        """Return the version of the catalogue that a scan with this extension is judged by.

        It is that of the catalogue unless a check of the extension affects the score.
        """
        own = catalogue_version(scan_type)
        weighing = [
            (check.id, check.severity, check.category_id, check.category.weight)
            for check in self.checks_of(scan_type)
            if check.category.weight
        ]
        return hashlib.sha256(repr((own, weighing)).encode()).hexdigest()[:VERSION_DIGITS] if weighing else own


NO_EXTENSION = Extension()
