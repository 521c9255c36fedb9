"""Baseline: a file of fingerprints of accepted findings (ADR 11), so that a gate fails only for new ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from website_scan import __version__
from website_scan.addresses import normal_address
from website_scan.command.errors import WrongUsage
from website_scan.command.judged import IN_BASELINE, NOT_COMPARED, Judged
from website_scan.elements import element, prose
from website_scan.findings import ScanType
from website_scan.generated_names import without_generated
from website_scan.places import StyledElement
from website_scan.report.places import Row, is_cut, occurrences_of, rows
from website_scan.report_json import ExportedFinding, StoredPlaces
from website_scan.score_basis import score_without
from website_scan.written_urls import WrittenUrl, split_url

VERSION = 2
MAX_BYTES = 50_000_000
PLACE = 200  # characters of a place in the file; its fingerprint is of all of it
SERVED = "http://localhost"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# Kinds of places in whose elements a style sheet is at fault, whatever they contain.
STYLED = frozenset({StyledElement.kind, "contrast-element", "tap-target"})
COLOURS = ("text_colour", "background", "surrounding")


class _Entry(TypedDict):
    """A place of a finding, and how often each page has it."""

    check: str
    fingerprint: str
    place: str
    pages: dict[str, int]


class _Page(TypedDict):
    """A judged page: the scan types, each with True if a browser judged it, and the checks whose places were cut."""

    browser: dict[str, bool]
    cut: list[str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings of a baseline file. Pages are named as in the file."""

    path: Path
    origins: frozenset[str]
    pages: Mapping[str, _Page]
    entries: Mapping[str, _Entry]  # by fingerprint

    def accept(self, judged: Judged, urls: Iterable[str]) -> Judged:
        """Return the report with the covered checks marked as accepted, and its score as if they had passed.

        `urls` are all pages of the run.
        """
        if self._is_of_another_site(judged.url, urls):
            return judged
        reasons = {check["id"]: self._reason(check, judged) for _, check in judged.findings()}
        covered = {id: reason for id, reason in reasons.items() if reason}
        if not covered:
            return judged
        accepted = covered | dict(judged.accepted)
        found = score_without(judged.scoring, accepted) if judged.scoring else None
        return replace(judged, accepted=accepted, accepted_score=found[0] if found else judged.accepted_score)

    def caveats(self, reports: Iterable[Judged]) -> Iterator[str]:
        """Yield a sentence for each way in which the reports and the file differ in the use of a browser."""
        types: dict[bool, dict[str, None]] = {}
        for each in reports:
            was = self._had_browser(each)
            if was is not None and was != _has_browser(each) and each.error is None:
                types.setdefault(was, {})[each.type] = None
        for was, names in types.items():
            how = "with a browser, this run without one" if was else "without a browser, this run with one"
            left = "only their checks are compared, not the places" if was else "their findings are not compared"
            yield (
                f"{self.path} was written {how}: of {', '.join(names)}, {left}. Use a browser for both or for neither, "
                "or write the file again with --write-baseline."
            )

    def _reason(self, finding: ExportedFinding, judged: Judged) -> str:
        """Return why a finding is accepted; empty if it is new."""
        from website_scan.plan import origin_checks  # loads the checks

        page = self._page(judged.url)
        had_browser = self._had_browser(judged)
        if had_browser is not None and had_browser != _has_browser(judged):
            return self._reason_without_places(finding, page, had_browser)
        if page and finding["id"] in self.pages[page]["cut"]:
            return IN_BASELINE
        is_of_origin = finding["id"] in origin_checks(ScanType(judged.type))
        known = page if page and judged.type in self.pages[page]["browser"] and not is_of_origin else None
        found = occurrences_of(finding)
        is_known = all(len(texts) <= self._accepted(each, known, is_of_origin) for each, texts in found.items())
        return IN_BASELINE if is_known else ""

    def _reason_without_places(self, finding: ExportedFinding, page: str | None, had_browser: bool) -> str:
        """Judge a finding where one of file and report comes from a browser, which names other places.

        A browser sees what the markup alone does not show, so what only a browser finds may be old.
        """
        if not had_browser:
            return NOT_COMPARED
        same_check = [each for each in self.entries.values() if each["check"] == finding["id"]]
        return IN_BASELINE if any(page is None or page in each["pages"] for each in same_check) else ""

    def _accepted(self, fingerprint: str, page: str | None, is_of_origin: bool) -> int:
        """Return how often a page may have a place. `page` is None for a page that was not judged for the file.

        Such a page shares templates with the others, but the lack of a title is a fault of its own on each page.
        """
        entry = self.entries.get(fingerprint)
        if entry is None:
            return 0
        if page is not None:
            return entry["pages"].get(page, 0)
        return max(entry["pages"].values()) if entry["place"] or is_of_origin else 0

    def _is_of_another_site(self, url: str, urls: Iterable[str]) -> bool:
        """Return True if the file does not know the page's origin, although it knows another one.

        A run on none of the file's origins is a preview. Then hosts are ignored, if the file has only one.
        """
        is_preview = len(self.origins) == 1 and self.origins.isdisjoint(map(_origin, urls))
        return not is_preview and _origin(url) not in self.origins

    def _page(self, url: str) -> str | None:
        """Return the name of the page in the file, None if it was not judged for it."""
        origin = "" if len(self.origins) == 1 else _origin(url)
        parts = split_url(url)
        path = origin + (parts.path or "/")
        return next((each for each in (f"{path}?{parts.query}", path) if each in self.pages), None)

    def _had_browser(self, judged: Judged) -> bool | None:
        """Return whether a browser judged the page for the file, or any page if not this one; None if no page was."""
        page = self._page(judged.url)
        named = [self.pages[page]] if page else []
        known = [each["browser"] for each in (*named, *self.pages.values()) if judged.type in each["browser"]]
        return known[0][judged.type] if known else None


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file. Raises WrongUsage."""
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(MAX_BYTES))
        if said["version"] != VERSION:
            raise WrongUsage(
                f"{path} was written by another version of website-scan; write it again with --write-baseline {path}"
            )
        return Baseline(
            path,
            frozenset(map(str, said["origins"])),
            {str(name): _read_page(page) for name, page in said["pages"].items()},
            {str(each["fingerprint"]): _read_entry(each) for each in said["findings"]},
        )
    except OSError as error:
        raise WrongUsage(f"{path} can't be read: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise WrongUsage(f"{path} is not a baseline: create one with --write-baseline.") from None


def words_in(path: Path) -> Mapping[str, str]:
    """Return the words for places in an existing baseline, by fingerprint; empty if there is none that can be read."""
    if not path.is_file():  # reading a pipe would wait for its writer
        return {}
    try:
        return {fingerprint: entry["place"] for fingerprint, entry in read_baseline(path).entries.items()}
    except WrongUsage:
        return {}


def baseline_of(reports: Sequence[Judged], served_at: str = "", words: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a baseline file that accepts all findings of the reports: sorted JSON, one line each, for short diffs.

    An unchanged finding does not change its line: hosts, queries and generated names are not in the file. Nor is the
    port of `served_at`, the origin of a folder that was served for this run only. `words` are those of the file that is
    replaced (`words_in`): its places keep them.
    """
    reports = sorted((each for each in reports if each.error is None), key=lambda each: (each.url, each.type))
    origins = sorted({SERVED if _origin(each.url) == served_at else _origin(each.url) for each in reports})
    names = _names([each.url for each in reports])
    pages: dict[str, _Page] = {}
    entries: dict[str, _Entry] = {}
    for judged in reports:
        name = names[judged.url]
        page = pages.setdefault(name, {"browser": {}, "cut": []})
        page["browser"][judged.type] = _has_browser(judged)
        for _, check in (*judged.findings(), *judged.findings(accepted=True)):
            if is_cut(check):
                page["cut"] = sorted({*page["cut"], check["id"]})
            places = {**_enduring(check, split_url(judged.url)), **words}
            for each, texts in occurrences_of(check).items():
                empty: _Entry = {
                    "check": check["id"],
                    "fingerprint": each,
                    "place": places.get(each, "")[:PLACE],
                    "pages": {},
                }
                counts = entries.setdefault(each, empty)["pages"]
                counts[name] = max(counts.get(name, 0), len(texts))
    found = sorted(entries.values(), key=lambda entry: (entry["check"], entry["place"], entry["fingerprint"]))
    return (
        f'{{\n  "version": {VERSION},\n  "written_by": "website-scan {__version__}",\n'
        f'  "origins": {json.dumps(origins)},\n'
        f'  "pages": {{\n{_lines(f"{json.dumps(name)}: {_line(pages[name])}" for name in sorted(pages))}\n  }},\n'
        f'  "findings": [\n{_lines(map(_line, found))}\n  ]\n}}\n'
    )


def _enduring(finding: ExportedFinding, own: WrittenUrl) -> dict[str, str]:
    """Return the places of a finding by their fingerprints, in words that do not change from run to run.

    Fingerprints are made of more than a report stores. So elements with one fingerprint, such as the images of a list,
    may differ in content, which their words leave out then.
    """
    found: dict[str, dict[str, str]] = {}
    for table in finding["places"]:
        for each, row in zip(table["fingerprints"], rows(table), strict=True):
            if table["names"] == ["selector"]:
                kind = _element(row, own, is_styled=True)
                found.setdefault(each, {})[kind if table["kind"] in STYLED else _element(row, own)] = kind
            else:
                text = " ".join(_named(table, row, own))
                found.setdefault(each, {})[text] = text
    return {each: min(texts if len(texts) == 1 else texts.values()) for each, texts in found.items()}


def _element(row: Row, own: WrittenUrl, *, is_styled: bool = False) -> str:
    path, markup, source, why = (str(row.get(name) or "") for name in ("selector", "snippet", "url", "why"))
    colours = " ".join(str(row[name]) for name in COLOURS if row.get(name))
    return element(path, markup, own, source=source, is_styled=is_styled, why=colours or why)


def _named(table: StoredPlaces, row: Row, own: WrittenUrl) -> Iterator[str]:
    formats = {column["name"]: column["format"] for column in table["columns"]}
    for name in table["names"]:
        text = str(row[name] or "").strip()
        if formats[name] == "address":
            yield normal_address(text, own)
        elif formats[name] in ("text", "code"):
            yield prose(text)
        else:
            yield "" if text.lower().lstrip(".") == own.hostname else without_generated(text).lower()


def _lines(lines: Iterable[str]) -> str:
    return ",\n".join(f"    {each}" for each in lines)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_page(page: Mapping[str, Mapping[str, object]]) -> _Page:
    return {
        "browser": {str(name): bool(had) for name, had in page["browser"].items()},
        "cut": [str(each) for each in page["cut"]],
    }


def _read_entry(entry: Mapping[str, object]) -> _Entry:
    pages = entry["pages"]
    if not isinstance(pages, dict) or not pages:
        raise ValueError("a finding is on at least one page")
    return {
        "check": str(entry["check"]),
        "fingerprint": str(entry["fingerprint"]),
        "place": str(entry["place"]),
        "pages": {str(name): int(count) for name, count in pages.items()},
    }


def _names(urls: Sequence[str]) -> dict[str, str]:
    """Return a name for each page: its path, with the origin or the query only if they tell the pages apart."""
    is_one_origin = len(set(map(_origin, urls))) == 1
    names = {}
    for url in urls:
        parts = split_url(url)
        twins = {split_url(each).query for each in urls if _without_query(each) == _without_query(url)}
        query = f"?{parts.query}" if parts.query and len(twins) > 1 else ""
        names[url] = ("" if is_one_origin else _origin(url)) + (parts.path or "/") + query
    return names


def _without_query(url: str) -> str:
    return _origin(url) + (split_url(url).path or "/")


def _origin(url: str) -> str:
    try:
        parts = split_url(url.strip().lower())
    except ValueError:  # the scan refuses it
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host.removesuffix(DEFAULT_PORTS.get(parts.scheme, '-'))}"


def _has_browser(judged: Judged) -> bool:
    return judged.document.get("browser") is not None
