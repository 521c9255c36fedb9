"""Options for journeys: `--journey`, `--secret`, `--secrets`, `--pictures` and `--dry-run`.

The reader of a journey is imported only if there is one, because few commands have one.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from website_scan.command.errors import WrongUsage
from website_scan.command.journey_source import RECORDING, JourneySource
from website_scan.command.pages import canonical_pages
from website_scan.records import repr_without

if TYPE_CHECKING:
    from website_scan.journeys.passwords import ReadJourney

OPTIONS = ("secret", "secrets", "pictures", "dry_run")
MAX_FILE_BYTES = 256 * 1024
MAX_JOURNEYS = 20
STEPS = ".txt"
# Addresses are relative to this one until the server of --serve has an address.
UNKNOWN_ORIGIN = "http://localhost"
FILE_CONFIGURATION = "website-scan.toml"


class JourneyOptions(Struct, frozen=True):
    """Journeys to execute.

    `base_url` is the address that addresses of the short form are relative to. It is empty without one, and a path if
    the server of `--serve` serves it. `start_urls` are the first addresses of the journeys. `secrets` are the values of
    the journeys' secrets by name. `pictures` is the folder for the pictures of all steps. `widths` are those of
    `--width`, without which accessibility is judged on the screen of the journey.
    """

    sources: tuple[JourneySource, ...]
    base_url: str = ""
    start_urls: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)
    pictures: Path | None = None
    widths: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return repr_without(self, "secrets")

    is_dry_run: bool = False

    def unfinished(self, finished: Collection[str], preview_origin: str) -> tuple[str, ...]:
        """Return the first addresses of the journeys that are not among the `finished` titles."""
        starts = {read.journey.title: read.journey.start_url for read in self.read(preview_origin)}
        return tuple(url for title, url in starts.items() if title not in finished)

    def read(self, preview_origin: str) -> list[ReadJourney]:
        """Read all journeys. `preview_origin` is that of the server of `--serve`, if it runs."""
        return [source.read(_absolute(self.base_url, preview_origin)) for source in self.sources]


def add_journey_options(group: argparse._ArgumentGroup) -> None:
    """Add the options to the parser. The help mentions them in one line."""
    add = group.add_argument
    about = "steps in a browser; also --secret, --dry-run"
    add("--journey", type=Path, action="append", metavar="FILE", help=about)
    add("--secret", action="append", metavar="NAME=VALUE", help=argparse.SUPPRESS)
    add("--secrets", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    add("--pictures", type=Path, metavar="DIR", help=argparse.SUPPRESS)
    add("--dry-run", action="store_true", default=None, help=argparse.SUPPRESS)


def choose_journeys_or_site(typed: Mapping[str, Any], file_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the file without those that the command line replaces.

    A journey on the command line replaces the journeys and the site of the file, and a site replaces journeys. Raises
    WrongUsage for a journey and a site at once.
    """
    site = ("site", "sitemap", "max_pages", "include", "exclude")
    journeys = ("journey", "journeys")
    if "journey" in typed:
        if named := next((name for name in site if name in typed), None):
            raise WrongUsage(f"Use --journey or --{named.replace('_', '-')}, not both.")
        ignored = {*site, *journeys}
    elif "site" in typed or "sitemap" in typed:
        ignored = set(journeys)
    else:
        ignored = set()
        if any(name in file_options for name in journeys) and {"site", "sitemap"} & file_options.keys():
            raise WrongUsage(f"{FILE_CONFIGURATION} has journeys and a site or sitemap: remove one of them.")
    return {name: value for name, value in file_options.items() if name not in ignored}


def journey_options(typed: Mapping[str, Any], chosen: Mapping[str, Any]) -> JourneyOptions | None:
    """Return the journeys with their secrets, or None without journeys.

    `typed` are the options on the command line, and `chosen` also those of the file. Raises WrongUsage, whose message
    contains no secret.
    """
    if "journey" not in chosen and "journeys" not in chosen:
        if unused := [name for name in OPTIONS if name in chosen]:
            raise WrongUsage(f"--{unused[0].replace('_', '-')} works only with --journey.")
        return None
    if "server" in chosen:
        raise WrongUsage(
            "--server runs no journeys of files. Create the journey in the service, where you show that you control "
            "the site, and run it there."
        )
    sources = (
        *(read_journey_file(path, is_typed="journey" in typed) for path in chosen.get("journey", ())),
        *(JourneySource(FILE_CONFIGURATION, table=table) for table in chosen.get("journeys", ())),
    )
    if len(sources) > MAX_JOURNEYS:
        raise WrongUsage(f"{len(sources)} journeys are too many: the command runs at most {MAX_JOURNEYS}.")
    base_url, is_base_typed = _base_url(typed, chosen)
    journeys = [source.read(_absolute(base_url)) for source in sources]
    titles = [read.journey.title for read in journeys]
    if repeated := next((title for title in titles if titles.count(title) > 1), None):
        raise WrongUsage(f"Two journeys have the name “{repeated}”: rename one of them.")
    for source, read in zip(sources, journeys, strict=True):
        _refuse_other_site(source, read.journey.start_url, base_url)
    is_dry_run = chosen.get("dry_run", False)
    secrets: dict[str, str] = {}
    if not is_dry_run:
        from website_scan.command.journey_secrets import read_secrets, refuse_secrets_for_chosen_host

        for source, read in zip(sources, journeys, strict=True):
            refuse_secrets_for_chosen_host(source, read, is_base_typed=is_base_typed)
        secrets = read_secrets(typed, journeys)
    return JourneyOptions(
        sources,
        base_url,
        tuple(dict.fromkeys(read.journey.start_url for read in journeys)),
        secrets,
        chosen.get("pictures"),
        tuple(chosen.get("width", ())),
        is_dry_run,
    )


def _base_url(typed: Mapping[str, Any], chosen: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the address that relative addresses start from, and whether the command line names it."""
    urls: Sequence[str] = typed.get("urls") or ([typed["wait_for"]] if "wait_for" in typed else chosen.get("urls", ()))
    is_typed = bool(typed.get("urls")) or "wait_for" in typed
    if not urls and "serve" in chosen:
        urls = ["/"]
    pages = canonical_pages(urls)
    if len(pages) > 1:
        raise WrongUsage("With journeys, write one URL: the address that relative addresses start from.")
    base_url = next(iter(pages), "")
    return base_url, is_typed or (base_url.startswith("/") and "serve" in typed)


def _absolute(base_url: str, preview_origin: str = "") -> str:
    return f"{preview_origin or UNKNOWN_ORIGIN}{base_url}" if base_url.startswith("/") else base_url


def _refuse_other_site(source: JourneySource, start_url: str, base_url: str) -> None:
    """Raise WrongUsage if a journey begins on another site than that of the command."""
    if not base_url:
        return
    from website_scan.page.registrable_domain import site_of
    from website_scan.urls import Url, origin_of

    if base_url.startswith("/"):
        is_elsewhere = origin_of(start_url) != UNKNOWN_ORIGIN
        site = "the folder of --serve: write its steps as text, with paths such as “open /”"
    else:
        start, base = Url.of(start_url), Url.of(base_url)
        is_elsewhere = site_of(start.host) != site_of(base.host)
        site = base_url
        if base.scheme == "https" and start.scheme != "https":
            # A file must not have secrets sent in plain text.
            raise WrongUsage(f"{source.name}: The journey begins at {start_url}, which is not encrypted as {site} is.")
    if is_elsewhere:
        raise WrongUsage(f"{source.name}: The journey begins at {start_url}, which is not on the site of {site}.")


def read_journey_file(path: Path, *, is_typed: bool) -> JourneySource:
    """Return the text of a file with a journey, which is not parsed yet. Raises WrongUsage."""
    if path.suffix.lower() not in (RECORDING, STEPS):
        raise WrongUsage(
            f"--journey: {path} is neither a recording of Chrome's Recorder ({RECORDING}) nor steps as text, one a "
            f"line ({STEPS})."
        )
    try:
        with path.open("rb") as file:
            body = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise WrongUsage(f"--journey: {path} can't be read: {error.strerror}.") from None
    if len(body) > MAX_FILE_BYTES:
        raise WrongUsage(f"--journey: {path} has more than {MAX_FILE_BYTES // 1024} KiB.")
    try:
        return JourneySource(str(path), body.decode("utf-8-sig"), is_typed=is_typed)
    except UnicodeDecodeError:
        raise WrongUsage(f"--journey: {path} is not text in UTF-8.") from None


def tables(value: object) -> list[Mapping[str, object]]:
    """Return the value of `journeys` in website-scan.toml. Raises ValueError."""
    if not isinstance(value, list) or not value or not all(isinstance(table, dict) for table in value):
        raise ValueError("must be tables, which begin with [[journeys]]")
    return value
