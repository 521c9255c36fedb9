"""Forms whose values a service judges, so that a page refuses in the words of the API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms

from infrastructure.telemetry.counters import count
from infrastructure.telemetry.definitions import REFUSALS
from scanner.errors import Refusal


@dataclass(frozen=True, slots=True)
class HintedLabel:
    name: str
    hint: str


class TicksField(forms.MultipleChoiceField):
    """Boxes to tick, each with a hint. Which values there are, and how many are needed, the service says."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, choices: Iterable[tuple[str, HintedLabel]], **kwargs: Any) -> None:
        super().__init__(choices=choices, required=False, **kwargs)

    def valid_value(self, value: object) -> bool:
        return True


class AddressField(forms.CharField):
    """A URL as it was entered: the service parses it, and says what is wrong with it."""

    def __init__(self, label: str, placeholder: str, autocomplete: str) -> None:
        attrs = {"placeholder": placeholder, "autocomplete": autocomplete, "maxlength": 2048, "required": True}
        attrs |= {"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        super().__init__(label=label, required=False, strip=False, widget=forms.TextInput(attrs=attrs))


class JudgedForm(forms.Form):
    """Form whose refusals stand beside the field that is wrong.

    `about` gives the form's name of a field of the input that has another one, and the field that a refusal with this
    code is about. All other refusals are about the form as a whole.
    """

    about: ClassVar[Mapping[str, str]] = {}

    def add_refusal(self, refusal: Refusal) -> None:
        count(REFUSALS, refusal.code)
        name = self.about.get(refusal.field) or self.about.get(refusal.code) or refusal.field
        self.add_error(name if name in self.fields else None, str(refusal))
