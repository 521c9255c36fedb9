"""Command `make release VERSION=1.2.0`: test, build and tag a release.

1. Refuse a working tree with changes, a version that is not newer than the last release, and a tag that exists.
2. Write the version to all files that contain it, move changelog.d into CHANGELOG.md, and commit these changes.
3. Test the commit in a fresh clone: style, types, contracts, all tests.
4. Build the wheel and the source archive twice, from two copies, and compare the builds. Build the images.
5. Write SBOMs (CycloneDX) of all artifacts, with the IDs of images, and SHA256SUMS.
6. Tag the commit, with the changelog's section as the message. Nothing is published: the output says how to publish.

The same command repeats a release that was refused or interrupted. All artifacts are in var/release/VERSION.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG, FRAGMENTS = Path("CHANGELOG.md"), Path("changelog.d")
# Files that contain the version, with a regular expression for it. `make docs` copies the version to openapi.yaml and
# docs/api.md.
DEFINITION = Path("website_scan/__init__.py")
PLACES: Mapping[Path, str] = {
    DEFINITION: r'(?<=^__version__ = ")[^"]+(?="$)',
    Path("deploy/kubernetes/example/kustomization.yaml"): r'(?<=newTag: ")[^"]+(?=")',
    Path("docs/ci.md"): r"(?<=^    rev: v)\S+$",
}
DASH = "\N{EN DASH}"  # This dash separates version and date in headings of the changelog.
LOCKS = tuple(f"requirements/{name}.txt" for name in ("service", "browser", "command", "command-browser"))


class ReleaseRefused(Exception):
    """Raised when a release cannot be made.

    The message says how to fix the problem.
    """


def release(version: str, root: Path, *, with_tests: bool, with_images: bool) -> Path:
    """Make a release in the working tree `root`, and return the folder with its files.

    Raises ReleaseRefused.
    """
    require_ready(version, root)
    prepare(version, root)
    output = root / "var" / "release" / version
    shutil.rmtree(output, ignore_errors=True)
    files = output / "files"
    files.mkdir(parents=True)
    if with_tests:
        test(root, output / "tested")
    build_distributions(root, output, files)
    build_sboms(root, files)
    if with_images:
        run(["make", "images", f"ARGS=--bills {files}"], output / "tested" if with_tests else root)
    notes = section_of(version, (root / CHANGELOG).read_text(encoding="utf-8"))
    (files / "NOTES.md").write_text(notes, encoding="utf-8")
    write_checksums(files)
    tag(version, notes, root)
    return files


def require_ready(version: str, root: Path) -> None:
    """Raise ReleaseRefused if this version cannot be released from the working tree."""
    try:
        parsed = Version(version)
    except InvalidVersion:
        parsed = None
    if parsed is None or str(parsed) != version or len(parsed.release) != 3 or parsed.is_prerelease or parsed.local:
        raise ReleaseRefused(f"{version!r} is not the version of a release. Name three numbers: VERSION=1.2.0.")
    if git(root, "status", "--porcelain"):
        raise ReleaseRefused("The working tree has changes. Commit or remove them; `git status` lists them.")
    tags = git(root, "tag", "--list", "v[0-9]*").split()
    if f"v{version}" in tags:
        raise ReleaseRefused(f"v{version} exists already. A release never changes: make the next one.")
    newest = max((Version(tag_name[1:]) for tag_name in tags), default=None)
    if newest and parsed <= newest:
        raise ReleaseRefused(f"{version} is not newer than {newest}.")
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    if has_section(version, text) and fragments(root):
        raise ReleaseRefused(
            f"{CHANGELOG} has a section {version} already, and {FRAGMENTS} has more entries. Write them into it, and "
            "delete them."
        )
    if not has_section(version, text) and not fragments(root):
        raise ReleaseRefused(f"Nothing has changed: {FRAGMENTS} is empty, and {CHANGELOG} has no section {version}.")


def prepare(version: str, root: Path) -> None:
    """Write the version and the changelog, and commit both, unless an earlier attempt has committed them."""
    for path, pattern in PLACES.items():
        old_text = (root / path).read_text(encoding="utf-8")
        new_text, count = re.subn(pattern, version, old_text, flags=re.MULTILINE)
        if not count:
            raise ReleaseRefused(f"{path} does not name the version any more. Mend PLACES in deploy/release.py.")
        (root / path).write_text(new_text, encoding="utf-8")
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    if has_section(version, text):
        heading = rf"^## {re.escape(version)} {DASH} .*$"
        text = re.sub(heading, f"## {version} {DASH} {today}", text, flags=re.MULTILINE)
        (root / CHANGELOG).write_text(text, encoding="utf-8")
    else:
        towncrier = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, "--date", today]
        run(towncrier, root)
    run(["make", "docs"], root)
    git(root, "add", "--all")
    if git(root, "status", "--porcelain"):
        git(root, "commit", "--quiet", "--message", f"Release {version}")


def test(root: Path, clone: Path) -> None:
    """Run all tests on the commit in a new clone. Raises ReleaseRefused."""
    git(root, "clone", "--quiet", "--no-hardlinks", str(root), str(clone))
    run(["make", "check"], clone)
    run(["make", "test-slow"], clone)


def build_distributions(root: Path, output: Path, files: Path) -> None:
    """Build wheel and source archive into `files`.

    Raises ReleaseRefused if a second build differs from the first.
    """
    commit_time = git(root, "log", "-1", "--format=%ct")
    built = []
    for name in ("first", "second"):
        tree = output / name
        tree.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True).stdout
        subprocess.run(["tar", "--extract", "--touch", "--directory", str(tree)], input=archive, check=True)
        dist = output / f"{name}-dist"
        command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--target", "wheel"]
        run([*command, "--directory", str(dist)], tree, {"SOURCE_DATE_EPOCH": commit_time})
        built.append(dist)
    first, second = ({path.name: digest(path) for path in dist.iterdir()} for dist in built)
    if first != second:
        different = sorted(name for name in first | second if first.get(name) != second.get(name))
        raise ReleaseRefused(f"Two builds of one commit differ: {', '.join(different)}.")
    for path in built[0].iterdir():
        shutil.copy(path, files)
    for name in ("first", "second"):
        shutil.rmtree(output / name)
        shutil.rmtree(output / f"{name}-dist")


def build_sboms(root: Path, files: Path) -> None:
    """Write an SBOM of the locked packages for every kind of installation."""
    for lock in LOCKS:
        run(["make", "sbom", f"LOCK={lock}"], root)
        shutil.move(root / "var" / "sbom.json", files / f"sbom-{Path(lock).stem}.json")


def write_checksums(files: Path) -> None:
    """Write the file SHA256SUMS for `sha256sum --check`."""
    lines = [f"{digest(path)}  {path.name}\n" for path in sorted(files.iterdir())]
    (files / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def tag(version: str, notes: str, root: Path) -> None:
    """Tag the commit with the release notes.

    Git signs the tag if tag.gpgSign is set.
    """
    git(root, "tag", "--annotate", f"v{version}", "--cleanup=verbatim", "--message", f"Release {version}\n\n{notes}")


def has_section(version: str, text: str) -> bool:
    return f"\n## {version} {DASH} " in text


def section_of(version: str, text: str) -> str:
    """Return a version's changelog section, without its heading."""
    match = re.search(rf"^## {re.escape(version)} {DASH} [^\n]*\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise ReleaseRefused(f"{CHANGELOG} has no section {version}.")
    return match[1].strip() + "\n"


def fragments(root: Path) -> list[Path]:
    return [path for path in (root / FRAGMENTS).iterdir() if path.name != "README.md"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def run(command: Sequence[str], folder: Path, variables: Mapping[str, str] = {}) -> None:
    """Run a command and show its output on the terminal.

    Raises ReleaseRefused if the command fails.
    """
    print(f"→ {' '.join(command)}", flush=True)
    # An outer `make` passes on VERSION and its jobserver, which an inner `make` must not use.
    clean = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")}
    process = subprocess.run(command, cwd=folder, env={**clean, **variables}, stdin=subprocess.DEVNULL, check=False)
    if process.returncode:
        raise ReleaseRefused(f"`{' '.join(command)}` failed in {folder}. Mend it, commit, and repeat the release.")


def main() -> None:
    parser = argparse.ArgumentParser(description="Test, build and tag a release.")
    parser.add_argument("version")
    parser.add_argument("--without-tests", action="store_true", help="if CI has tested this commit")
    parser.add_argument("--without-images", action="store_true", help="where there is nothing to build them with")
    options = parser.parse_args()
    try:
        files = release(
            options.version, ROOT, with_tests=not options.without_tests, with_images=not options.without_images
        )
    except ReleaseRefused as error:
        sys.exit(str(error))
    print(f"\nReleased {options.version}: {files}\nTo publish it:\n  git push origin HEAD v{options.version}")


if __name__ == "__main__":
    main()
