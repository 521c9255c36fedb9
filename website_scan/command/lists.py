"""Commands `website-scan list push`, `list run` and `list export`.

They are for lists of sites of a Website Scan Service.
"""

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

from website_scan.command.argument_parser import Parser
from website_scan.command.category_options import add_category_option
from website_scan.command.errors import EXIT_FAILED, ServerRefused, WrongUsage
from website_scan.command.list_parts import push_sites
from website_scan.command.output import refuse_unwritable, write_pieces
from website_scan.command.progress import ProgressLine
from website_scan.command.remote import ServiceClient, Upload, service_client
from website_scan.command.terminal import write_err, write_out
from website_scan.findings import ScanType

LIST_ID = re.compile(r"lst_[0-9A-Za-z]{22}")
FORMATS = ("csv", "jsonl")
MEDIA_TYPES = {
    ".csv": "text/csv",
    ".json": "application/json",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
ITEMS_PER_REQUEST = 100
# The service needs half a minute for an upload of 100,000 sites.
UPLOAD_TIMEOUT_S = 300.0
POLL_INTERVAL_S = 10.0
SNAPSHOT_STATUSES = ("completed", "partial")
FINAL_STATUSES = (*SNAPSHOT_STATUSES, "failed", "cancelled")


class _List(TypedDict):
    """List of sites in an API response.

    It has only the keys that the command reads.
    """

    id: str
    name: str
    entries: int


class _Lists(TypedDict):
    lists: list[_List]
    total: int


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
    """Execute `website-scan list`.

    Returns the exit status: 0, or 3 if the run of `list run --wait` did not complete. Raises WrongUsage and
    ServerRefused.
    """
    options = parse_options(arguments, program)
    if options.server is None:
        raise WrongUsage("Lists belong to a service: specify its address with --server.")
    server = service_client(options.server)
    status: int = options.act(server, options)
    return status


def parse_options(arguments: Sequence[str], program: str) -> argparse.Namespace:
    """Parse the arguments of `website-scan list`.

    Exits after `--help`, and with status 2 for invalid arguments.
    """
    position = arguments.index("list")
    common = Parser(add_help=False)
    common.add_argument("--server", metavar="URL", help="address of the service")
    common.add_argument("--quiet", action="store_true", help="only problems")
    list_parser = Parser(
        prog=f"{program} list",
        usage=f"{program} --server URL list push|run|export … [options]",
        description="Imports, runs and exports lists of sites of a Website Scan Service.",
        epilog="environment: WEBSITE_SCAN_KEY (API key)",
        allow_abbrev=False,
    )
    actions = list_parser.add_subparsers(required=True, metavar="push|run|export")

    push = _action(actions, common, program, "push FILE [NAME|ID]", "replace the sites of a list by those of a file")
    push.add_argument(
        "file",
        metavar="FILE",
        help="CSV, JSON (.json), workbook (.xlsx), or text with an address on each line; - reads",
    )
    push.add_argument("list", metavar="NAME|ID", nargs="?", help="by default the name of the file; created if new")
    add_category_option(push)
    push.set_defaults(act=_push)

    begin = _action(actions, common, program, "run NAME|ID", "begin a run now")
    begin.add_argument("list", metavar="NAME|ID")
    begin.add_argument("--wait", action="store_true", help="until it has ended, which may take its whole window")
    begin.set_defaults(act=_run)

    export = _action(actions, common, program, "export NAME|ID", "export the latest snapshot")
    export.add_argument("list", metavar="NAME|ID")
    export.add_argument("--snapshot", metavar="ID", help="another one (run_…)")
    export.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="csv, or jsonl with all findings")
    export.add_argument("--output", type=Path, metavar="FILE", help="instead of standard output")
    export.set_defaults(act=_export)
    return list_parser.parse_args([*arguments[position + 1 :], *arguments[:position]])


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


def _push(server: ServiceClient, options: argparse.Namespace) -> int:
    data, media_type, name = _read_sites(options.file)
    name_or_id = options.list or name
    site_list = _find_list(server, name_or_id)
    is_new_list = site_list is None
    if site_list is None:
        types = list(map(str, ScanType)) if options.categories is None else [str(ScanType.SECURITY)]
        categories = {} if options.categories is None else {"categories": options.categories}
        created: _List = server.request("POST", "/v1/lists", {"name": name_or_id, "types": types, **categories})
        site_list = created
    path = f"/v1/lists/{site_list['id']}"
    if options.categories is not None and not is_new_list:
        server.request("PATCH", path, {"categories": options.categories})
    progress = ProgressLine(is_quiet=options.quiet)
    try:
        upload = Upload(data, media_type, UPLOAD_TIMEOUT_S)
        changes = push_sites(server, f"{path}/entries", upload, progress, site_list["entries"])
    except (ServerRefused, KeyboardInterrupt):
        if is_new_list:
            with contextlib.suppress(ServerRefused):
                _delete_if_empty(server, path)
        raise
    if not options.quiet:
        numbers = ", ".join(f"{changes[name]:,} {name}" for name in ("added", "removed", "changed", "unchanged"))
        write_err(f"{'Created' if is_new_list else 'Updated'} {site_list['name']} ({site_list['id']}): {numbers}.")
    return 0


def _delete_if_empty(server: ServiceClient, path: str) -> None:
    """Delete a new list after a failed upload, unless the service has already imported parts of the file."""
    site_list: _List = server.request("GET", path)
    if site_list["entries"] == 0:
        server.request("DELETE", path)
    else:
        name = f"{site_list['name']} ({site_list['id']})"
        write_err(f"{name} has {site_list['entries']:,} sites so far. Push the same file again to import the others.")


def _read_sites(name: str) -> tuple[bytes, str, str]:
    """Read a file of sites (`-` for standard input).

    Returns content, media type, and file name without extension.
    """
    if name == "-":
        return sys.stdin.buffer.read(), MEDIA_TYPES[".csv"], ""
    path = Path(name)
    try:
        return path.read_bytes(), MEDIA_TYPES.get(path.suffix.lower(), "text/plain"), path.stem
    except OSError as error:
        raise WrongUsage(f"{name} can't be read: {error.strerror}") from None


def _run(server: ServiceClient, options: argparse.Namespace) -> int:
    site_list = _require_list(server, options.list)
    path = f"/v1/lists/{site_list['id']}/runs"
    list_run: _Run = server.request("POST", path)
    write_out(f"{list_run['id']}\n")
    if not options.wait:
        if not options.quiet:
            write_err(f"A run of {site_list['name']} with {list_run['entries']:,} sites has begun.")
        return 0
    progress = ProgressLine(is_quiet=options.quiet)
    try:
        while list_run["status"] not in FINAL_STATUSES:
            ended = list_run["done"] + list_run["failed"]
            total = list_run["entries"]
            progress.update(100 * ended // max(1, total), f"{ended:,}/{total:,} sites  {site_list['name']}")
            server.wait(POLL_INTERVAL_S)
            list_run = server.request("GET", f"{path}/{list_run['id']}")
    finally:
        progress.clear()
    if not options.quiet:
        numbers = f"{list_run['done']:,} sites judged, {list_run['failed']:,} failed, {list_run['left_out']:,} left out"
        write_err(f"The run of {site_list['name']} is {list_run['status']}: {numbers}.")
    return 0 if list_run["status"] == "completed" else EXIT_FAILED


def _export(server: ServiceClient, options: argparse.Namespace) -> int:
    site_list = _require_list(server, options.list)
    refuse_unwritable([options.output])
    run_id = options.snapshot or _latest_run_id(server, site_list)
    pieces = server.download(f"/v1/lists/{site_list['id']}/snapshots/{quote(run_id, safe='')}/export/{options.format}")
    texts = codecs.iterdecode(pieces, "utf-8")
    if options.output is not None:
        write_pieces(options.output, texts)
        if not options.quiet:
            write_err(f"Written: {options.output}.")
        return 0
    for text in texts:
        write_out(text)
    return 0


def _latest_run_id(server: ServiceClient, site_list: _List) -> str:
    runs: _Runs = server.request("GET", f"/v1/lists/{site_list['id']}/runs?limit={ITEMS_PER_REQUEST}")
    for run in runs["runs"]:
        if run["status"] in SNAPSHOT_STATUSES:
            return run["id"]
    raise ServerRefused(f"{site_list['name']} has no snapshot yet: no run has ended.")


def _require_list(server: ServiceClient, name_or_id: str) -> _List:
    site_list = _find_list(server, name_or_id)
    if site_list is None:
        raise ServerRefused(f"There is no list with the name {name_or_id}.")
    return site_list


def _find_list(server: ServiceClient, name_or_id: str) -> _List | None:
    """Return the list with this ID or name.

    None if no list has it. Raises WrongUsage if several lists have it.
    """
    if LIST_ID.fullmatch(name_or_id):
        response: _List = server.request("GET", f"/v1/lists/{name_or_id}")
        return response
    if not name_or_id:
        raise WrongUsage("Give the name or the ID of the list.")
    matching_lists = [site_list for site_list in _lists(server) if site_list["name"] == name_or_id]
    if len(matching_lists) > 1:
        raise WrongUsage(
            f"{len(matching_lists)} lists have the name {name_or_id}: use an ID, such as {matching_lists[0]['id']}."
        )
    return matching_lists[0] if matching_lists else None


def _lists(server: ServiceClient) -> Iterator[_List]:
    offset = 0
    while True:
        page: _Lists = server.request("GET", f"/v1/lists?limit={ITEMS_PER_REQUEST}&offset={offset}")
        yield from page["lists"]
        offset += len(page["lists"])
        if not page["lists"] or offset >= page["total"]:
            return
