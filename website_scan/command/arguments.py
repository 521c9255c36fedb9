"""Options of `website-scan`: from the command line, and for options not given there from website-scan.toml."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from website_scan import __version__, environment
from website_scan.command.configuration import configuration, fail_under
from website_scan.command.errors import EXIT_USAGE, WrongUsage
from website_scan.command.formats import WRITERS
from website_scan.command.pages import canonical
from website_scan.findings import ScanType, Severity

PROGRAM = "website-scan"
FORMATS = ("text", *WRITERS)
SHELLS = ("bash", "zsh", "tcsh")
USAGE = f"{PROGRAM} URL… [options]"
EPILOG = """\
environment: WEBSITE_SCAN_KEY, SCAN_BROWSER, SCAN_TIME_LIMIT, SCAN_CA_BUNDLE
exit status: 0 good, 1 the gate failed, 2 wrong usage, 3 a scan failed
example: website-scan https://example.com/ --format html --output report.html
also: website-scan list --help (lists of sites), website-scan mcp (agents)"""


@dataclass(frozen=True, slots=True)
class Document:
    """A document to write: one of FORMATS, and its file; None for standard output."""

    format: str = "text"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Parsed options. `under` has the lowest score that passes by type, "" for all types; paths are as given.

    `typed` are the URLs on the command line: what comes from a file, or from a page, opens no loopback address.
    """

    urls: tuple[str, ...]
    typed: tuple[str, ...] = ()
    types: tuple[ScanType, ...] = tuple(ScanType)
    documents: tuple[Document, ...] = (Document(),)
    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    fail_on_outcome: frozenset[str] = frozenset()
    accept: frozenset[str] = frozenset()
    baseline: Path | None = None
    write_baseline: Path | None = None
    server: str | None = None
    serve: Path | None = None
    served_at: str = ""  # origin of the folder of `serve`, while it is served
    start: str | None = None
    wait_for: str | None = None
    headers: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    basic_auth: tuple[str, ...] = ()
    allowed_networks: tuple[environment.Exemption, ...] = ()
    is_quiet: bool = False
    may_color: bool = True


def is_about_lists(arguments: Sequence[str]) -> bool:
    """Return True for `list …`, perhaps with `--server URL` before it."""
    words = list(arguments)
    if words[:1] == ["--server"]:
        words = words[2:]
    elif words and words[0].startswith("--server="):
        words = words[1:]
    return words[:1] == ["list"]


def options_from(arguments: Sequence[str], program: str = PROGRAM) -> Options:
    """Parse the arguments and the configuration file. Raises WrongUsage.

    Exits after `--help` and `--version`, and with status 2 for what argparse refuses.
    """
    given = parser(program).parse_intermixed_args(arguments)
    said = {name: value for name, value in vars(given).items() if value not in (None, [])}
    filed = configuration(given.config)
    chosen: Mapping[str, Any] = filed | said
    _refuse_contradictions(said, filed)
    return Options(
        urls=_pages(chosen, is_served="serve" in said),
        typed=tuple(
            each for each in canonical(filter(None, (*given.urls, given.wait_for))) if not each.startswith("/")
        ),
        types=tuple(map(ScanType, dict.fromkeys(chosen.get("type", ScanType)))),
        documents=_documents(given.documents),
        under=chosen.get("fail_under", {}),
        fail_on=Severity(chosen["fail_on"]) if "fail_on" in chosen else None,
        fail_on_outcome=known_outcomes(chosen.get("fail_on_outcome", ())),
        accept=known_outcomes(chosen.get("accept", ())),
        baseline=chosen.get("baseline"),
        write_baseline=chosen.get("write_baseline"),
        server=chosen.get("server"),
        serve=chosen.get("serve"),
        start=chosen.get("start"),
        wait_for=chosen.get("wait_for"),
        headers=tuple(chosen.get("header", ())),
        cookies=tuple(chosen.get("cookie", ())),
        basic_auth=tuple(chosen.get("basic_auth", ())),
        allowed_networks=tuple(chosen.get("allow_network", ())),
        is_quiet=given.quiet,
        may_color=not (given.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"),
    )


def known_outcomes(names: Iterable[str]) -> frozenset[str]:
    """Return names of outcomes such as `hsts.short`. Raises WrongUsage for one that no check has."""
    chosen = frozenset(names)
    if chosen:
        import json  # few commands name outcomes
        from importlib.resources import files

        written = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
        known = {check["id"]: [each["name"] for each in check["outcomes"]] for check in written}
        for name in sorted(chosen):
            check, _, outcome = name.partition(".")
            if outcome not in known.get(check, ()):
                has = f"{check} has {', '.join(known[check])}" if check in known else f"there is no check {check}"
                raise WrongUsage(f"{name} is not an outcome: {has}.")
    return chosen


def _pages(chosen: Mapping[str, Any], *, is_served: bool) -> tuple[str, ...]:
    """Return the pages in canonical form. `is_served` if `--serve` is on the command line. Raises WrongUsage."""
    pages = canonical(chosen.get("urls") or (["/"] if "serve" in chosen else []))
    if not pages:
        raise WrongUsage("Give at least one URL, here or in website-scan.toml; --help shows an example.")
    paths = [each for each in pages if each.startswith("/")]
    if paths and "serve" not in chosen:
        raise WrongUsage(f"{paths[0]} is the path of a page: give its folder with --serve, or a URL.")
    if is_served and not paths:
        raise WrongUsage(f"{pages[0]} is not in the folder of --serve: give a path such as /.")
    return pages


def _refuse_contradictions(said: Mapping[str, Any], filed: Mapping[str, Any]) -> None:
    """Raise WrongUsage for options that exclude each other, and for a lowest score that no report can miss.

    `said` is from the command line, which may choose fewer types than the file has scores for.
    """
    chosen = {**filed, **said}
    if "server" in said:
        for option in ("allow_network", "serve", "start"):
            if option in said:
                raise WrongUsage(
                    f"--{option.replace('_', '-')} works only for scans from this machine; with --server, the server "
                    "decides what it reaches."
                )
    if "wait_for" in said and "start" not in said:
        raise WrongUsage("--wait-for is the address of what --start starts; give both.")
    if "start" in said and "serve" in said:
        raise WrongUsage("Give --serve or --start, not both.")
    if both := sorted({*chosen.get("accept", ())} & {*chosen.get("fail_on_outcome", ())}):
        raise WrongUsage(f"{both[0]} is in --accept and in --fail-on-outcome: give it in one of them.")
    is_narrowed = "type" in said and "fail_under" not in said
    idle = set(chosen.get("fail_under", {})) - {"", *chosen.get("type", ScanType)}
    if idle and not is_narrowed:
        types = ", ".join(sorted(idle))
        raise WrongUsage(f"--fail-under {types}: it can't fail, because --type leaves this type out.")


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


class Parser(argparse.ArgumentParser):
    """ArgumentParser whose errors repeat only unknown options. argparse's repeat values too, which may be secrets."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments:"):
            words = [each.partition("=")[0] for each in message.partition(":")[2].split() if each.startswith("-")]
            message = f"unrecognized arguments: {' '.join(words)}"
        sys.stderr.write(f"{self.prog}: {message}\nUsage: {self.usage}; --help shows all options.\n")
        sys.exit(EXIT_USAGE)


def parser(program: str) -> argparse.ArgumentParser:
    made = Parser(
        prog=program,
        usage=USAGE if program == PROGRAM else f"{program} URL… [options]",
        description="Scans web pages for security, performance, accessibility and SEO.",
        epilog=EPILOG,
        allow_abbrev=False,
        add_help=False,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=28),
    )
    made.set_defaults(documents=())
    _add_pages(made.add_argument_group("pages"))
    _add_output(made.add_argument_group("output"))
    _add_gate(made.add_argument_group("gate"))
    add = made.add_argument_group("pages behind a log-in (a value, '$VARIABLE' or @FILE)").add_argument
    add("--header", action="append", metavar="'NAME: VALUE'")
    add("--cookie", action="append", metavar="NAME=VALUE", help="sent to no other origin, as are all three")
    add("--basic-auth", action="append", metavar="USER:PASSWORD")
    return made


def _add_pages(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("urls", metavar="URL", nargs="*", help="starts with https:// or http://")
    kinds = [str(each) for each in ScanType]
    add("--type", action="append", choices=kinds, metavar="TYPE", help=f"{', '.join(kinds)} (all)")
    add("--serve", type=Path, metavar="DIR", help="serve this folder; URLs are paths in it (/)")
    add("--start", metavar="COMMAND", help="start a server, and end it after the scan")
    add("--wait-for", metavar="URL", help="scan when the server responds here (first URL)")
    add("--server", metavar="URL", help="scan with this service (key: WEBSITE_SCAN_KEY)")
    add("--allow-network", type=_network, action="append", metavar="CIDR", help="private network: 10.0.0.5/32:8080")
    add("--config", type=Path, metavar="FILE", help="options of a repository (website-scan.toml)")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--format", action=_InOrder, choices=FORMATS, metavar="FORMAT", help=f"{', '.join(FORMATS)}")
    add("--output", action=_InOrder, type=Path, metavar="FILE", help="the format before it goes there")
    add("--quiet", action="store_true", help="only problems")
    add("--no-color", action="store_true", help="no colours on a terminal, as with NO_COLOR")
    shells = ", ".join(SHELLS)
    add("--print-completion", choices=SHELLS, action=_Completion, metavar="SHELL", help=shells)
    add("--version", action="version", version=f"{PROGRAM} {__version__}", help="print the version")
    add("-h", "--help", action="help", help=argparse.SUPPRESS)  # who reads it knows it


def _add_gate(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    severities = [str(each) for each in Severity]
    add("--fail-under", type=_fail_under, metavar="N", help="lowest score: 80, or security=90,seo=70")
    add("--fail-on", choices=severities, metavar="SEVERITY", help=f"{', '.join(severities)}: this or worse fails")
    add("--fail-on-outcome", action="append", metavar="NAME", help="fails at any severity: hsts.short")
    add("--accept", action="append", metavar="NAME", help="outcome that passes: csp-present.missing")
    add("--baseline", type=Path, metavar="FILE", help="accepted findings: only new ones fail")
    add("--write-baseline", type=Path, metavar="FILE", help="accept all current findings")


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

        for each in parser._actions:  # noqa: SLF001 -- argparse has no public list of its options
            if each.type is Path:
                each.complete = shtab.DIRECTORY if each.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]  # for shtab
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
