"""Lists of sites of a Website Scan Service: `website-scan list push`, `list run` and `list export`."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

from website_scan.command.arguments import Parser
from website_scan.command.errors import EXIT_FAILED, ServerRefused, WrongUsage
from website_scan.command.output import refuse_what_cannot_be_written, write_pieces
from website_scan.command.progress import ProgressLine
from website_scan.command.remote import Server, Upload, server_at
from website_scan.command.terminal import say, write_out
from website_scan.findings import ScanType

LIST_ID = re.compile(r"lst_[0-9A-Za-z]{22}")
FORMATS = ("csv", "jsonl")
MEDIA_TYPES = {".csv": "text/csv", ".json": "application/json"}
LISTS_AT_ONCE = 100
# 100,000 sites take half a minute.
UPLOAD_TIMEOUT_S = 300.0
POLL_S = 10.0
WHOLE = ("completed", "partial")
ENDED = (*WHOLE, "failed", "cancelled")


class _List(TypedDict):
    """List of the API, as far as the command reads it; so are the other answers."""

    id: str
    name: str


class _Lists(TypedDict):
    lists: list[_List]
    total: int


class _Changes(TypedDict):
    added: int
    removed: int
    changed: int
    unchanged: int


class _Run(TypedDict):
    id: str
    status: str
    entries: int
    done: int
    failed: int
    left_out: int


class _Runs(TypedDict):
    runs: list[_Run]


def run(arguments: Sequence[str], program: str) -> int:
    """Run `list …`. Returns the exit status: 0, or 3 if a run that was waited for did not complete.

    Raises WrongUsage and ServerRefused.
    """
    options = parsed(arguments, program)
    if options.server is None:
        raise WrongUsage("Lists belong to a service: give its address with --server.")
    server = server_at(options.server)
    status: int = options.act(server, options)
    return status


def parsed(arguments: Sequence[str], program: str) -> argparse.Namespace:
    """Parse `[--server URL] list ACTION …`. Exits after `--help`, and with status 2 for what argparse refuses."""
    at = arguments.index("list")
    common = Parser(add_help=False)
    common.add_argument("--server", metavar="URL", help="address of the service")
    common.add_argument("--quiet", action="store_true", help="only problems")
    made = Parser(
        prog=f"{program} list",
        usage=f"{program} --server URL list push|run|export … [options]",
        description="Imports, runs and exports lists of sites of a Website Scan Service.",
        epilog="environment: WEBSITE_SCAN_KEY (API key)",
        allow_abbrev=False,
    )
    actions = made.add_subparsers(required=True, metavar="push|run|export")

    push = _action(actions, common, program, "push FILE [NAME|ID]", "replace the sites of a list by those of a file")
    push.add_argument("file", metavar="FILE", help="CSV, JSON (.json), or text with an address on each line; - reads")
    push.add_argument("list", metavar="NAME|ID", nargs="?", help="by default the name of the file; created if new")
    push.set_defaults(act=_push)

    begin = _action(actions, common, program, "run NAME|ID", "begin a run now")
    begin.add_argument("list", metavar="NAME|ID")
    begin.add_argument("--wait", action="store_true", help="until it has ended, which may take its whole window")
    begin.set_defaults(act=_run)

    export = _action(actions, common, program, "export NAME|ID", "export the latest snapshot")
    export.add_argument("list", metavar="NAME|ID")
    export.add_argument("--snapshot", metavar="ID", help="another one (run_…)")
    export.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="csv, or jsonl with all findings")
    export.add_argument("--output", type=Path, metavar="FILE", help="in place of standard output")
    export.set_defaults(act=_export)
    return made.parse_args([*arguments[at + 1 :], *arguments[:at]])


def _action(
    actions: argparse._SubParsersAction[Parser], common: Parser, program: str, usage: str, about: str
) -> Parser:
    name = usage.partition(" ")[0]
    return actions.add_parser(
        name,
        usage=f"{program} --server URL list {usage} [options]",
        parents=[common],
        description=f"{about.capitalize()}.",
        help=about,
        allow_abbrev=False,
    )


def _push(server: Server, options: argparse.Namespace) -> int:
    data, media_type, name = _file(options.file)
    wanted = options.list or name
    found = _find(server, wanted)
    is_new = found is None
    if found is None:
        created: _List = server.ask("POST", "/v1/lists", {"name": wanted, "types": [str(each) for each in ScanType]})
        found = created
    path = f"/v1/lists/{found['id']}"
    try:
        changes: _Changes = server.ask("PUT", f"{path}/entries", upload=Upload(data, media_type, UPLOAD_TIMEOUT_S))
    except (ServerRefused, KeyboardInterrupt):
        if is_new:
            # Nobody asked for an empty list.
            with contextlib.suppress(ServerRefused):
                server.ask("DELETE", path)
        raise
    if not options.quiet:
        told = ", ".join(f"{changes[each]:,} {each}" for each in ("added", "removed", "changed", "unchanged"))
        say(f"{'Created' if is_new else 'Updated'} {found['name']} ({found['id']}): {told}.")
    return 0


def _file(name: str) -> tuple[bytes, str, str]:
    """Return content, media type and name of a file of sites, without its ending. Raises WrongUsage."""
    if name == "-":
        return sys.stdin.buffer.read(), MEDIA_TYPES[".csv"], ""
    path = Path(name)
    try:
        return path.read_bytes(), MEDIA_TYPES.get(path.suffix.lower(), "text/plain"), path.stem
    except OSError as error:
        raise WrongUsage(f"{name} can't be read: {error.strerror}") from None


def _run(server: Server, options: argparse.Namespace) -> int:
    found = _known(server, options.list)
    path = f"/v1/lists/{found['id']}/runs"
    begun: _Run = server.ask("POST", path)
    write_out(f"{begun['id']}\n")
    if not options.wait:
        if not options.quiet:
            say(f"A run of {found['name']} with {begun['entries']:,} sites has begun.")
        return 0
    progress = ProgressLine(is_quiet=options.quiet)
    try:
        while begun["status"] not in ENDED:
            ended = begun["done"] + begun["failed"]
            total = begun["entries"]
            progress.tell(100 * ended // max(1, total), f"{ended:,}/{total:,} sites  {found['name']}")
            server.wait(POLL_S)
            begun = server.ask("GET", f"{path}/{begun['id']}")
    finally:
        progress.clear()
    if not options.quiet:
        numbers = f"{begun['done']:,} sites judged, {begun['failed']:,} failed, {begun['left_out']:,} left out"
        say(f"The run of {found['name']} is {begun['status']}: {numbers}.")
    return 0 if begun["status"] == "completed" else EXIT_FAILED


def _export(server: Server, options: argparse.Namespace) -> int:
    found = _known(server, options.list)
    refuse_what_cannot_be_written([options.output])
    run_id = options.snapshot or _latest(server, found)
    pieces = server.download(f"/v1/lists/{found['id']}/snapshots/{quote(run_id, safe='')}/export/{options.format}")
    texts = codecs.iterdecode(pieces, "utf-8")
    if options.output is not None:
        write_pieces(options.output, texts)
        if not options.quiet:
            say(f"Written: {options.output}.")
        return 0
    for text in texts:
        write_out(text)
    return 0


def _latest(server: Server, found: _List) -> str:
    runs: _Runs = server.ask("GET", f"/v1/lists/{found['id']}/runs?limit={LISTS_AT_ONCE}")
    for each in runs["runs"]:
        if each["status"] in WHOLE:
            return each["id"]
    raise ServerRefused(f"{found['name']} has no snapshot yet: no run has ended.")


def _known(server: Server, wanted: str) -> _List:
    found = _find(server, wanted)
    if found is None:
        raise ServerRefused(f"There is no list with the name {wanted}.")
    return found


def _find(server: Server, wanted: str) -> _List | None:
    """Return the list with this ID or name; None for an unknown name. Raises WrongUsage if several have the name."""
    if LIST_ID.fullmatch(wanted):
        known: _List = server.ask("GET", f"/v1/lists/{wanted}")
        return known
    if not wanted:
        raise WrongUsage("Give the name or the ID of the list.")
    found = [each for each in _lists(server) if each["name"] == wanted]
    if len(found) > 1:
        raise WrongUsage(f"{len(found)} lists have the name {wanted}: give an ID, such as {found[0]['id']}.")
    return found[0] if found else None


def _lists(server: Server) -> Iterator[_List]:
    offset = 0
    while True:
        found: _Lists = server.ask("GET", f"/v1/lists?limit={LISTS_AT_ONCE}&offset={offset}")
        yield from found["lists"]
        offset += len(found["lists"])
        if not found["lists"] or offset >= found["total"]:
            return
