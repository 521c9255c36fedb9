"""Baseline: a file of fingerprints of accepted findings (ADR 11), so that a gate fails only for new findings."""

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
MAX_PLACE = 200  # characters of a place in the file; the fingerprint is of the whole place
SERVED = "http://localhost"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# Kinds of places where a style sheet has the fault, whatever the content of the element.
STYLED = frozenset({StyledElement.kind, "contrast-element", "tap-target"})
COLOURS = ("text_colour", "background", "surrounding")


class _Entry(TypedDict):
    """Place of a finding, and the number of its occurrences by page."""

    check: str
    fingerprint: str
    place: str
    pages: dict[str, int]


class _Page(TypedDict):
    """Judged page: scan types, with True if a browser was used, and checks whose places were cut."""

    browser: dict[str, bool]
    cut: list[str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accepted findings of a baseline file. `pages` has judged pages by the name in the file, such as a path."""

    path: Path
    origins: frozenset[str]
    pages: Mapping[str, _Page]
    entries: Mapping[str, _Entry]  # by fingerprint

    def accept(self, judged: Judged, urls: Iterable[str]) -> Judged:
        """Return the report with the checks of the baseline accepted, and with its score as if they had passed.

        `urls` are all pages of the command.
        """
        if self._is_of_another_site(judged.url, urls):
            return judged
        reasons = {check["id"]: self._reason(check, judged) for _, check in judged.findings()}
        covered = {id: reason for id, reason in reasons.items() if reason}
        if not covered:
            return judged
        accepted = covered | dict(judged.accepted)
        score_and_grade = score_without(judged.scoring, accepted) if judged.scoring else None
        score = score_and_grade[0] if score_and_grade else judged.accepted_score
        return replace(judged, accepted=accepted, accepted_score=score)

    def caveats(self, reports: Iterable[Judged]) -> Iterator[str]:
        """Yield a warning if a browser judged only the reports, or only the pages of the file."""
        types: dict[bool, dict[str, None]] = {}
        for report in reports:
            had_browser = self._had_browser(report)
            if had_browser is not None and had_browser != _has_browser(report) and report.error is None:
                types.setdefault(had_browser, {})[report.type] = None
        for had_browser, names in types.items():
            how = "with a browser, this run without one" if had_browser else "without a browser, this run with one"
            effect = (
                "only their checks are compared, not the places" if had_browser else "their findings are not compared"
            )
            yield (
                f"{self.path} was written {how}: of {', '.join(names)}, {effect}. Use a browser for both or for "
                "neither, or write the file again with --write-baseline."
            )

    def _reason(self, finding: ExportedFinding, judged: Judged) -> str:
        """Return why the baseline accepts a finding; empty if the finding is new."""
        from website_scan.plan import origin_checks  # imports the checks

        page = self._page(judged.url)
        had_browser = self._had_browser(judged)
        if had_browser is not None and had_browser != _has_browser(judged):
            return self._reason_without_places(finding, page, had_browser)
        if page and finding["id"] in self.pages[page]["cut"]:
            return IN_BASELINE
        is_of_origin = finding["id"] in origin_checks(ScanType(judged.type))
        judged_page = page if page and judged.type in self.pages[page]["browser"] and not is_of_origin else None
        is_known = all(
            len(texts) <= self._accepted_count(fingerprint, judged_page, is_of_origin)
            for fingerprint, texts in occurrences_of(finding).items()
        )
        return IN_BASELINE if is_known else ""

    def _reason_without_places(self, finding: ExportedFinding, page: str | None, had_browser: bool) -> str:
        """Return why the baseline accepts a finding if a browser judged only the file's page, or only the report.

        Both have different places. A finding of a browser may be old if the file was written without a browser.
        """
        if not had_browser:
            return NOT_COMPARED
        entries = [entry for entry in self.entries.values() if entry["check"] == finding["id"]]
        return IN_BASELINE if any(page is None or page in entry["pages"] for entry in entries) else ""

    def _accepted_count(self, fingerprint: str, page: str | None, is_of_origin: bool) -> int:
        """Return how many occurrences of a place are accepted. `page` is None for a page that is not in the file.

        A new page shares places of templates with other pages, but findings without a place, such as a missing title,
        are new on each page.
        """
        entry = self.entries.get(fingerprint)
        if entry is None:
            return 0
        if page is not None:
            return entry["pages"].get(page, 0)
        return max(entry["pages"].values()) if entry["place"] or is_of_origin else 0

    def _is_of_another_site(self, url: str, urls: Iterable[str]) -> bool:
        """Return True if the page's origin is not in the file, unless the command scans a preview of the file's site.

        Pages are a preview if none of them is on an origin of the file, and the file has only one origin.
        """
        is_preview = len(self.origins) == 1 and self.origins.isdisjoint(map(_origin, urls))
        return not is_preview and _origin(url) not in self.origins

    def _page(self, url: str) -> str | None:
        """Return the name of a page in the file, None if the page is not in the file."""
        origin = "" if len(self.origins) == 1 else _origin(url)
        parts = split_url(url)
        path = origin + (parts.path or "/")
        return next((name for name in (f"{path}?{parts.query}", path) if name in self.pages), None)

    def _had_browser(self, judged: Judged) -> bool | None:
        """Return whether a browser judged the page, or else any page, when the file was written; None if no page."""
        name = self._page(judged.url)
        same_page = [self.pages[name]] if name else []
        usages = [page["browser"] for page in (*same_page, *self.pages.values()) if judged.type in page["browser"]]
        return usages[0][judged.type] if usages else None


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file. Raises WrongUsage."""
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(MAX_BYTES))
        if content["version"] != VERSION:
            raise WrongUsage(
                f"{path} was written by another version of website-scan; write it again with --write-baseline {path}"
            )
        return Baseline(
            path,
            frozenset(map(str, content["origins"])),
            {str(name): _read_page(page) for name, page in content["pages"].items()},
            {str(entry["fingerprint"]): _read_entry(entry) for entry in content["findings"]},
        )
    except OSError as error:
        raise WrongUsage(f"{path} can't be read: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise WrongUsage(f"{path} is not a baseline: create one with --write-baseline.") from None


def read_place_texts(path: Path) -> Mapping[str, str]:
    """Return the places in an existing baseline, in words, by fingerprint; empty if no baseline can be read."""
    if not path.is_file():  # reading a pipe would wait for its writer
        return {}
    try:
        return {fingerprint: entry["place"] for fingerprint, entry in read_baseline(path).entries.items()}
    except WrongUsage:
        return {}


def baseline_text(
    reports: Sequence[Judged], served_at: str = "", words: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return a baseline file that accepts all findings of the reports: sorted JSON, one line each, for short diffs.

    An unchanged finding does not change its line: hosts, queries and generated names are not in the file, nor is the
    port of `served_at`, the origin of the server of `--serve`. `words` are the places of the file that is replaced
    (`read_place_texts`), which do not change.
    """
    reports = sorted(
        (report for report in reports if report.error is None), key=lambda report: (report.url, report.type)
    )
    origins = sorted({SERVED if _origin(report.url) == served_at else _origin(report.url) for report in reports})
    names = _names([report.url for report in reports])
    pages: dict[str, _Page] = {}
    entries: dict[str, _Entry] = {}
    for judged in reports:
        name = names[judged.url]
        page = pages.setdefault(name, {"browser": {}, "cut": []})
        page["browser"][judged.type] = _has_browser(judged)
        for _, check in (*judged.findings(), *judged.findings(accepted=True)):
            if is_cut(check):
                page["cut"] = sorted({*page["cut"], check["id"]})
            places = {**_stable_places(check, split_url(judged.url)), **words}
            for fingerprint, texts in occurrences_of(check).items():
                empty: _Entry = {
                    "check": check["id"],
                    "fingerprint": fingerprint,
                    "place": places.get(fingerprint, "")[:MAX_PLACE],
                    "pages": {},
                }
                counts = entries.setdefault(fingerprint, empty)["pages"]
                counts[name] = max(counts.get(name, 0), len(texts))
    ordered = sorted(entries.values(), key=lambda entry: (entry["check"], entry["place"], entry["fingerprint"]))
    return (
        f'{{\n  "version": {VERSION},\n  "written_by": "website-scan {__version__}",\n'
        f'  "origins": {json.dumps(origins)},\n'
        f'  "pages": {{\n{_lines(f"{json.dumps(name)}: {_line(pages[name])}" for name in sorted(pages))}\n  }},\n'
        f'  "findings": [\n{_lines(map(_line, ordered))}\n  ]\n}}\n'
    )


def _stable_places(finding: ExportedFinding, own: WrittenUrl) -> dict[str, str]:
    """Return the places of a finding by fingerprint, in words that are the same in each scan.

    Elements with the same fingerprint, such as the images of a list, may differ in content. Then the words omit it.
    """
    texts_by_fingerprint: dict[str, dict[str, str]] = {}
    for table in finding["places"]:
        for fingerprint, row in zip(table["fingerprints"], rows(table), strict=True):
            texts = texts_by_fingerprint.setdefault(fingerprint, {})
            if table["names"] == ["selector"]:
                without_content = _element(row, own, is_styled=True)
                texts[without_content if table["kind"] in STYLED else _element(row, own)] = without_content
            else:
                text = " ".join(_name_parts(table, row, own))
                texts[text] = text
    return {
        fingerprint: min(texts if len(texts) == 1 else texts.values())
        for fingerprint, texts in texts_by_fingerprint.items()
    }


def _element(row: Row, own: WrittenUrl, *, is_styled: bool = False) -> str:
    path, markup, source, why = (str(row.get(name) or "") for name in ("selector", "snippet", "url", "why"))
    colours = " ".join(str(row[name]) for name in COLOURS if row.get(name))
    return element(path, markup, own, source=source, is_styled=is_styled, why=colours or why)


def _name_parts(table: StoredPlaces, row: Row, own: WrittenUrl) -> Iterator[str]:
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
    return ",\n".join(f"    {line}" for line in lines)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_page(page: Mapping[str, Mapping[str, object]]) -> _Page:
    return {
        "browser": {str(name): bool(had) for name, had in page["browser"].items()},
        "cut": [str(check_id) for check_id in page["cut"]],
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
    """Return a name for each page: its path, with the origin or the query only if pages differ in them."""
    is_one_origin = len(set(map(_origin, urls))) == 1
    names = {}
    for url in urls:
        parts = split_url(url)
        queries = {split_url(other).query for other in urls if _without_query(other) == _without_query(url)}
        query = f"?{parts.query}" if parts.query and len(queries) > 1 else ""
        names[url] = ("" if is_one_origin else _origin(url)) + (parts.path or "/") + query
    return names


def _without_query(url: str) -> str:
    return _origin(url) + (split_url(url).path or "/")


def _origin(url: str) -> str:
    try:
        parts = split_url(url.strip().lower())
    except ValueError:  # an invalid URL, whose scan fails
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host.removesuffix(DEFAULT_PORTS.get(parts.scheme, '-'))}"


def _has_browser(judged: Judged) -> bool:
    return judged.export.get("browser") is not None
