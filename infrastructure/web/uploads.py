"""File upload handler that keeps a file in memory for the views that ask for one, and discards all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

V = TypeVar("V", bound=Callable[..., object])


def takes_file(max_bytes: int) -> Callable[[V], V]:
    """Decorator for a view that takes a file from people who are logged in; outermost, because the router reads it.

    A file of more than `max_bytes` is cut after the byte that is too many, so that the view can tell.
    """

    def decorate(view: V) -> V:
        view.takes_file = max_bytes  # type: ignore[attr-defined]  # read by the handler
        return view

    return decorate


class FilesInMemory(FileUploadHandler):
    """Keeps files for views with `takes_file`; Django's own handlers would write those of strangers to disk."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        request = self.request
        match = request.resolver_match if request else None
        self.most = getattr(match.func, "takes_file", 0) if match else 0
        user = getattr(request, "user", None)
        if not self.most or user is None or not user.is_authenticated:
            raise SkipFile
        self.pieces: list[bytes] = []
        self.kept = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if room := self.most + 1 - self.kept:
            piece = raw_data[:room]
            self.pieces.append(piece)
            self.kept += len(piece)

    def file_complete(self, file_size: int) -> SimpleUploadedFile:
        found = SimpleUploadedFile(self.file_name or "", b"".join(self.pieces), self.content_type or "")
        self.pieces = []
        return found
