"""Baseline: a file of fingerprints of accepted findings (ADR 11), so that a gate fails only for new ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from scanner import __version__
from scanner.command.errors import WrongUsage
from scanner.command.judged import IN_BASELINE, Judged
from scanner.document import ExportedFinding
from scanner.fingerprints import page_path
from scanner.report.places import is_cut, places_of
from scanner.scoring import score_without

VERSION = 1
MAX_BYTES = 50_000_000


class _Entry(TypedDict):
    check: str
    fingerprint: str
    place: str


class _EntryOnPages(_Entry):
    pages: list[str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings of a baseline file.

    `anywhere` has fingerprints with a place: they are accepted on every page, as templates repeat the same fault.
    `on_page` has fingerprints without a place, accepted only on the path where they were found. `cut` has the checks
    that had as many places as a report holds: any place is accepted on that path, as the report may have left it out.
    """

    anywhere: frozenset[str]
    on_page: frozenset[tuple[str, str]]  # path and fingerprint
    cut: frozenset[tuple[str, str]]  # path and check

    def covers(self, finding: ExportedFinding, url: str) -> bool:
        """Return True if a failed or warned check of a JSON export has no new place."""
        path = page_path(url)
        if (path, finding["id"]) in self.cut:
            return True
        return all(each in self.anywhere or (path, each) in self.on_page for each in places_of(finding, url))

    def accept(self, judged: Judged) -> Judged:
        """Return the report with the covered checks marked as accepted, and its score as if they had passed."""
        covered = [check["id"] for _, check in judged.findings() if self.covers(check, judged.url)]
        if not covered:
            return judged
        accepted = dict.fromkeys(covered, IN_BASELINE) | dict(judged.accepted)
        found = score_without(judged.scoring, accepted) if judged.scoring else None
        return replace(judged, accepted=accepted, accepted_score=found[0] if found else judged.accepted_score)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file. Raises WrongUsage."""
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(MAX_BYTES))
        if said["version"] != VERSION:
            raise WrongUsage(
                f"{path} was written by another version of website-scan; create it again with --write-baseline."
            )
        entries = [
            (str(each["check"]), str(each["fingerprint"]), str(each["place"]), [str(path) for path in each["pages"]])
            for each in said["findings"]
        ]
        cut = frozenset((str(path), str(check)) for path, checks in said["cut"].items() for check in checks)
    except OSError as error:
        raise WrongUsage(f"{path} can't be read: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise WrongUsage(f"{path} is not a baseline: create one with --write-baseline.") from None
    return Baseline(
        anywhere=frozenset(fingerprint for _, fingerprint, place, _ in entries if place),
        on_page=frozenset(
            (page, fingerprint) for _, fingerprint, place, pages in entries if not place for page in pages
        ),
        cut=cut,
    )


def baseline_of(reports: Iterable[Judged]) -> str:
    """Return a baseline file that accepts all findings of the reports: sorted JSON, one line each, for short diffs."""
    entries: dict[str, _Entry] = {}
    pages: dict[str, set[str]] = {}
    cut: dict[str, set[str]] = {}
    for judged in reports:
        path = page_path(judged.url)
        for _, check in (*judged.findings(), *judged.findings(accepted=True)):
            if is_cut(check):
                cut.setdefault(path, set()).add(check["id"])
            for fingerprint, place in places_of(check, judged.url).items():
                entries.setdefault(fingerprint, {"check": check["id"], "fingerprint": fingerprint, "place": place})
                pages.setdefault(fingerprint, set()).add(path)
    found: list[_EntryOnPages] = [{**entries[each], "pages": sorted(pages[each])} for each in entries]
    found.sort(key=lambda entry: (entry["check"], entry["fingerprint"]))
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in found)
    cut_pages: Mapping[str, list[str]] = {path: sorted(checks) for path, checks in sorted(cut.items())}
    return (
        f'{{\n  "version": {VERSION},\n  "written_by": "website-scan {__version__}",\n'
        f'  "cut": {json.dumps(cut_pages)},\n  "findings": [\n{lines}\n  ]\n}}\n'
    )
