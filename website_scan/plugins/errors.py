"""Errors in the process of a plug-in, as clauses for the authors of plug-ins."""

from __future__ import annotations

from collections.abc import Container

MAX_MESSAGE = 300
MAX_NAME = 60


class PlainError(Exception):
    """Base class of exceptions whose message is a clause that needs no name of a class before it."""


def describe(error: BaseException, packages: Container[str] = ()) -> str:
    """Return the type of an exception, the beginning of its message, and the line of the plug-in's code that raised it.

    `packages` are the top-level packages of the plug-in.
    """
    try:
        message = str(error)[:MAX_MESSAGE].rstrip(". ")
    except BaseException:  # noqa: BLE001 -- the plug-in's class may raise anything
        message = ""
    name = "" if isinstance(error, PlainError) else type(error).__name__
    description = ": ".join(filter(None, (name, message)))
    place = _place(error, packages)
    return f"{description} ({place})" if place else description


def _place(error: BaseException, packages: Container[str]) -> str:
    """Return the last line of the plug-in's own code in the traceback, such as "rules.py, line 12, in imprint"."""
    place = ""
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if str(frame.f_globals.get("__name__")).partition(".")[0] in packages:
            file = frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
            function = "" if frame.f_code.co_name == "<module>" else f", in {frame.f_code.co_name[:MAX_NAME]}"
            place = f"{file[:MAX_NAME]}, line {traceback.tb_lineno}{function}"
        traceback = traceback.tb_next
    return place
