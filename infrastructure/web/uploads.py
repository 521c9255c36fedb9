"""File upload handler that discards all files, because no page accepts any."""

from __future__ import annotations

from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class NoFiles(FileUploadHandler):
    """Skips uploaded files. Django's own handlers would write them to disk before the sender is authenticated."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None
