"""The parser of the command line of `website-scan`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from website_scan import __version__, environment
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.browser.devices import COLOR_SCHEMES
from website_scan.command.configuration import fail_under, width
from website_scan.command.errors import EXIT_USAGE
from website_scan.command.formats import WRITERS
from website_scan.command.site_options import page_count
from website_scan.findings import ScanType, Severity
from website_scan.messages import agreeing

PROGRAM = "website-scan"
FORMATS = ("text", *WRITERS)
STANDARDS = [standard.value for standard in Standard]
SHELLS = ("bash", "zsh", "tcsh")
USAGE = f"{PROGRAM} URL… [options]"
EPILOG = """\
environment: WEBSITE_SCAN_KEY, SCAN_BROWSER, SCAN_TIME_LIMIT, SCAN_CA_BUNDLE
exit status: 0 success, 1 the gate failed, 2 invalid usage, 3 a scan failed
also: --no-color, --version, --print-completion SHELL; commands: list, mcp
examples:
  website-scan https://example.com/ --format html --output report.html
  website-scan http://localhost:4173/ --start 'npm run preview'
  website-scan --site https://example.com/ --fail-under 80 --fail-on high"""


class Parser(argparse.ArgumentParser):
    """ArgumentParser whose error messages contain no values.

    They contain only option names, because values may be secrets.
    """

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments:"):
            words = [word.partition("=")[0] for word in message.partition(":")[2].split() if word.startswith("-")]
            message = f"unknown {agreeing(len(words), 'option', 'options')}: {' '.join(words)}{self._suggestion(words)}"
        sys.stderr.write(
            f"{self.prog}: {message.removeprefix('argument ')}\nUsage: {self.usage}; --help shows all options.\n"
        )
        sys.exit(EXIT_USAGE)

    def _suggestion(self, words: Sequence[str]) -> str:
        """Return a question that names the option most like the first unknown one; empty if none is like it."""
        import difflib  # Only wrong options need this module.

        near = difflib.get_close_matches(words[0], self._option_string_actions, 1) if words else []
        return f". Did you mean {near[0]}?" if near else ""


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
    about = "also --cookie NAME=VALUE, --basic-auth USER:PASSWORD"
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
    add("--site", metavar="URL", help="pages of a site, by its sitemaps and links")
    add("--sitemap", metavar="FILE|URL", help="pages of a sitemap or text list, also .gz")
    add("--max-pages", type=_page_count, metavar="N", help="of a site or sitemap (20)")
    about = "path, such as '/docs/*'; also --exclude"
    add("--include", action="append", metavar="PATTERN", help=about)
    add("--exclude", action="append", metavar="PATTERN", help=argparse.SUPPRESS)
    add("--type", action="append", choices=kinds, metavar="TYPE", help=f"{', '.join(kinds)} (all)")
    add("--width", type=_width, action="append", metavar="PIXELS", help="for accessibility (412 and 1440)")
    add("--color-scheme", choices=COLOR_SCHEMES, metavar="NAME", help="of the page: light (default) or dark")
    add("--serve", type=Path, metavar="DIR", help="serve this folder; URLs are paths in it (/)")
    add("--start", metavar="COMMAND", help="start a server, and end it after the scan")
    add("--wait-for", metavar="URL", help="scan when the server responds here (first URL)")
    add("--server", metavar="URL", help="scan with this service (key: WEBSITE_SCAN_KEY)")
    add("--allow-network", type=_network, action="append", metavar="CIDR", help="private network: 10.0.0.5/32:8080")
    add("--config", type=Path, metavar="FILE", help="configuration file (website-scan.toml)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--format", action=_AppendInOrder, choices=FORMATS, metavar="FORMAT", help=f"{', '.join(FORMATS)}")
    add("--output", action=_AppendInOrder, type=Path, metavar="FILE", help="file for the preceding --format")
    add("--standard", choices=STANDARDS, metavar="NAME", help=f"of conformance, earl: {', '.join(STANDARDS)}")
    add("--level", choices=LEVELS, metavar="LEVEL", help="of conformance, earl: A, AA or AAA (AA)")
    add("--quiet", action="store_true", help="only problems")
    # The end of the help lists these options, because readers want the others.
    add("--no-color", action="store_true", help=argparse.SUPPRESS)
    add("--print-completion", choices=SHELLS, action=_PrintCompletion, metavar="SHELL", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"{PROGRAM} {__version__}", help=argparse.SUPPRESS)
    add("-h", "--help", action="help", help=argparse.SUPPRESS)


def _add_gate(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    severities = [str(severity) for severity in Severity]
    add("--fail-under", type=_fail_under, metavar="N", help="lowest score: 80, or security=90,seo=70")
    add("--fail-on", choices=severities, metavar="SEVERITY", help=f"{', '.join(severities)}: this or worse fails")
    add("--fail-on-outcome", action="append", metavar="NAME", help="fails at any severity: hsts.short")
    add("--fail-on-level", choices=LEVELS, metavar="LEVEL", help="A: a failed criterion of level A fails; AA: A or AA")
    add("--accept", action="append", metavar="NAME", help="outcome that passes: csp-present.missing")
    add("--allow-login", action="store_true", default=None, help="log-in page instead of the page passes")
    add("--baseline", type=Path, metavar="FILE", help="accepted findings: only new ones fail")
    add("--write-baseline", type=Path, metavar="FILE", help="accept all current findings")


class _AppendInOrder(argparse.Action):
    """Action that appends `--format` and `--output` to one list.

    An action of argparse. The order of the options pairs them.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.outputs = (*namespace.outputs, (self.dest, values))


class _PrintCompletion(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        import shtab  # Import shtab only here, because few commands print a completion script.

        for action in parser._actions:  # noqa: SLF001 -- argparse has no public list of its options
            if action.help == argparse.SUPPRESS:
                # shtab would leave out what the help leaves out.
                action.help = ""
            if action.type is Path:
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]  # for shtab
        sys.stdout.write(shtab.complete(parser, shell=values))
        parser.exit()


def _fail_under(raw: str) -> dict[str, int]:
    try:
        return fail_under(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _page_count(raw: str) -> int:
    try:
        return page_count(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _width(raw: str) -> int:
    try:
        return width(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _network(raw: str) -> environment.Exemption:
    try:
        return environment.exemption(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
