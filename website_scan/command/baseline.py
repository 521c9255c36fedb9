"""Baseline file with the fingerprints of accepted findings (ADR 11).

With it, the gate fails only for new findings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from website_scan import __version__
from website_scan.addresses import normal_address
from website_scan.command.errors import WrongUsage
from website_scan.command.gate import BASELINE_REASON, NOT_COMPARED_REASON, CommandReport
from website_scan.command.reported_page import ReportedPage
from website_scan.elements import element, prose
from website_scan.findings import ScanType
from website_scan.generated_names import mask_generated_parts
from website_scan.places import StyledElement
from website_scan.report.places import Row, is_cut, occurrences_by_fingerprint, rows
from website_scan.report_json import ExportedFinding, StoredPlaces
from website_scan.score_basis import recompute_score
from website_scan.written_urls import WrittenUrl, split_url

VERSION = 2
MAX_FILE_BYTES = 50_000_000
MAX_PLACE_CHARACTERS = 200
SERVED = "http://localhost"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
# The content of an element does not matter for faults in style sheets.
STYLED = frozenset({StyledElement.kind, "contrast-element", "tap-target"})
COLOURS = ("text_colour", "background", "surrounding")


class _Entry(TypedDict):
    """Accepted place of a finding.

    It has the number of occurrences on each page.
    """

    check: str
    fingerprint: str
    place: str
    pages: dict[str, int]


class _Page(TypedDict):
    """Page in the baseline file.

    `browser` is True for scan types that used a browser. `cut` are checks whose places were truncated.
    """

    browser: dict[str, bool]
    cut: list[str]


class Baseline(Struct, frozen=True):
    """Content of a baseline file.

    The keys of `pages` are names: paths, for states of journeys with the name of the state. The keys of `entries` are
    fingerprints.
    """

    path: Path
    origins: frozenset[str]
    pages: Mapping[str, _Page]
    entries: Mapping[str, _Entry]

    def accept(self, report: CommandReport, urls: Iterable[str]) -> CommandReport:
        """Return the report with the baseline's findings accepted.

        Its score is as if those checks had passed. `urls` are all pages of the command.
        """
        if self._is_other_site(report.url, urls):
            return report
        reasons = {check["id"]: self._reason(check, report) for _, check in report.findings()}
        covered = {id: reason for id, reason in reasons.items() if reason}
        if not covered:
            return report
        accepted = covered | dict(report.accepted)
        score_and_grade = recompute_score(report.scoring, accepted) if report.scoring else None
        score = score_and_grade[0] if score_and_grade else report.accepted_score
        return replace(report, accepted=accepted, accepted_score=score)

    def caveats(self, reports: Iterable[CommandReport]) -> Iterator[str]:
        """Yield a warning if only one side was made with a browser.

        The sides are the reports and the baseline file.
        """
        types: dict[bool, dict[str, None]] = {}
        for report in reports:
            had_browser = self._was_written_with_browser(report)
            if had_browser is not None and had_browser != _has_browser(report) and report.error is None:
                types.setdefault(had_browser, {})[report.type] = None
        for had_browser, names in types.items():
            how = "with a browser, this run without one" if had_browser else "without a browser, this run with one"
            effect = (
                "only the checks are compared, not the places" if had_browser else "their findings are not compared"
            )
            yield (
                f"{self.path} was written {how}: of {', '.join(names)}, {effect}. Use a browser for both or for "
                "neither, or write the file again with --write-baseline."
            )

    def _reason(self, finding: ExportedFinding, report: CommandReport) -> str:
        """Return why the baseline accepts a finding.

        Empty if the finding is new.
        """
        from website_scan.plan import origin_checks  # Importing this module imports all checks.

        page = self._page(report.page)
        had_browser = self._was_written_with_browser(report)
        if had_browser is not None and had_browser != _has_browser(report):
            return self._reason_by_check(finding, page, had_browser)
        if page and finding["id"] in self.pages[page]["cut"]:
            return BASELINE_REASON
        is_origin_check = finding["id"] in origin_checks(ScanType(report.type))
        known_page = page if page and report.type in self.pages[page]["browser"] and not is_origin_check else None
        has_only_known_places = all(
            len(texts) <= self._accepted_count(fingerprint, known_page, is_origin_check)
            for fingerprint, texts in occurrences_by_fingerprint(finding).items()
        )
        return BASELINE_REASON if has_only_known_places else ""

    def _reason_by_check(self, finding: ExportedFinding, page: str | None, had_browser: bool) -> str:
        """Return why the baseline accepts a finding, judging by its check.

        Only the file, or only the report, was made with a browser. Only checks are compared, because the places differ.
        A finding of a browser may be old if the file was written without a browser.
        """
        if not had_browser:
            return NOT_COMPARED_REASON
        entries = [entry for entry in self.entries.values() if entry["check"] == finding["id"]]
        return BASELINE_REASON if any(page is None or page in entry["pages"] for entry in entries) else ""

    def _accepted_count(self, fingerprint: str, page: str | None, is_origin_check: bool) -> int:
        """Return how often the baseline accepts a place on a page.

        `page` is None if the file lacks the page. A new page shares places of templates with other pages, but findings
        without a place, such as a missing title, are new on each page.
        """
        entry = self.entries.get(fingerprint)
        if entry is None:
            return 0
        if page is not None:
            return entry["pages"].get(page, 0)
        return max(entry["pages"].values()) if entry["place"] or is_origin_check else 0

    def _is_other_site(self, url: str, urls: Iterable[str]) -> bool:
        """Return True if the file lacks the URL's origin.

        False for a scan that is a preview of the file's site. Pages are a preview if none of them is on an origin of
        the file, and the file has only one origin.
        """
        is_preview = len(self.origins) == 1 and self.origins.isdisjoint(map(_origin, urls))
        return not is_preview and _origin(url) not in self.origins

    def _page(self, page: ReportedPage) -> str | None:
        """Return the name of the page in the baseline file.

        None if the file lacks the page. The address of a state, such as that of an order, may differ in each run. So
        its name suffices if only one page of the file has it.
        """
        origin = "" if len(self.origins) == 1 else _origin(page.url)
        parts = split_url(page.url)
        path = origin + (parts.path or "/")
        suffix = _state_suffix(page)
        known = next((name for name in (f"{path}?{parts.query}{suffix}", path + suffix) if name in self.pages), None)
        if known or not suffix:
            return known
        namesakes = [name for name in self.pages if name.endswith(suffix)]
        return namesakes[0] if len(namesakes) == 1 else None

    def _was_written_with_browser(self, report: CommandReport) -> bool | None:
        """Return True if the file was written with a browser for this page.

        If the file lacks the page, its other pages decide. None if the file has no page of this scan type.
        """
        name = self._page(report.page)
        pages_with_name = [self.pages[name]] if name else []
        usages = [
            page["browser"] for page in (*pages_with_name, *self.pages.values()) if report.type in page["browser"]
        ]
        return usages[0][report.type] if usages else None


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises WrongUsage.
    """
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(MAX_FILE_BYTES))
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
    """Read the descriptions of places from a baseline file, by fingerprint.

    Empty if the file is not a baseline.
    """
    # Reading a pipe would block until a program writes into it.
    if not path.is_file():
        return {}
    try:
        return {fingerprint: entry["place"] for fingerprint, entry in read_baseline(path).entries.items()}
    except WrongUsage:
        return {}


def baseline_text(
    reports: Sequence[CommandReport], preview_origin: str = "", words: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return a baseline file that accepts all findings.

    Sorted JSON with one finding of the reports on each line. An unchanged finding does not change its line: hosts,
    queries and generated names are not in the file, nor is the port of `preview_origin`, the origin of the server of
    `--serve`. `words` are the places of the file that is replaced (`read_place_texts`), which do not change.
    """
    reports = sorted(
        (report for report in reports if report.error is None), key=lambda report: (report.page, report.type)
    )
    origins = sorted({SERVED if _origin(report.url) == preview_origin else _origin(report.url) for report in reports})
    names = _names([report.page for report in reports])
    pages: dict[str, _Page] = {}
    entries: dict[str, _Entry] = {}
    for report in reports:
        name = names[report.page]
        page = pages.setdefault(name, {"browser": {}, "cut": []})
        page["browser"][report.type] = _has_browser(report)
        for _, check in (*report.findings(), *report.findings(accepted=True)):
            if is_cut(check):
                page["cut"] = sorted({*page["cut"], check["id"]})
            places = {**_stable_places(check, split_url(report.url)), **words}
            for fingerprint, texts in occurrences_by_fingerprint(check).items():
                empty: _Entry = {
                    "check": check["id"],
                    "fingerprint": fingerprint,
                    "place": places.get(fingerprint, "")[:MAX_PLACE_CHARACTERS],
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
    """Return stable descriptions of a finding's places, by fingerprint.

    Elements with the same fingerprint, such as the images of a list, may differ in content, which the
    description then omits.
    """
    texts_by_fingerprint: dict[str, dict[str, str]] = {}
    for table in finding["places"]:
        for fingerprint, row in zip(table["fingerprints"], rows(table), strict=True):
            texts = texts_by_fingerprint.setdefault(fingerprint, {})
            if table["names"] == ["selector"]:
                stable_description = _element(row, own, is_styled=True)
                texts[stable_description if table["kind"] in STYLED else _element(row, own)] = stable_description
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
            yield "" if text.lower().lstrip(".") == own.hostname else mask_generated_parts(text).lower()


def _lines(lines: Iterable[str]) -> str:
    return ",\n".join(f"    {line}" for line in lines)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_page(page: Mapping[str, Mapping[str, object]]) -> _Page:
    return {
        "browser": {str(name): bool(has_browser) for name, has_browser in page["browser"].items()},
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


def _state_suffix(page: ReportedPage) -> str:
    """Return the part of a page's name in the file that names a state of a journey. Empty for pages."""
    return f" “{page.state}”" if page.state else ""


def _names(pages: Sequence[ReportedPage]) -> dict[ReportedPage, str]:
    """Return the names of pages in the file.

    A name is the path, with origin and query only if they distinguish pages, and the name of a state.
    """
    have_same_origin = len({_origin(page.url) for page in pages}) == 1
    names = {}
    for page in pages:
        parts = split_url(page.url)
        others = [one for one in pages if one.state == page.state and _without_query(one) == _without_query(page)]
        query = f"?{parts.query}" if parts.query and len({split_url(one.url).query for one in others}) > 1 else ""
        origin = "" if have_same_origin else _origin(page.url)
        names[page] = origin + (parts.path or "/") + query + _state_suffix(page)
    return names


def _without_query(page: ReportedPage) -> str:
    return _origin(page.url) + (split_url(page.url).path or "/")


def _origin(url: str) -> str:
    try:
        parts = split_url(url.strip().lower())
    except ValueError:
        # The scan of an invalid URL fails, and its report is not in the baseline.
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host.removesuffix(DEFAULT_PORTS.get(parts.scheme, '-'))}"


def _has_browser(report: CommandReport) -> bool:
    return report.export.get("browser") is not None
