"""Recognition of JavaScript libraries and their vulnerabilities.

A script's URL, license comment or code identifies them.

The data (`javascript_libraries.json`) are facts from CVE records. `manage.py refresh_libraries` updates the file.
Of a library, `banner` stands before the version in the license comment, and `code` are patterns of its code, with § for
the version. `unnumbered` are license comments without a version, with the last version that has this comment.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from website_scan.urls import Url

DATA = Path(__file__).with_suffix(".json")
MAX_SEARCHED_CHARACTERS = 64 * 1024
MAX_URL_CHARACTERS = 2048
MAX_LIBRARIES = 10

# Suffixes such as `-min` and `-dist` are not part of a version.
_VERSION = r"(\d{1,4}\.\d{1,4}\.\d{1,6}(?:-(?:wp|(?:alpha|beta|rc|pre|next|dev)[.-]?\d{0,4}))?)"
# “needs jQuery v1.7.2” in the middle of a comment must not match.
_OPENING = r"(?:/\*[!*]{0,80}|//!?)[\s*!]{0,20}(?:@(?:license|preserve)[\s*]{1,10})?"
# “jQuery v1.7.2 or later” must not match.
_CLOSING = r"(?=[ \t]{0,4}(?:[|(<*\r\n]|\Z|jquery\.com|copyright)|[ \t]{1,4}-)"
_SUFFIXES = r"(?:[.-](?:slim|min|bundle|full|esm|umd|global|prod|core|custom|pack|dist))*"

# Names of a library's folder or file that belong to other packages on npm.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "angular": ("angularjs", "angular.js"),
    "chart.js": ("chart",),
    "dompurify": ("purify",),
    "handlebars": ("handlebars.js",),
    "jquery-ui": ("jqueryui", "jquery.ui"),
    "jquery-validation": ("jquery-validate", "jquery.validate"),
    "lodash": ("lodash.js",),
    "moment": ("moment.js",),
    "mustache": ("mustache.js",),
    "underscore": ("underscore.js",),
    "video.js": ("videojs", "video"),
}
# Common words that count as a library's name only within the library's folder.
AMBIGUOUS_LIBRARY_NAMES = frozenset({"chart", "video"})


class Vulnerability(Struct, frozen=True):
    """Vulnerability of a range of library versions.

    They begin with `introduced` and end before `fixed`.

    `last` is the last vulnerable version if the vulnerability was never fixed; None means all later versions.
    """

    id: str
    introduced: str
    fixed: str | None
    last: str | None = None

    def affects(self, version: str) -> bool:
        key = version_sort_key(version)
        if key < version_sort_key(self.introduced):
            return False
        if self.fixed is not None:
            return key < version_sort_key(self.fixed)
        return self.last is None or key <= version_sort_key(self.last)


class Library(Struct, frozen=True):
    """JavaScript library with its vulnerabilities from the data file.

    `package` is its npm name.
    """

    package: str
    name: str
    vulnerabilities: tuple[Vulnerability, ...]


class UsedLibrary(Struct, frozen=True):
    """Library that a page loads.

    If `is_latest_possible`, its version is unknown, but at most `version`.
    """

    library: Library
    version: str
    is_latest_possible: bool = False

    @property
    def version_text(self) -> str:
        return f"{self.version} or older" if self.is_latest_possible else self.version

    @property
    def known_vulnerabilities(self) -> tuple[Vulnerability, ...]:
        return tuple(
            entry
            for entry in self.library.vulnerabilities
            if entry.affects(self.version) and (entry.introduced == "0" or not self.is_latest_possible)
        )


class _LibraryData(Struct, frozen=True):
    last_update: str
    library_by_name: Mapping[str, Library]
    patterns: tuple[tuple[re.Pattern[str], Library], ...]
    unnumbered: tuple[tuple[re.Pattern[str], UsedLibrary], ...]
    address: re.Pattern[str]


def last_update() -> str:
    """Return the date of the vulnerability data, such as 2025-04-30.

    This is the date of its last update.
    """
    return _load_data().last_update


def find_library_by_url(url: str) -> UsedLibrary | None:
    """Recognize a library and its version by the URL of a script.

    None if the URL contains no library.

    Examples: `jquery-3.4.1.min.js`, `/jquery@3.4.1/`, `/jquery/3.4.1/jquery.js`.
    """
    parsed = Url.parse(url[:MAX_URL_CHARACTERS])
    if parsed is None:
        return None
    data = _load_data()
    # WordPress adds the version of its bundled libraries to the query. On other sites, `ver` may mean anything.
    path = parsed.path
    if "/wp-includes/js/" in path and (ver := re.match(rf"ver={_VERSION}\Z", parsed.query)):
        path = re.sub(r"(?:\.min)?\.js\Z", f"-{ver[1]}.js", path)
    for match in data.address.finditer(path.lower()):
        name = match["file"] or match["package"] or match["inside"]
        version = match["file_version"] or match["package_version"] or match["folder_version"]
        library = data.library_by_name[name]
        # WordPress patches its bundled jQuery without a new version number.
        if not version.endswith("-wp") and _is_match_of_library(match, library, path, data):
            return UsedLibrary(library, version)
    return None


def _is_match_of_library(match: re.Match[str], library: Library, path: str, data: _LibraryData) -> bool:
    if match["package"]:
        is_scoped_package = path[: match.start()].rpartition("/")[2].startswith("@")
        return match["package"] == library.package and not is_scoped_package
    if match["file"]:
        return match["file"] not in AMBIGUOUS_LIBRARY_NAMES
    folder = match["folder"]
    return folder == "ui" or (folder not in AMBIGUOUS_LIBRARY_NAMES and data.library_by_name[folder] is library)


def find_libraries_in_script(text: str) -> list[UsedLibrary]:
    """Return the libraries in a script's license comments and code.

    Bundles contain several libraries.
    """
    libraries: dict[tuple[str, str], UsedLibrary] = {}
    start = text[:MAX_SEARCHED_CHARACTERS]
    data = _load_data()
    for pattern, library in data.patterns:
        for match in pattern.finditer(start):
            if not match[1].endswith("-wp"):
                libraries[library.package, match[1]] = UsedLibrary(library, match[1])
    for pattern, used in data.unnumbered:
        if pattern.search(start):
            libraries.setdefault((used.library.package, used.version), used)
    return list(libraries.values())[:MAX_LIBRARIES]


def version_sort_key(version: str) -> tuple[int, ...]:
    """Return a version as a sort key.

    The key has three numbers, then 0 for a pre-release or 1 for a release.
    """
    release, hyphen, _ = version.partition("-")
    numbers = [int(part) for part in release.split(".") if part.isdecimal()][:3]
    return (*numbers, *[0] * (3 - len(numbers)), 0 if hyphen else 1)


@functools.cache
def _load_data() -> _LibraryData:
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    libraries = [_read_library(entry) for entry in raw["libraries"]]
    library_by_name = {
        name: library for library in libraries for name in (library.package, *ALIASES.get(library.package, ()))
    }
    names = "|".join(re.escape(name) for name in sorted(library_by_name, key=len, reverse=True))
    return _LibraryData(
        last_update=raw["as_of"],
        library_by_name=library_by_name,
        patterns=tuple(
            (pattern, library)
            for library, entry in zip(libraries, raw["libraries"], strict=True)
            for pattern in _version_patterns(entry)
        ),
        unnumbered=tuple(
            (re.compile(_OPENING + comment, re.IGNORECASE), UsedLibrary(library, version, is_latest_possible=True))
            for library, entry in zip(libraries, raw["libraries"], strict=True)
            for comment, version in entry.get("unnumbered", {}).items()
        ),
        address=re.compile(
            rf"/(?P<file>{names})-v?(?P<file_version>{_VERSION[1:-1]}){_SUFFIXES}\.js\Z"
            rf"|/(?P<package>{names})@(?P<package_version>{_VERSION[1:-1]})(?=/|\Z)"
            rf"|/(?P<folder>{names}|ui)/(?P<folder_version>{_VERSION[1:-1]})/(?:[a-z]+/)?"
            rf"(?P<inside>{names}){_SUFFIXES}\.js\Z"
        ),
    )


def _read_library(entry: Mapping[str, Any]) -> Library:
    vulnerabilities = tuple(
        Vulnerability(record["id"], record["introduced"], record["fixed"], record.get("last"))
        for record in entry["vulnerabilities"]
    )
    return Library(entry["package"], entry["name"], vulnerabilities)


def _version_patterns(entry: Mapping[str, Any]) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of a library's license comment and code.

    Their first group is the version.
    """
    if entry["banner"]:
        yield re.compile(f"{_OPENING}{entry['banner']}{_VERSION}{_CLOSING}", re.IGNORECASE)
    for code in entry.get("code", ()):
        yield re.compile(code.replace("§", _VERSION))
