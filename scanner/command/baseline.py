"""Accepted findings: a file of fingerprints (ADR 21), so that a gate can begin today and looks at what is new."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scanner import __version__
from scanner.command.errors import WrongUsage
from scanner.command.judged import IN_BASELINE, Check, Judged, is_cut, places
from scanner.fingerprints import page_path
from scanner.scoring import score_without

VERSION = 1
MAX_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class Baseline:
    """`anywhere` has fingerprints that name a place: the same fault of a template is accepted on every page.

    Those that name none are accepted on the page, by its path, on which they were found; so is any place of a finding
    that had as many as a report holds, for which of them are missing there is not known.
    """

    anywhere: frozenset[str]
    on_page: frozenset[tuple[str, str]]  # path and fingerprint
    cut: frozenset[tuple[str, str]]  # path and check

    def covers(self, check: Check, url: str) -> bool:
        """Whether a failed or warned check of a JSON export has no place that is new."""
        path = page_path(url)
        if (path, check["id"]) in self.cut:
            return True
        return all(each in self.anywhere or (path, each) in self.on_page for each in places(check, url))

    def accept(self, judged: Judged) -> Judged:
        """The report with what is covered marked, and its score as if that had passed."""
        covered = [check["id"] for _, check in judged.findings() if self.covers(check, judged.url)]
        if not covered:
            return judged
        accepted = dict.fromkeys(covered, IN_BASELINE) | dict(judged.accepted)
        found = score_without(judged.scoring, accepted) if judged.scoring else None
        return replace(judged, accepted=accepted, accepted_score=found[0] if found else judged.accepted_score)


def read_baseline(path: Path) -> Baseline:
    """Raises WrongUsage."""
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
    """The file that accepts all findings of these reports: JSON, a line for each, sorted, so that diffs are short."""
    entries: dict[str, dict[str, Any]] = {}
    pages: dict[str, set[str]] = {}
    cut: dict[str, set[str]] = {}
    for judged in reports:
        path = page_path(judged.url)
        for _, check in (*judged.findings(), *judged.findings(accepted=True)):
            if is_cut(check):
                cut.setdefault(path, set()).add(check["id"])
            for fingerprint, place in places(check, judged.url).items():
                entries.setdefault(fingerprint, {"check": check["id"], "fingerprint": fingerprint, "place": place})
                pages.setdefault(fingerprint, set()).add(path)
    found = [entries[each] | {"pages": sorted(pages[each])} for each in entries]
    found.sort(key=lambda entry: (entry["check"], entry["fingerprint"]))
    lines = ",\n".join(f"    {json.dumps(entry)}" for entry in found)
    cut_pages: Mapping[str, list[str]] = {path: sorted(checks) for path, checks in sorted(cut.items())}
    return (
        f'{{\n  "version": {VERSION},\n  "written_by": "website-scan {__version__}",\n'
        f'  "cut": {json.dumps(cut_pages)},\n  "findings": [\n{lines}\n  ]\n}}\n'
    )
