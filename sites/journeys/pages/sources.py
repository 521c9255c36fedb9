"""Steps that people upload as a recording, or write as text, in the form for a journey."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, QueryDict
from msgspec import Struct

from infrastructure.web.forms import AddressField, RefusalForm
from scans.policy import scan_policy
from scans.reachability import has_scheme
from sites.journeys.requests import refuse_foreign_steps
from website_scan.journeys.journey import JourneyRefused
from website_scan.journeys.json_steps import MAX_RECORDING_BYTES
from website_scan.journeys.passwords import ReadJourney
from website_scan.journeys.recordings import read_recording
from website_scan.journeys.short_form import read_short_form
from website_scan.net.targets import parse_target
from website_scan.urls import Url

EXAMPLE = (
    "open /login\nfill “E-mail” with {{user}}\nfill “Password” with {{password}}\nclick “Sign in”\njudge “Account”"
)
NOTHING = "Choose the file of a recording, or write steps."
NOT_TEXT = "The file is not text in UTF-8. In Chrome's Recorder, choose Export, then JSON."
LINE = re.compile(r"Line ([0-9]{1,6})\b[,:]?\s*(.*)", re.DOTALL)
# Lines shown before and after the refused one, and the characters of each.
LINES_AROUND, MAX_LINE = 2, 160
TYPED_VALUE = re.compile(r'("value"\s*:\s*)"(?:[^"\\]|\\.)*"?')


class SourceLine(Struct, frozen=True):
    """Line of the text that was sent. `problem` says why it is refused."""

    number: int
    text: str
    problem: str = ""


class Source(Struct, frozen=True):
    """What was read: the journey, and the text in the short form without typed passwords, if it was text."""

    read: ReadJourney
    text: str = ""


class SourceForm(RefusalForm):
    """Form for the steps of a journey: a file, or text with the address of the site."""

    about = {"recording": "steps", "judge": "steps", "INVALID_URL": "start", "DOMAIN_BLOCKED": "start"}
    file = forms.FileField(
        label="File of the recording",
        required=False,
        widget=forms.FileInput(attrs={"accept": ".json,.txt,application/json,text/plain"}),
        help_text=f"JSON, up to {MAX_RECORDING_BYTES // 1024} KiB. Typed passwords become secrets.",
    )
    start = AddressField("Address of the site", "https://example.com", "url")
    steps = forms.CharField(
        label="Steps, one on each line",
        required=False,
        strip=False,
        max_length=MAX_RECORDING_BYTES,
        widget=forms.Textarea(
            attrs={"rows": 10, "placeholder": EXAMPLE, "autocapitalize": "none", "spellcheck": "false"}
        ),
        help_text="Names are those that people see on the page, in quotation marks. {{password}} is a secret, whose "
        "value you enter in the next step.",
    )

    def __init__(self, data: QueryDict | None = None, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        self.fields["start"].widget.attrs.pop("required")

    @property
    def text(self) -> str:
        """Text in the field of the steps, as it was sent."""
        return str(self["steps"].value() or "")


def read_source(request: HttpRequest, form: SourceForm) -> Source:
    """Read the uploaded file, or the text of the valid form.

    Raises JourneyRefused, InvalidUrl and Blocked.
    """
    file = request.FILES.get("file")
    if isinstance(file, UploadedFile) and file.size:
        data: bytes = file.read()
        if len(data) > MAX_RECORDING_BYTES:
            raise JourneyRefused(f"The file is larger than {MAX_RECORDING_BYTES // 1024} KiB.")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise JourneyRefused(NOT_TEXT) from None
    else:
        text = form.cleaned_data["steps"]
    if not text.strip():
        raise JourneyRefused(NOTHING)
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return Source(_checked(read_recording(text)))
    entered = form.cleaned_data["start"].strip()
    if entered and not has_scheme(entered):
        entered = f"https://{entered}"
    base_url = parse_target(entered, scan_policy()).url if entered else ""
    read = _checked(read_short_form(text, title="Journey", base_url=base_url))
    return Source(read, _without_values(text, read, base_url))


def refused_lines(text: str, refusal: JourneyRefused) -> tuple[Sequence[SourceLine], str]:
    """Return the lines around the refused one, with the problem beside it, and the sentence without the line.

    There are no lines if the refusal names none.
    """
    match = LINE.match(str(refusal))
    if match is None or not text:
        return (), str(refusal)
    lines, at = text.splitlines(), int(match[1]) - 1
    first, end = max(0, at - LINES_AROUND), min(len(lines), at + LINES_AROUND + 1)
    problem = match[2][:1].upper() + match[2][1:]
    return [
        SourceLine(number + 1, _shown(lines[number]), problem if number == at else "") for number in range(first, end)
    ], str(refusal)


def uploaded_text(request: HttpRequest) -> str:
    """Return the text of the uploaded file from its beginning, or an empty string for no or a long file."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or not file.size or file.size > MAX_RECORDING_BYTES:
        return ""
    file.seek(0)
    return bytes(file.read()).decode("utf-8", "replace")


def name_of_host(read: ReadJourney) -> str:
    return Url.of(read.journey.start_url).host


def pretty_json(recording: dict[str, Any]) -> str:
    """Write a recording as Chrome's Recorder does, so that its line numbers agree."""
    return json.dumps(recording, indent=2, ensure_ascii=False)


def _checked(read: ReadJourney) -> ReadJourney:
    refuse_foreign_steps(read.journey, scan_policy(), "steps")
    return read


def _shown(line: str) -> str:
    """Return a line without the values that a recording types, of which one may be a password."""
    return TYPED_VALUE.sub(r'\1"…"', line)[:MAX_LINE]


def _without_values(text: str, read: ReadJourney, base_url: str) -> str:
    """Return the text with the names of secrets in place of their values, or an empty string if that is not possible.

    The page shows this text again, and a browser may store it.
    """
    if not read.secrets:
        return text
    for name, value in sorted(read.secrets.items(), key=lambda item: len(item[1]), reverse=True):
        text = text.replace(value, f"{{{{{name}}}}}")
    try:
        again = read_short_form(text, title="Journey", base_url=base_url)
    except JourneyRefused:
        return ""
    return text if again.journey == read.journey and not again.secrets else ""
