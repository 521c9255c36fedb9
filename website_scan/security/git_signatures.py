"""Signatures of files in a Git repository.

Each returns the proof that a body is the file, or None.

Any of these files proves that the repository is public. Servers that block some of them leave the others, from which
tools rebuild the source code. The configuration is matched in `file_signatures.py`, with other INI files.
"""

from __future__ import annotations

import re

# Names of references without the forbidden characters of `git check-ref-format`; letters beyond ASCII are allowed.
_HEAD = re.compile(rb"ref:[ \t]{0,9}(refs/[^\x00-\x20\x7f~^:?*\[\\]{1,1000})")
_FORBIDDEN_IN_REFERENCE = re.compile(rb"\.\.|@\{|//|/\.|\.lock(?:/|\Z)|[./]\Z")
# With the reference storage “reftable”, HEAD always has this content (gitrepository-layout).
_REFTABLE_HEAD = b"ref: refs/heads/.invalid"
_OBJECT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_COMMIT = re.compile(_OBJECT_ID.encode())
# Versions 2 to 4, then the number of entries (gitformat-index).
_INDEX = re.compile(rb"DIRC\0\0\0[\x02-\x04].{4}", re.DOTALL)
_REFLOG_LINE = re.compile(
    rf"{_OBJECT_ID} {_OBJECT_ID} [^<>\n]{{0,200}}<[^<>\n]{{0,200}}> \d{{1,12}} [+-]\d{{4}}(?:\t|\n|\Z)".encode()
)
_PACKED_REFS = re.compile(rf"# pack-refs with:|{_OBJECT_ID} refs/[^\s]{{1,1000}}(?:\n|\Z)".encode())
_FETCH_HEAD_LINE = re.compile(rf"{_OBJECT_ID}\t(?:not-for-merge)?\t[^\n]{{0,1000}}(?:\n|\Z)".encode())
_EXCLUDE = b"# git ls-files --others --exclude-from=.git/info/exclude"


def git_head(body: bytes) -> str | None:
    text = body.strip()
    if text == _REFTABLE_HEAD:
        return "a reference to a branch (ref: refs/…)"
    if match := _HEAD.fullmatch(text):
        return None if _FORBIDDEN_IN_REFERENCE.search(match[1]) else "a reference to a branch (ref: refs/…)"
    return "the number of a commit" if _COMMIT.fullmatch(text) else None


def git_index(body: bytes) -> str | None:
    if not _INDEX.match(body):
        return None
    return "the index of a Git repository, with the names of its files"


def git_reflog(body: bytes) -> str | None:
    return "a log of commits with their authors" if _REFLOG_LINE.match(body) else None


def git_packed_refs(body: bytes) -> str | None:
    return "names of branches and their commits" if _PACKED_REFS.match(body) else None


def git_fetch_head(body: bytes) -> str | None:
    return "commits that were fetched, with their repository" if _FETCH_HEAD_LINE.match(body) else None


def git_exclude(body: bytes) -> str | None:
    return "the exclude file of a Git repository" if body.startswith(_EXCLUDE) else None
