"""Common JavaScript libraries: recognition by a script's address or opening comment, and known vulnerabilities.

The data (`javascript_libraries.json`) are facts from CVE records; the file says when they were collected.
`manage.py refresh_libraries` brings them up to date.
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
MAX_ADDRESS = 2048
MAX_LIBRARIES = 10

# After a hyphen, only these suffixes belong to the version; `-min`, `-dist`, `-patched` do not.
_VERSION = r"(\d{1,4}\.\d{1,4}\.\d{1,6}(?:-(?:wp|(?:alpha|beta|rc|pre|next|dev)[.-]?\d{0,4}))?)"
# An opening comment, so that “needs jQuery v1.7.2” in the middle of one does not match.
_OPENING = r"(?:/\*[!*]{0,80}|//!?)[\s*!]{0,20}(?:@(?:license|preserve)[\s*]{1,10})?"
# The end of a banner, so that “jQuery v1.7.2 or later” does not match: after the version comes a licence, an address or
# nothing.
_CLOSING = r"(?=[ \t]{0,4}(?:[|(<*\r\n]|\Z|jquery\.com|copyright)|[ \t]{1,4}-)"
_SUFFIXES = r"(?:[.-](?:slim|min|bundle|full|esm|umd|global|prod|core|custom|pack|dist))*"

# Other names of a library's folder or file. On npm these names are other packages.
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
# Words that a site's own files or folders may have, too. They count only in the library's folder.
COMMON_WORDS = frozenset({"chart", "video"})


@dataclass(frozen=True, slots=True)
class Vulnerability:
    """A vulnerability of the versions from `introduced` to before `fixed`.

    If it was never fixed, `last` is the last version that has it; None means all later versions.
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
    """A library of the data file. `package` is its name on npm."""

    package: str
    name: str
    vulnerabilities: tuple[Vulnerability, ...]


@dataclass(frozen=True, slots=True)
class UsedLibrary:
    library: Library
    version: str

    @property
    def known(self) -> tuple[Vulnerability, ...]:
        return tuple(each for each in self.library.vulnerabilities if each.affects(self.version))


@dataclass(frozen=True)
class _Data:
    as_of: str
    by_name: Mapping[str, Library]  # aliases too
    banners: tuple[tuple[re.Pattern[str], Library], ...]
    address: re.Pattern[str]


def as_of() -> str:
    """Return the day to which the data are up to date, such as 2025-04-30."""
    return _data().as_of


def by_address(url: str) -> UsedLibrary | None:
    """Recognize a library by an address. None if it names none.

    Examples: `jquery-3.4.1.min.js`, `/jquery@3.4.1/`, `/jquery/3.4.1/jquery.js`.
    """
    parsed = Url.parse(url[:MAX_ADDRESS])
    if parsed is None:
        return None
    data = _data()
    # WordPress gives the version of its own copies in the query. Elsewhere `ver` may mean anything.
    path = parsed.path
    if "/wp-includes/js/" in path and (ver := re.match(rf"ver={_VERSION}\Z", parsed.query)):
        path = re.sub(r"(?:\.min)?\.js\Z", f"-{ver[1]}.js", path)
    for found in data.address.finditer(path.lower()):
        name = found["file"] or found["package"] or found["inside"]
        version = found["file_version"] or found["package_version"] or found["folder_version"]
        library = data.by_name[name]
        # WordPress fixes its own old jQuery without a new version number.
        if not version.endswith("-wp") and _is_named(found, library, path, data):
            return UsedLibrary(library, version)
    return None


def _is_named(found: re.Match[str], library: Library, path: str, data: _Data) -> bool:
    if found["package"]:
        is_scoped = path[: found.start()].rpartition("/")[2].startswith("@")
        return found["package"] == library.package and not is_scoped
    if found["file"]:
        return found["file"] not in COMMON_WORDS
    folder = found["folder"]
    return folder == "ui" or (folder not in COMMON_WORDS and data.by_name[folder] is library)


def by_banner(text: str) -> list[UsedLibrary]:
    """Return the libraries that a script's comments name. Bundles have several."""
    found: dict[tuple[str, str], UsedLibrary] = {}
    start = text[:BANNER_CHARACTERS]
    for pattern, library in _data().banners:
        for match in pattern.finditer(start):
            if not match[1].endswith("-wp"):
                found[library.package, match[1]] = UsedLibrary(library, match[1])
    return list(found.values())[:MAX_LIBRARIES]


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
    for each in raw["libraries"]:
        vulnerabilities = tuple(
            Vulnerability(one["id"], one["introduced"], one["fixed"], one.get("last"))
            for one in each["vulnerabilities"]
        )
        yield Library(each["package"], each["name"], vulnerabilities), each["banner"]
