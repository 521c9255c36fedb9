"""Success criteria of WCAG 2.2 that the checks refer to."""

from __future__ import annotations

from msgspec import Struct


class Criterion(Struct, frozen=True):
    """Success criterion of WCAG.

    All fields are empty for a best practice. `str()` returns a reference for readers.
    """

    number: str = ""
    name: str = ""
    level: str = ""

    def __str__(self) -> str:
        return f"WCAG {self.number} {self.name} ({self.level})"


BEST_PRACTICE = Criterion()
NON_TEXT_CONTENT = Criterion("1.1.1", "Non-text Content", "A")
CAPTIONS = Criterion("1.2.2", "Captions (Prerecorded)", "A")
INFO_AND_RELATIONSHIPS = Criterion("1.3.1", "Info and Relationships", "A")
INPUT_PURPOSE = Criterion("1.3.5", "Identify Input Purpose", "AA")
AUDIO_CONTROL = Criterion("1.4.2", "Audio Control", "A")
RESIZE_TEXT = Criterion("1.4.4", "Resize Text", "AA")
KEYBOARD = Criterion("2.1.1", "Keyboard", "A")
TIMING_ADJUSTABLE = Criterion("2.2.1", "Timing Adjustable", "A")
PAUSE_STOP_HIDE = Criterion("2.2.2", "Pause, Stop, Hide", "A")
BYPASS_BLOCKS = Criterion("2.4.1", "Bypass Blocks", "A")
FOCUS_ORDER = Criterion("2.4.3", "Focus Order", "A")
PAGE_TITLED = Criterion("2.4.2", "Page Titled", "A")
LINK_PURPOSE = Criterion("2.4.4", "Link Purpose (In Context)", "A")
LINK_PURPOSE_ALONE = Criterion("2.4.9", "Link Purpose (Link Only)", "AAA")
LANGUAGE_OF_PAGE_CRITERION = Criterion("3.1.1", "Language of Page", "A")
LANGUAGE_OF_PARTS = Criterion("3.1.2", "Language of Parts", "AA")
ERROR_IDENTIFICATION = Criterion("3.3.1", "Error Identification", "A")
LABELS = Criterion("3.3.2", "Labels or Instructions", "A")
NAME_ROLE_VALUE = Criterion("4.1.2", "Name, Role, Value", "A")
STATUS_MESSAGES = Criterion("4.1.3", "Status Messages", "AA")
