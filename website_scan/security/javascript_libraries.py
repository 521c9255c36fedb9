"""Common JavaScript libraries: recognition by a script's URL or license comment, and known vulnerabilities.

The data (`javascript_libraries.json`) are facts from CVE records. `manage.py refresh_libraries` updates the file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from website_scan.urls import Url

DATA = Path(__file__).with_suffix(".json")
BANNER_CHARACTERS = 64 * 1024
MAX_URL_LENGTH = 2048
MAX_LIBRARIES = 10

# After a hyphen, only these suffixes belong to the version; `-min`, `-dist`, `-patched` do not.
_VERSION = r"(\d{1,4}\.\d{1,4}\.\d{1,6}(?:-(?:wp|(?:alpha|beta|rc|pre|next|dev)[.-]?\d{0,4}))?)"
# Beginning of a comment, so that “needs jQuery v1.7.2” in the middle of a comment does not match.
_OPENING = r"(?:/\*[!*]{0,80}|//!?)[\s*!]{0,20}(?:@(?:license|preserve)[\s*]{1,10})?"
# Text after the version: a license, a URL or nothing. “jQuery v1.7.2 or later” must not match.
_CLOSING = r"(?=[ \t]{0,4}(?:[|(<*\r\n]|\Z|jquery\.com|copyright)|[ \t]{1,4}-)"
_SUFFIXES = r"(?:[.-](?:slim|min|bundle|full|esm|umd|global|prod|core|custom|pack|dist))*"

# Other names of a library's folder or file. On npm, other packages have these names.
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
# Names that a site's own files or folders may have, too, so they count only within the library's folder.
COMMON_WORDS = frozenset({"chart", "video"})


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """Vulnerability of the versions from `introduced` up to, but not including, `fixed`.

    `last` is the last vulnerable version if the vulnerability was never fixed; None means all later versions.
    """

    id: str
    introduced: str
    fixed: str | None
    last: str | None = None

    def affects(self, version: str) -> bool:
        key = version_key(version)
        if key < version_key(self.introduced):
            return False
        if self.fixed is not None:
            return key < version_key(self.fixed)
        return self.last is None or key <= version_key(self.last)


@dataclass(frozen=True, slots=True)
class Library:
    """Library with vulnerabilities from the data file. `package` is its npm name."""

    package: str
    name: str
    vulnerabilities: tuple[Vulnerability, ...]


@dataclass(frozen=True, slots=True)
class UsedLibrary:
    library: Library
    version: str

    @property
    def known_vulnerabilities(self) -> tuple[Vulnerability, ...]:
        return tuple(entry for entry in self.library.vulnerabilities if entry.affects(self.version))


@dataclass(frozen=True)
class _Data:
    as_of: str
    by_name: Mapping[str, Library]  # with aliases
    banners: tuple[tuple[re.Pattern[str], Library], ...]
    address: re.Pattern[str]


def as_of() -> str:
    """Return the day of the last update of the vulnerability data, such as 2025-04-30."""
    return _data().as_of


def library_of_url(url: str) -> UsedLibrary | None:
    """Recognize a library and its version by the URL of a script. None if the URL names no library.

    Examples: `jquery-3.4.1.min.js`, `/jquery@3.4.1/`, `/jquery/3.4.1/jquery.js`.
    """
    parsed = Url.parse(url[:MAX_URL_LENGTH])
    if parsed is None:
        return None
    data = _data()
    # WordPress puts the version of its bundled libraries in the query. On other sites `ver` may mean anything.
    path = parsed.path
    if "/wp-includes/js/" in path and (ver := re.match(rf"ver={_VERSION}\Z", parsed.query)):
        path = re.sub(r"(?:\.min)?\.js\Z", f"-{ver[1]}.js", path)
    for match in data.address.finditer(path.lower()):
        name = match["file"] or match["package"] or match["inside"]
        version = match["file_version"] or match["package_version"] or match["folder_version"]
        library = data.by_name[name]
        # WordPress patches its bundled jQuery without a new version number.
        if not version.endswith("-wp") and _names_library(match, library, path, data):
            return UsedLibrary(library, version)
    return None


def _names_library(match: re.Match[str], library: Library, path: str, data: _Data) -> bool:
    if match["package"]:
        is_scoped = path[: match.start()].rpartition("/")[2].startswith("@")
        return match["package"] == library.package and not is_scoped
    if match["file"]:
        return match["file"] not in COMMON_WORDS
    folder = match["folder"]
    return folder == "ui" or (folder not in COMMON_WORDS and data.by_name[folder] is library)


def libraries_of_banners(text: str) -> list[UsedLibrary]:
    """Return the libraries that a script's license comments name. Bundles contain several libraries."""
    libraries: dict[tuple[str, str], UsedLibrary] = {}
    start = text[:BANNER_CHARACTERS]
    for pattern, library in _data().banners:
        for match in pattern.finditer(start):
            if not match[1].endswith("-wp"):
                libraries[library.package, match[1]] = UsedLibrary(library, match[1])
    return list(libraries.values())[:MAX_LIBRARIES]


def version_key(version: str) -> tuple[int, ...]:
    """Return a version as a sort key: three numbers, then 0 for a pre-release or 1 for a release."""
    release, hyphen, _ = version.partition("-")
    numbers = [int(part) for part in release.split(".") if part.isdecimal()][:3]
    return (*numbers, *[0] * (3 - len(numbers)), 0 if hyphen else 1)


@functools.cache
def _data() -> _Data:
    raw = json.loads(DATA.read_text(encoding="utf-8"))
    libraries = list(_libraries(raw))
    by_name = {
        name: library for library, _ in libraries for name in (library.package, *ALIASES.get(library.package, ()))
    }
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    return _Data(
        as_of=raw["as_of"],
        by_name=by_name,
        banners=tuple(
            (re.compile(f"{_OPENING}{banner}{_VERSION}{_CLOSING}", re.IGNORECASE), library)
            for library, banner in libraries
            if banner
        ),
        address=re.compile(
            rf"/(?P<file>{names})-v?(?P<file_version>{_VERSION[1:-1]}){_SUFFIXES}\.js\Z"
            rf"|/(?P<package>{names})@(?P<package_version>{_VERSION[1:-1]})(?=/|\Z)"
            rf"|/(?P<folder>{names}|ui)/(?P<folder_version>{_VERSION[1:-1]})/(?:[a-z]+/)?"
            rf"(?P<inside>{names}){_SUFFIXES}\.js\Z"
        ),
    )


def _libraries(raw: Mapping[str, Any]) -> Iterator[tuple[Library, str]]:
    for entry in raw["libraries"]:
        vulnerabilities = tuple(
            Vulnerability(record["id"], record["introduced"], record["fixed"], record.get("last"))
            for record in entry["vulnerabilities"]
        )
        yield Library(entry["package"], entry["name"], vulnerabilities), entry["banner"]
