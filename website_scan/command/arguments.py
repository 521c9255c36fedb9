"""Parser for the options of `website-scan`.

Options are on the command line and in website-scan.toml.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan import __version__, environment
from website_scan.command.argument_parser import AppendInOrder, Parser, reader
from website_scan.command.category_options import add_category_option, chosen_categories
from website_scan.command.completion import SHELLS, PrintCompletion
from website_scan.command.configuration import configuration, fail_under, refuse_access_without_typed_pages
from website_scan.command.conformance_options import (
    DEFAULT_TARGET,
    ConformanceTarget,
    add_conformance_options,
    conformance_target,
    gate_target,
    refuse_useless_conformance_options,
)
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.journey_options import (
    JourneyOptions,
    add_journey_options,
    choose_journeys_or_site,
    journey_options,
)
from website_scan.command.outcome_names import known_outcomes
from website_scan.command.pages import canonical_pages
from website_scan.command.plug_ins import format_name, refuse_plug_in_formats
from website_scan.command.requirement_options import add_requirement_options, requirement_options
from website_scan.command.site_options import SiteOptions, choose_site_or_pages, is_url, page_count, site_options
from website_scan.command.viewing_options import add_viewing_options, chosen_viewing
from website_scan.findings import ScanType, Severity
from website_scan.requirements.model import NO_REQUIREMENTS, Requirements
from website_scan.security_categories import Categories
from website_scan.viewing import Viewing

PROGRAM = "website-scan"
FORMATS = ("text", *WRITERS)
USAGE = f"{PROGRAM} URL… [options]"
EPILOG = """\
environment: WEBSITE_SCAN_KEY, SCAN_BROWSER, SCAN_TIME_LIMIT, SCAN_CA_BUNDLE
exit status: 0 success, 1 the gate failed, 2 invalid usage, 3 a scan failed
commands: checks, init, list, mcp, requirements; also --print-completion SHELL
examples:
  website-scan https://example.com/ --format html --output report.html
  website-scan http://localhost:4173/ --start 'npm run preview'
  website-scan --site https://example.com/ --fail-under 80 --fail-on high"""


class Output(Struct, frozen=True):
    """Output of the command.

    `format` is one of FORMATS. Without a `path`, it goes to standard output.
    """

    format: str = "text"
    path: Path | None = None


class Options(Struct, frozen=True):
    """Parsed options of the command.

    `under` maps scan types ("" for all types) to the lowest passing score. Paths are not resolved. `typed` are the URLs
    on the command line. Only they may be on a loopback address: URLs in a file may not. Options that end in `_for` are
    pairs of a host and the value for it. With `site`, the only URL is the start page of a site whose pages are scanned.
    With `journeys`, it is the address that their relative addresses start from, or the URLs are their first addresses.
    `categories` are the only ones of security to judge, None for all. `requirements` are rules of the user. `target`
    has the criteria of outputs, and `fail_on_level` those that fail the gate.
    """

    urls: tuple[str, ...]
    typed: tuple[str, ...] = ()
    site: SiteOptions | None = None
    journeys: JourneyOptions | None = None
    types: tuple[ScanType, ...] = tuple(ScanType)
    viewing: Viewing | None = None
    categories: Categories | None = None
    outputs: tuple[Output, ...] = (Output(),)
    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    fail_on_outcome: frozenset[str] = frozenset()
    fail_on_level: ConformanceTarget | None = None
    target: ConformanceTarget = DEFAULT_TARGET
    accept: frozenset[str] = frozenset()
    requirements: Requirements = NO_REQUIREMENTS
    allows_login: bool = False
    baseline: Path | None = None
    write_baseline: Path | None = None
    server: str | None = None
    serve: Path | None = None
    # Origin of the local server of `--serve` while this server runs.
    preview_origin: str = ""
    start: str | None = None
    wait_for: str | None = None
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    basic_auth: tuple[str, ...] = ()
    headers_for: tuple[tuple[str, str], ...] = ()
    cookies_for: tuple[tuple[str, str], ...] = ()
    basic_auth_for: tuple[tuple[str, str], ...] = ()
    allowed_networks: tuple[environment.Exemption, ...] = ()
    contacts_mail_servers: bool | None = None
    uses_plug_ins: bool = True
    is_quiet: bool = False
    may_color: bool = True


def is_list_command(arguments: Sequence[str]) -> bool:
    """Return True if the arguments call `website-scan list`.

    `--server URL` may come before `list`.
    """
    words = list(arguments)
    if words[:1] == ["--server"]:
        words = words[2:]
    elif words and words[0].startswith("--server="):
        words = words[1:]
    return words[:1] == ["list"]


def parse_arguments(arguments: Sequence[str], program: str = PROGRAM) -> Options:
    """Parse the command line and the configuration file into options.

    Raises WrongUsage. Exits after `--help` and `--version`, and with status 2 if argparse refuses an argument.
    """
    parsed = parser(program).parse_intermixed_args(arguments)
    typed = {name: value for name, value in vars(parsed).items() if value not in (None, [])}
    file_options = choose_journeys_or_site(typed, configuration(parsed.config))
    chosen = choose_site_or_pages(typed, file_options)
    _refuse_contradictions(typed, file_options)
    outputs = _outputs(parsed.outputs)
    if parsed.no_plugins:
        refuse_plug_in_formats([output.format for output in outputs], FORMATS)
    refuse_useless_conformance_options(typed, file_options, [output.format for output in outputs])
    start, site = site_options(chosen) or ("", None)
    journeys = journey_options(typed, chosen)
    if journeys:
        chosen["urls"] = [journeys.base_url] if journeys.base_url else journeys.start_urls
    pages = _pages({**chosen, "urls": [start]} if site else chosen, is_served="serve" in typed)
    if _file_chooses_a_host(pages, typed, file_options, has_journeys=journeys is not None):
        refuse_access_without_typed_pages(typed)
    own = requirement_options(chosen)
    types = tuple(map(ScanType, dict.fromkeys(chosen.get("type", ScanType))))
    known = partial(known_outcomes, requirements=own.requirements, uses_plug_ins=not parsed.no_plugins)
    return Options(
        urls=pages,
        typed=tuple(url for url in canonical_pages(_typed_urls(typed)) if not url.startswith("/")),
        site=site,
        journeys=journeys,
        types=types,
        viewing=chosen_viewing(chosen),
        categories=chosen_categories(typed, chosen, types),
        outputs=outputs,
        under=dict(own.under) | chosen.get("fail_under", {}),
        fail_on=Severity(chosen["fail_on"]) if "fail_on" in chosen else None,
        fail_on_outcome=known((*own.outcomes, *chosen.get("fail_on_outcome", ()))),
        fail_on_level=gate_target(chosen),
        target=conformance_target(chosen),
        accept=known(chosen.get("accept", ())),
        requirements=own.requirements,
        allows_login=chosen.get("allow_login", False),
        baseline=chosen.get("baseline"),
        write_baseline=chosen.get("write_baseline"),
        server=chosen.get("server"),
        serve=chosen.get("serve"),
        start=chosen.get("start"),
        wait_for=chosen.get("wait_for"),
        headers=tuple(chosen.get("header", ())),
        cookies=tuple(chosen.get("cookie", ())),
        basic_auth=tuple(chosen.get("basic_auth", ())),
        headers_for=_pairs(chosen.get("header_for", ())),
        cookies_for=_pairs(chosen.get("cookie_for", ())),
        basic_auth_for=_pairs(chosen.get("basic_auth_for", ())),
        allowed_networks=tuple(chosen.get("allow_network", ())),
        contacts_mail_servers=chosen.get("mail_servers"),
        uses_plug_ins=not parsed.no_plugins,
        is_quiet=parsed.quiet,
        may_color=not (parsed.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"),
    )


def _typed_urls(typed: Mapping[str, Any]) -> list[str]:
    """Return the URLs on the command line, as the user wrote them."""
    others = [typed.get(name) for name in ("wait_for", "site")]
    sitemap = typed.get("sitemap", "")
    return [*typed.get("urls", ()), *filter(None, others), *([sitemap] if is_url(sitemap) else [])]


def _pages(chosen: Mapping[str, Any], *, is_served: bool) -> tuple[str, ...]:
    """Return the pages' URLs in canonical form.

    `is_served` is True if the command line has `--serve`. Raises WrongUsage.
    """
    pages = canonical_pages(chosen.get("urls") or (["/"] if "serve" in chosen else []))
    if not pages:
        raise WrongUsage("Specify a URL or --site, here or in website-scan.toml; --help shows examples.")
    paths = [page for page in pages if page.startswith("/")]
    if paths and "serve" not in chosen:
        raise WrongUsage(f"{paths[0]} is the path of a page: specify its folder with --serve, or use a URL.")
    if is_served and not paths:
        raise WrongUsage(f"{pages[0]} is not in the folder of --serve: use a path such as /.")
    return pages


def _pairs(values: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((host, value) for host, value in values)


def _file_chooses_a_host(
    pages: Iterable[str], typed: Mapping[str, Any], file_options: Mapping[str, Any], *, has_journeys: bool
) -> bool:
    """Return True if website-scan.toml decides which host is scanned.

    Otherwise the command line decides. A folder that the file names counts, because its pages run scripts that can read
    cookies. So does a file that is a sitemap or a journey, because it is a file of the repository, too.
    """
    if "sitemap" in typed and "site" not in typed:
        return not is_url(typed["sitemap"])
    if "urls" in typed or "site" in typed or (has_journeys and "wait_for" in typed):
        return "serve" in file_options and "serve" not in typed and any(page.startswith("/") for page in pages)
    return "serve" not in typed or not all(page.startswith("/") for page in pages)


def _refuse_contradictions(typed: Mapping[str, Any], file_options: Mapping[str, Any]) -> None:
    """Raise WrongUsage for contradictory options.

    Some options exclude each other, and `--fail-under` must not name a type that is not scanned. `typed` are the
    options on the command line, which may choose fewer types than the file has lowest scores for.
    """
    chosen = {**file_options, **typed}
    if "server" in typed:
        for option in ("allow_network", "mail_servers", "serve", "start"):
            if option in typed:
                raise WrongUsage(
                    f"--{option.replace('_', '-')} works only for scans from this machine; with --server, the server "
                    "decides what it reaches."
                )
    if "wait_for" in typed and "start" not in typed:
        raise WrongUsage("--wait-for is the address of the server that --start starts; use both.")
    if "start" in typed and "serve" in typed:
        raise WrongUsage("Use --serve or --start, not both.")
    if both := sorted({*chosen.get("accept", ())} & {*chosen.get("fail_on_outcome", ())}):
        raise WrongUsage(f"{both[0]} is in --accept and in --fail-on-outcome: remove it from one of them.")
    selects_types = "type" in typed and "fail_under" not in typed
    unused = set(chosen.get("fail_under", {})) - {"", *chosen.get("type", ScanType)}
    if unused and not selects_types:
        types = ", ".join(sorted(unused))
        raise WrongUsage(f"--fail-under {types}: it has no effect, because --type excludes this type.")


def _outputs(pairs: Sequence[tuple[str, Any]]) -> tuple[Output, ...]:
    """Pair each `--output` with the `--format` before it.

    `pairs` has both options as (name, value), in order. Raises WrongUsage.
    """
    if [option for option, _ in pairs] == ["output", "format"]:
        # For a single output, the order of the two options does not matter.
        pairs = pairs[::-1]
    outputs: list[Output] = []
    for option, value in pairs:
        if option == "format":
            outputs.append(Output(value))
        elif outputs and outputs[-1].path is None:
            outputs[-1] = replace(outputs[-1], path=value)
        elif outputs or len(pairs) > 1:
            raise WrongUsage(f"--output {value}: put its --format before it, as in --format sarif --output scan.sarif.")
        else:
            outputs.append(Output(path=value))
    if sum(output.path is None for output in outputs) > 1:
        raise WrongUsage("Only one --format can go to standard output; add an --output after each of the others.")
    return tuple(outputs) or (Output(),)


def parser(program: str) -> argparse.ArgumentParser:
    argument_parser = Parser(
        prog=program,
        usage=USAGE if program == PROGRAM else f"{program} URL… [options]",
        description="Scans web pages for security, performance, accessibility and SEO.",
        epilog=EPILOG,
        allow_abbrev=False,
        add_help=False,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=28),
    )
    argument_parser.set_defaults(outputs=())
    _add_pages(argument_parser.add_argument_group("pages"))
    _add_output(argument_parser.add_argument_group("output"))
    _add_gate(argument_parser.add_argument_group("gate"))
    add = argument_parser.add_argument_group("pages behind a log-in (a value, '$VARIABLE' or @FILE)").add_argument
    about = "also --cookie and --basic-auth"
    add("--header", action="append", metavar="'NAME: VALUE'", help=about)
    add("--cookie", action="append", metavar="NAME=VALUE", help=argparse.SUPPRESS)
    add("--basic-auth", action="append", metavar="USER:PASSWORD", help=argparse.SUPPRESS)
    about = "for the file; also --cookie-for, --basic-auth-for"
    add("--header-for", nargs=2, action="append", metavar=("HOST", "VALUE"), help=about)
    for option in ("--cookie-for", "--basic-auth-for"):
        add(option, nargs=2, action="append", metavar=("HOST", "VALUE"), help=argparse.SUPPRESS)
    return argument_parser


def _add_pages(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("urls", metavar="URL", nargs="*", help="address of a page, such as example.com")
    kinds = [str(scan_type) for scan_type in ScanType]
    add("--site", metavar="URL", help="pages of a site; also --sitemap FILE|URL")
    add("--sitemap", metavar="FILE|URL", help=argparse.SUPPRESS)
    add_journey_options(group)
    add("--max-pages", type=reader(page_count), metavar="N", help=argparse.SUPPRESS)
    about = "such as '/docs/*'; also --exclude, --max-pages (20)"
    add("--include", action="append", metavar="PATTERN", help=about)
    add("--exclude", action="append", metavar="PATTERN", help=argparse.SUPPRESS)
    add("--type", action="append", choices=kinds, metavar="TYPE", help=f"{', '.join(kinds)} (all)")
    add_category_option(group)
    add_viewing_options(group)
    add("--serve", type=Path, metavar="DIR", help="serve this folder; URLs are paths in it (/)")
    add("--start", metavar="COMMAND", help="server during the scan; also --wait-for URL")
    add("--wait-for", metavar="URL", help=argparse.SUPPRESS)
    add("--server", metavar="URL", help="scan with this service (key: WEBSITE_SCAN_KEY)")
    about = "private: 10.0.0.5/32:8080; also --mail-servers"
    add("--allow-network", type=reader(environment.exemption), action="append", metavar="CIDR", help=about)
    add("--mail-servers", action="store_true", default=None, help=argparse.SUPPRESS)
    add("--config", type=Path, metavar="FILE", help="configuration file (website-scan.toml)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    read_format = reader(partial(format_name, formats=FORMATS))
    add("--format", action=AppendInOrder, type=read_format, metavar="FORMAT", help=f"{', '.join(FORMATS)}")
    add("--output", action=AppendInOrder, type=Path, metavar="FILE", help="file for the preceding --format")
    add("--quiet", action="store_true", help="only problems; also --no-color, --no-plugins")
    # The end of the help lists these options, because readers want the others.
    add("--no-color", action="store_true", help=argparse.SUPPRESS)
    add("--print-completion", choices=SHELLS, action=PrintCompletion, metavar="SHELL", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"{PROGRAM} {__version__}", help=argparse.SUPPRESS)
    add("-h", "--help", action="help", help=argparse.SUPPRESS)


def _add_gate(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    severities = [str(severity) for severity in Severity]
    add("--fail-under", type=reader(fail_under), metavar="N", help="lowest score: 80, or security=90,seo=70")
    add("--fail-on", choices=severities, metavar="SEVERITY", help=f"{', '.join(severities)}: this or worse fails")
    add("--fail-on-outcome", action="append", metavar="NAME", help="fails at any severity: hsts.short")
    add_conformance_options(group)
    add_requirement_options(group)
    add("--accept", action="append", metavar="NAME", help="outcome that passes: csp-present.missing")
    add("--no-plugins", action="store_true", help=argparse.SUPPRESS)
    add("--allow-login", action="store_true", default=None, help="log-in page instead of the page passes")
    add("--baseline", type=Path, metavar="FILE", help="known findings, which pass; also --write-baseline")
    add("--write-baseline", type=Path, metavar="FILE", help=argparse.SUPPRESS)
