"""No page takes files."""

from __future__ import annotations

from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class NoFiles(FileUploadHandler):
    """Lets files pass by unread: Django would write them to disk before it knows who sends them."""

    def new_file(self, *args: object, **kwargs: object) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None
