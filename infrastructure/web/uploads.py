"""File upload handler that stores files in memory for views that accept a file, and discards all other files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

V = TypeVar("V", bound=Callable[..., object])


def accepts_file(max_bytes: int) -> Callable[[V], V]:
    """Decorate a view that accepts a file from logged-in users.

    Must be the outermost decorator of the view.

    A longer file is cut to `max_bytes` + 1 bytes, so that the view recognizes a file that is too large.
    """

    def decorate(view: V) -> V:
        view.accepts_file = max_bytes  # type: ignore[attr-defined]  # FilesInMemory reads this attribute.
        return view

    return decorate


class FilesInMemory(FileUploadHandler):
    """Upload handler for views decorated with `accepts_file`.

    Django's handlers would write anybody's files to disk.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        request = self.request
        match = request.resolver_match if request else None
        self.max_bytes = getattr(match.func, "accepts_file", 0) if match else 0
        user = getattr(request, "user", None)
        if not self.max_bytes or user is None or not user.is_authenticated:
            raise SkipFile
        self.pieces: list[bytes] = []
        self.size = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if remaining := self.max_bytes + 1 - self.size:
            piece = raw_data[:remaining]
            self.pieces.append(piece)
            self.size += len(piece)

    def file_complete(self, file_size: int) -> SimpleUploadedFile:
        file = SimpleUploadedFile(self.file_name or "", b"".join(self.pieces), self.content_type or "")
        self.pieces = []
        return file
