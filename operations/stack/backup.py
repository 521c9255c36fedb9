"""Backup files.

They are tar archives with a dump in pg_dump's custom format, followed by a JSON manifest.

`tar -xf FILE database.dump` and pg_restore can read a backup without this program. This module does not import Django.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import asdict

FORMAT = 1
DUMP, MANIFEST = "database.dump", "manifest.json"
DRAFT_SUFFIX = ".part"
CHUNK_BYTES = 1024 * 1024


class BackupError(Exception):
    """Raised when a backup or restore fails without changing anything.

    The message is printed on the terminal.
    """


class Manifest(Struct, frozen=True):
    """A backup's description.

    `keys` are the key ring's fingerprints, starting with the encrypting key.
    """

    version: str
    created_at: str
    postgresql: int
    migrations: list[str]  # Each migration has the form "app.name".
    keys: list[str]
    sha256: str = ""
    bytes: int = 0
    format: int = FORMAT


@contextlib.contextmanager
def draft_of(path: Path) -> Iterator[IO[bytes]]:
    """Open a draft file that becomes `path` when the block ends without an error.

    Only its owner can read it.

    The next backup overwrites a draft whose writer was killed. Existing backups are never replaced. Raises BackupError.
    """
    draft = path.with_name(path.name + DRAFT_SUFFIX)
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise BackupError(f"{draft} can't be written: {error.strerror}.") from error
    with os.fdopen(descriptor, "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"Another backup is being written to {path}.") from None
        try:
            if path.exists():
                raise BackupError(f"{path} exists already. Name another file.")
            os.fchmod(file.fileno(), 0o600)
            file.truncate()
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.link(draft, path)  # Unlike a rename, linking fails if `path` was created in the meantime.
        except OSError as error:
            raise BackupError(f"{path} can't be written: {error.strerror}.") from error
        finally:
            draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write(file: IO[bytes], dump: IO[bytes], manifest: Manifest) -> Manifest:
    """Write `dump` and its manifest to a new archive.

    Return the manifest with size and checksum.
    """
    file.write(bytes(tarfile.BLOCKSIZE))  # Placeholder for the tar header, which contains the size.
    digest, size = hashlib.sha256(), 0
    while chunk := dump.read(CHUNK_BYTES):
        file.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    file.write(bytes(-size % tarfile.BLOCKSIZE))
    values = asdict(manifest) | {"sha256": digest.hexdigest(), "bytes": size}
    text = json.dumps(values, indent=2).encode() + b"\n"
    file.write(_header(MANIFEST, len(text)) + text)
    file.write(bytes(-len(text) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE))
    file.seek(0)
    file.write(_header(DUMP, size))
    return Manifest(**values)


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o600, int(time.time())
    return member.tobuf(tarfile.GNU_FORMAT)


def verified_manifest(path: Path) -> Manifest:
    """Verify a backup's checksum and return the manifest.

    Raises BackupError if the file is damaged.
    """
    try:
        with tarfile.open(path, "r:") as archive:
            dump, text = archive.extractfile(DUMP), archive.extractfile(MANIFEST)
            if dump is None or text is None:
                raise BackupError(f"{path} is no backup.")
            manifest = _manifest(text)
            digest = hashlib.sha256()
            while chunk := dump.read(CHUNK_BYTES):
                digest.update(chunk)
    except (KeyError, ValueError, TypeError, EOFError, tarfile.TarError):
        raise BackupError(f"{path} is no backup, or is damaged.") from None
    except OSError as error:
        raise BackupError(f"{path} can't be read: {error.strerror}.") from error
    if digest.hexdigest() != manifest.sha256:
        raise BackupError(f"{path} is damaged: its checksum is wrong.")
    return manifest


@contextlib.contextmanager
def dump_in(path: Path) -> Iterator[IO[bytes]]:
    """Open the database dump in a backup that `verified_manifest` has verified."""
    with tarfile.open(path, "r:") as archive:
        dump = archive.extractfile(DUMP)
        if dump is None:
            raise BackupError(f"{path} is no backup.")
        yield dump


def _manifest(file: IO[bytes]) -> Manifest:
    values = json.load(file)
    if values["format"] != FORMAT:
        raise BackupError(f"The backup was made by a newer version, {values['version']}. Install that one first.")
    return Manifest(**values)
