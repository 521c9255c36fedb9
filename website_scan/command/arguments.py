"""Parser for the options of `website-scan`.

Options are on the command line and in website-scan.toml.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from website_scan import environment
from website_scan.accessibility.standards import Standard
from website_scan.browser.devices import MAX_WIDTHS, USUAL_VIEWING, Viewing
from website_scan.command.configuration import configuration, refuse_access_without_typed_pages
from website_scan.command.errors import WrongUsage
from website_scan.command.formats import CONFORMANCE_FORMATS
from website_scan.command.pages import canonical_pages
from website_scan.command.parser import PROGRAM, parser
from website_scan.command.site_options import SiteOptions, choose_site_or_pages, is_url, site_options
from website_scan.findings import ScanType, Severity


@dataclass(frozen=True, slots=True)
class Output:
    """Output of the command.

    `format` is one of FORMATS. Without a `path`, it goes to standard output.
    """

    format: str = "text"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """Parsed options of the command.

    `under` maps scan types ("" for all types) to the lowest passing score. Paths are not resolved. `typed` are the URLs
    on the command line. Only they may be on a loopback address: URLs in a file may not. Options that end in `_for` are
    pairs of a host and the value for it. With `site`, the only URL is the start page of a site whose pages are scanned.
    `standard` and `level` select the success criteria of the conformance formats and of `fail_on_level`.
    """

    urls: tuple[str, ...]
    typed: tuple[str, ...] = ()
    site: SiteOptions | None = None
    types: tuple[ScanType, ...] = tuple(ScanType)
    outputs: tuple[Output, ...] = (Output(),)
    under: Mapping[str, int] = field(default_factory=dict)
    fail_on: Severity | None = None
    fail_on_outcome: frozenset[str] = frozenset()
    fail_on_level: str = ""
    standard: Standard = Standard.WCAG_22
    level: str = "AA"
    viewing: Viewing = USUAL_VIEWING
    accept: frozenset[str] = frozenset()
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
    file_options = configuration(parsed.config)
    chosen = choose_site_or_pages(typed, file_options)
    _refuse_contradictions(typed, file_options)
    _refuse_conformance_without_accessibility(chosen, parsed.outputs)
    start, site = site_options(chosen) or ("", None)
    pages = _pages({**chosen, "urls": [start]} if site else chosen, is_served="serve" in typed)
    if _file_chooses_a_host(pages, typed, file_options):
        refuse_access_without_typed_pages(typed)
    return Options(
        urls=pages,
        typed=tuple(url for url in canonical_pages(_typed_urls(typed)) if not url.startswith("/")),
        site=site,
        types=tuple(map(ScanType, dict.fromkeys(chosen.get("type", ScanType)))),
        outputs=_outputs(parsed.outputs),
        under=chosen.get("fail_under", {}),
        fail_on=Severity(chosen["fail_on"]) if "fail_on" in chosen else None,
        fail_on_outcome=known_outcomes(chosen.get("fail_on_outcome", ())),
        fail_on_level=chosen.get("fail_on_level", ""),
        standard=Standard(chosen.get("standard", Standard.WCAG_22)),
        level=chosen.get("level", "AA"),
        viewing=Viewing(
            tuple(dict.fromkeys(chosen.get("width", USUAL_VIEWING.widths))), chosen.get("color_scheme", "")
        ),
        accept=known_outcomes(chosen.get("accept", ())),
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
        is_quiet=parsed.quiet,
        may_color=not (parsed.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"),
    )


def known_outcomes(names: Iterable[str]) -> frozenset[str]:
    """Validate names of outcomes, such as `hsts.short`.

    Raises WrongUsage for an outcome that no check has.
    """
    chosen = frozenset(names)
    if chosen:
        # Import these modules only here, because few commands name outcomes.
        import json
        from importlib.resources import files

        checks = json.loads((files("website_scan") / "checks.json").read_text(encoding="utf-8"))["checks"]
        outcomes = {check["id"]: [outcome["name"] for outcome in check["outcomes"]] for check in checks}
        for name in sorted(chosen):
            check_id, _, outcome = name.partition(".")
            if outcome not in outcomes.get(check_id, ()):
                reason = (
                    f"{check_id} has {', '.join(outcomes[check_id])}"
                    if check_id in outcomes
                    else f"there is no check {check_id}"
                )
                raise WrongUsage(f"{name} is not an outcome: {reason}.")
    return chosen


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


def _file_chooses_a_host(pages: Iterable[str], typed: Mapping[str, Any], file_options: Mapping[str, Any]) -> bool:
    """Return True if website-scan.toml decides which host is scanned.

    Otherwise the command line decides. A folder that the file names counts, because its pages run scripts that can read
    cookies. So does a file that is a sitemap, because it is a file of the repository, too.
    """
    if "sitemap" in typed and "site" not in typed:
        return not is_url(typed["sitemap"])
    if "urls" in typed or "site" in typed:
        return "serve" in file_options and "serve" not in typed and any(page.startswith("/") for page in pages)
    return "serve" not in typed or not all(page.startswith("/") for page in pages)


def _refuse_contradictions(typed: Mapping[str, Any], file_options: Mapping[str, Any]) -> None:
    """Raise WrongUsage for contradictory options.

    Some options exclude each other, and `--fail-under` must not name a type that is not scanned. `typed` are the
    options on the command line, which may choose fewer types than the file has lowest scores for.
    """
    chosen = {**file_options, **typed}
    if "server" in typed:
        for option in ("allow_network", "serve", "start", "width", "color_scheme"):
            if option in typed:
                raise WrongUsage(
                    f"--{option.replace('_', '-')} works only for scans from this machine; with --server, the server "
                    "decides."
                )
    if len(set(chosen.get("width", ()))) > MAX_WIDTHS:
        raise WrongUsage(f"--width: at most {MAX_WIDTHS} widths.")
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


def _refuse_conformance_without_accessibility(chosen: Mapping[str, Any], outputs: Iterable[tuple[str, Any]]) -> None:
    """Raise WrongUsage if an option needs results of accessibility, and that type is not scanned."""
    if ScanType.ACCESSIBILITY in chosen.get("type", ScanType):
        return
    needing = [f"--format {value}" for option, value in outputs if option == "format" and value in CONFORMANCE_FORMATS]
    needing += ["--fail-on-level"] if "fail_on_level" in chosen else []
    if needing:
        raise WrongUsage(f"{needing[0]} needs --type accessibility.")


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
