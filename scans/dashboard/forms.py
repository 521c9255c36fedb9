"""The form for new scans: what was entered, what was started, and what was refused, in the API's own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.authentication import Caller
from config.api.errors import refuse_in_maintenance
from config.errors import Refusal
from scans import services
from scans.models import Scan

# What a refusal is about; all others are about the form as a whole.
FIELDS = {"INVALID_URL": "url", "URL_NOT_REACHABLE": "url", "DOMAIN_BLOCKED": "url", "INVALID_TYPE": "types"}
DEFAULT_TYPES = (Scan.Type.SECURITY,)
HINTS = {
    Scan.Type.SECURITY: "TLS, headers, cookies, exposed files",
    Scan.Type.PERFORMANCE: "Loading, weight, caching",
    Scan.Type.ACCESSIBILITY: "WCAG 2.2, names, contrast",
    Scan.Type.SEO: "Indexing, links, structured data",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A type to tick."""

    value: str
    label: str
    hint: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class NewScan:
    """The form as it is shown: what was entered, and the refusal if there was one."""

    url: str = ""
    types: Sequence[str] = DEFAULT_TYPES
    refusal: Refusal | None = None

    @property
    def choices(self) -> list[Choice]:
        """The four types."""
        return [Choice(type, type.label, hint, type in self.types) for type, hint in HINTS.items()]

    @property
    def problems(self) -> dict[str, str]:
        """The refusal, under the field it is about; `form` for all others."""
        return {FIELDS.get(self.refusal.code, "form"): str(self.refusal)} if self.refusal else {}


@dataclass(frozen=True, slots=True)
class Started:
    """The IDs of the scans that were accepted; `refused` are the types that were not, and why."""

    scan_ids: Sequence[str]
    refused: Sequence[str] = ()
    refusal: Refusal | None = None


def start_scans(caller: Caller, url: str, types: Sequence[str]) -> Started:
    """A scan of each type, one after the other, until one is refused: what refuses one refuses the rest, too."""
    wanted: Sequence[str | None] = list(dict.fromkeys(types)) or [None]
    started: list[str] = []
    try:
        refuse_in_maintenance()
        for type in wanted:
            created = services.create_scan(caller=caller, url=url, type=type, idempotency_key=None)
            started.append(created.response["id"])
    except Refusal as refusal:
        return Started(started, [type for type in wanted[len(started) :] if type], refusal)
    return Started(started)
