"""Command `website-scan init`: writes website-scan.toml and the build job of a repository."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from website_scan.command.argument_parser import Parser
from website_scan.command.configuration import NAME
from website_scan.command.errors import WrongUsage
from website_scan.command.init.configuration_file import configuration_text
from website_scan.command.init.folder import SetupFolder
from website_scan.command.init.jobs import (
    GITHUB_WORKFLOW,
    GITLAB_INCLUDE,
    GITLAB_JOB,
    github_workflow,
    gitlab_job,
    gitlab_pipeline,
    shell_lines,
)
from website_scan.command.init.plan import ScanPlan, scan_plan
from website_scan.command.init.quoting import shell_word
from website_scan.command.init.site import recognize_site
from website_scan.command.init.source import PLACEHOLDER, CommandSource, command_source
from website_scan.command.init.systems import (
    GITHUB,
    GITLAB,
    GITLAB_FILE,
    BuildSystem,
    build_systems,
    remote_hosts,
    repository_root,
)
from website_scan.command.terminal import printable, write_out

ABOUT = """\
Writes website-scan.toml, which explains every option, and a job for the build
system that the repository uses. No existing file is replaced without --force."""


def run(arguments: Sequence[str], program: str) -> int:
    """Execute `website-scan init`. Returns the exit status. Raises WrongUsage."""
    options = parse_options(arguments, program)
    folder = SetupFolder(options.folder)
    plan = scan_plan(recognize_site(folder), options.url)
    root = repository_root(folder.path)
    is_root = root is None or root == folder.path.resolve()
    systems = build_systems(folder) if is_root else []
    source = command_source()
    files = {NAME: configuration_text(plan), **_jobs(folder, systems, plan, source)}
    written, kept = _write(folder, files, replaces=options.force)
    lines = [*_recognized(plan, systems, root if not is_root else None), "", *_report(written, kept)]
    unfinished = [path for path in written if PLACEHOLDER.path in files[path]]
    lines += _next_steps(folder, plan, program, has_new_configuration=NAME in written)
    if root is not None and not is_root:
        lines += _steps_in_subfolder(folder.path.resolve().relative_to(root), program)
    else:
        lines += _steps_for_jobs(folder, systems, plan, source, written, unfinished)
    write_out("".join(f"{printable(line)}\n" for line in lines))
    return 0


def parse_options(arguments: Sequence[str], program: str) -> argparse.Namespace:
    """Parse the arguments of `website-scan init`. Exits after `--help`, and with status 2 for invalid arguments."""
    parser = Parser(
        prog=f"{program} init",
        usage=f"{program} init [--url URL] [--force] [FOLDER]",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", default=Path(), help="repository (.)")
    parser.add_argument("--url", metavar="URL", help="page to scan; by default a folder or a server of the repository")
    parser.add_argument("--force", action="store_true", help="replace website-scan.toml and the job")
    return parser.parse_args(arguments)


def _jobs(folder: SetupFolder, systems: Iterable[BuildSystem], plan: ScanPlan, source: CommandSource) -> dict[str, str]:
    """Return the content of each file that a build job needs, by its path in the folder."""
    files = {}
    names = [system.name for system in systems]
    if GITHUB in names:
        files[GITHUB_WORKFLOW] = github_workflow(plan, source)
    if GITLAB in names:
        host = next(iter(remote_hosts(folder.path)), "")
        files[GITLAB_JOB] = gitlab_job(plan, source, host)
        if not folder.exists(GITLAB_FILE):
            files[GITLAB_FILE] = gitlab_pipeline(plan)
    return files


def _write(folder: SetupFolder, files: dict[str, str], *, replaces: bool) -> tuple[list[str], list[str]]:
    """Write the files, and return the paths of those that were written, and of those that exist and were kept.

    Raises WrongUsage if nothing could be written.
    """
    kept = [path for path in files if not replaces and folder.exists(path)]
    written = [path for path in files if path not in kept]
    if not written:
        raise WrongUsage(f"{' and '.join(kept)} exist already. Nothing was written; --force replaces them.")
    for path in written:
        folder.refuse_links(path)
    for path in written:
        folder.write(path, files[path], replaces=replaces)
    return written, kept


def _recognized(plan: ScanPlan, systems: Sequence[BuildSystem], root: Path | None) -> Iterator[str]:
    """Yield what was recognized."""
    if plan.url:
        yield f"Site: {plan.url}"
    elif plan.start:
        yield f"Site: the server of `{plan.start}`, at {plan.local_url}"
    elif plan.local_url:
        yield f"Site: {plan.local_url}, on this machine"
    elif plan.folder == ".":
        yield "Site: the static files of the folder itself"
    elif plan.folder:
        yield f"Site: the folder {plan.folder}" + (f", written by `{plan.build}`" if plan.build else "")
    else:
        yield "Site: not recognized"
    if root is not None:
        yield f"Repository: {root}"
    elif len(systems) > 1:
        yield f"Build systems: {', '.join(f'{system.name} ({system.sign})' for system in systems)}"
    elif systems:
        yield f"Build system: {systems[0].name}, because of {systems[0].sign}"
    else:
        yield "Build system: not recognized"


def _report(written: Sequence[str], kept: Sequence[str]) -> Iterator[str]:
    for path in written:
        yield f"Written: {path}"
    for path in kept:
        yield f"Exists, and was not changed: {path} (--force replaces it)"


def _next_steps(folder: SetupFolder, plan: ScanPlan, program: str, *, has_new_configuration: bool) -> Iterator[str]:
    """Yield the commands for the first scan."""
    yield ""
    if plan.is_empty and has_new_configuration:
        yield f"Write the address of your site into {NAME}, at `urls`. Then scan it:"
    else:
        yield "Scan the site, and read the findings:"
    yield ""
    if folder.path.resolve() != Path.cwd():
        # A name that begins with a dash would be an option.
        path = str(folder.path)
        yield f"  cd {shell_word(f'./{path}' if path.startswith('-') else path)}"
    if plan.build and not plan.site.is_there:
        yield f"  {plan.build_from_scratch or plan.build}"
    yield f"  {program}{f' {plan.arguments}' if plan.arguments else ''}"
    if has_new_configuration:
        yield ""
        yield f"No finding fails the build yet: {NAME} explains how to change that."


def _steps_in_subfolder(subfolder: Path, program: str) -> Iterator[str]:
    yield ""
    yield "Build jobs belong in the root of the repository, so none was written. Let your"
    yield "job run this command there; the GitHub action has the input `config` for it:"
    yield ""
    yield f"  {program} --config {shell_word(str(subfolder / NAME))}"


def _steps_for_jobs(
    folder: SetupFolder,
    systems: Sequence[BuildSystem],
    plan: ScanPlan,
    source: CommandSource,
    written: Sequence[str],
    unfinished: Sequence[str],
) -> Iterator[str]:
    """Yield what is left to do for the build jobs. `unfinished` are the files with a placeholder."""
    if GITLAB_JOB in written and GITLAB_FILE not in written and GITLAB_JOB not in (folder.text(GITLAB_FILE) or ""):
        yield from ("", f"Add this to {GITLAB_FILE}:", "")
        yield from (f"  {line}" for line in GITLAB_INCLUDE.splitlines())
        if plan.folder not in ("", "."):
            yield f"It needs the folder {plan.folder}, as an artifact of the job of your build."
    if unfinished:
        yield from ("", f"Replace {PLACEHOLDER.path} by your copy of the", "repository of website-scan, in:", "")
        yield from (f"  {path}" for path in unfinished)
    others = [system.name for system in systems if system.name not in (GITHUB, GITLAB)]
    if others or not systems:
        job = f"the job of {' and '.join(others)}" if others else "a build job"
        yield from ("", f"Add these lines to {job}:", "")
        yield from (f"  {line}" for line in shell_lines(plan, source))
        if source.is_placeholder:
            yield from ("", "Replace the address git.example.com/… by that of your copy.")
