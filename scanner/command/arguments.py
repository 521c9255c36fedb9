"""Options of `website-scan`: from the command line, and for options not given there from website-scan.toml."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from scanner import __version__, environment
from scanner.command.configuration import configuration, fail_under
from scanner.command.errors import EXIT_USAGE, WrongUsage
from scanner.command.formats import WRITERS
from scanner.findings import ScanType, Severity

PROGRAM = "website-scan"
FORMATS = ("text", *WRITERS)
SHELLS = ("bash", "zsh", "tcsh")
USAGE = f"{PROGRAM} URL… [options]"
EXAMPLES = """\
examples:
  website-scan https://example.com/
  website-scan https://example.com/ --type security --fail-on high
  website-scan https://example.com/ https://example.com/shop --format html --output report.html
  website-scan https://example.com/ --format sarif --output a.sarif --format html --output a.html
  website-scan https://example.com/ --write-baseline known.json    # accept current findings
  website-scan https://example.com/ --baseline known.json          # fail for what is new

exit status: 0 good, 1 the gate failed, 2 wrong usage, 3 a scan failed"""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to write: one of FORMATS, and its file; None for standard output."""

    format: str = "text"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Parsed options. `under` has the lowest score that passes by type, "" for all types; paths are as given."""

    urls: tuple[str, ...]
    types: tuple[ScanType, ...] = tuple(ScanType)
    documents: tuple[Document, ...] = (Document(),)
    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    server: str | None = None
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    basic_auth: tuple[str, ...] = ()
    allowed_networks: tuple[environment.Exemption, ...] = ()
    is_quiet: bool = False
    may_color: bool = True


def options_from(arguments: Sequence[str], program: str = PROGRAM) -> Options:
    """Parse the arguments and the configuration file. Raises WrongUsage.

    Exits after `--help` and `--version`, and with status 2 for what argparse refuses.
    """
    given = parser(program).parse_intermixed_args(arguments)
    said = {name: value for name, value in vars(given).items() if value not in (None, [])}
    chosen: Mapping[str, Any] = configuration(given.config) | said
    if not chosen.get("urls"):
        raise WrongUsage("Give at least one URL, here or in website-scan.toml; --help shows examples.")
    if "server" in chosen and "allow_network" in chosen:
        raise WrongUsage("--allow-network works only for scans from this machine; with --server, the server decides.")
    return Options(
        urls=tuple(dict.fromkeys(chosen["urls"])),
        types=tuple(map(ScanType, dict.fromkeys(chosen.get("type", ScanType)))),
        documents=_documents(given.documents),
        under=chosen.get("fail_under", {}),
        fail_on=Severity(chosen["fail_on"]) if "fail_on" in chosen else None,
        baseline=chosen.get("baseline"),
        write_baseline=chosen.get("write_baseline"),
        server=chosen.get("server"),
        headers=tuple(chosen.get("header", ())),
        cookies=tuple(chosen.get("cookie", ())),
        basic_auth=tuple(chosen.get("basic_auth", ())),
        allowed_networks=tuple(chosen.get("allow_network", ())),
        is_quiet=given.quiet,
        may_color=not (given.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"),
    )


def _documents(said: Sequence[tuple[str, Any]]) -> tuple[Document, ...]:
    """Return the documents of `--format` and `--output` in order: an output has the format before it.

    Raises WrongUsage.
    """
    if [option for option, _ in said] == ["output", "format"]:
        said = said[::-1]  # for a single document, the two may come in either order
    documents: list[Document] = []
    for option, value in said:
        if option == "format":
            documents.append(Document(value))
        elif documents and documents[-1].path is None:
            documents[-1] = replace(documents[-1], path=value)
        elif documents or len(said) > 1:
            raise WrongUsage(
                f"--output {value}: give its --format before it, as in --format sarif --output scan.sarif."
            )
        else:
            documents.append(Document(path=value))
    if sum(each.path is None for each in documents) > 1:
        raise WrongUsage("Only one --format can go to standard output; give an --output after each of the others.")
    return tuple(documents) or (Document(),)


class _Parser(argparse.ArgumentParser):
    """ArgumentParser whose errors repeat only unknown options. argparse's repeat values too, which may be secrets."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments:"):
            words = [each.partition("=")[0] for each in message.partition(":")[2].split() if each.startswith("-")]
            message = f"unrecognized arguments: {' '.join(words)}"
        sys.stderr.write(f"{self.prog}: {message}\nUsage: {self.usage}; --help shows all options.\n")
        sys.exit(EXIT_USAGE)


def parser(program: str) -> argparse.ArgumentParser:
    made = _Parser(
        prog=program,
        usage=USAGE if program == PROGRAM else f"{program} URL… [options]",
        description="Scans web pages for security, performance, accessibility and SEO. No server is needed.",
        epilog=EXAMPLES,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=30),
    )
    add = made.add_argument
    add("urls", metavar="URL", nargs="*", help="starts with https:// or http://")
    add(
        "--type",
        action="append",
        choices=[str(each) for each in ScanType],
        metavar="TYPE",
        help="security, performance, accessibility or seo; may be repeated (all four)",
    )
    made.set_defaults(documents=())
    add("--format", action=_InOrder, choices=FORMATS, metavar="FORMAT", help=f"{', '.join(FORMATS)} (text)")
    add(
        "--output",
        action=_InOrder,
        type=Path,
        metavar="FILE",
        help="the format before it goes there; both may be repeated",
    )
    add("--fail-under", type=_fail_under, metavar="N", help="lowest score that passes: 80, or security=90,seo=70")
    add(
        "--fail-on",
        choices=[str(each) for each in Severity],
        metavar="SEVERITY",
        help="fail for a failed check this severe: critical, high, medium, low",
    )
    add("--baseline", type=Path, metavar="FILE", help="accepted findings; the gate checks only new ones")
    add("--write-baseline", type=Path, metavar="FILE", help="accept all current findings")
    add("--config", type=Path, metavar="FILE", help="(website-scan.toml in this folder, if present)")
    add("--server", metavar="URL", help="scan with this Website Scan Service; API key in WEBSITE_SCAN_KEY")
    for option, form, what in (
        ("--header", "'NAME: VALUE'", "sent only to the pages' own origin; '$VARIABLE' or @FILE"),
        ("--cookie", "NAME=VALUE", "reads the value from there; so for all three"),
        ("--basic-auth", "USER:PASSWORD", ""),
    ):
        add(option, action="append", metavar=form, help=what)
    add(
        "--allow-network",
        type=_network,
        action="append",
        metavar="CIDR",
        help="allow scans of this network although it is not public",
    )
    add("--quiet", action="store_true", help="no progress; text shows only problems")
    add("--no-color", action="store_true", help="as NO_COLOR in the environment does")
    add("--print-completion", choices=SHELLS, action=_Completion, metavar="SHELL", help=", ".join(SHELLS))
    add("--version", action="version", version=f"{PROGRAM} {__version__}")
    return made


class _InOrder(argparse.Action):
    """argparse action that keeps `--format` and `--output` in their common order, which pairs formats and files."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.documents = (*namespace.documents, (self.dest, values))


class _Completion(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        import shtab  # imported only when needed

        sys.stdout.write(shtab.complete(parser, shell=values))
        parser.exit()


def _fail_under(raw: str) -> dict[str, int]:
    try:
        return fail_under(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _network(raw: str) -> environment.Exemption:
    try:
        return environment.exemption(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
