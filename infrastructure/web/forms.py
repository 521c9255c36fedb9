"""Forms that leave validation to the service functions, so that pages show the API's error messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.forms.renderers import Jinja2

from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import REFUSALS
from website_scan.errors import Refusal


@dataclass(frozen=True, slots=True)
class HintedLabel:
    name: str
    hint: str


class TicksField(forms.MultipleChoiceField):
    """Field of checkboxes, each with a hint. It accepts all values; the service function validates them."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, choices: Iterable[tuple[str, HintedLabel]], **kwargs: Any) -> None:
        super().__init__(choices=choices, required=False, **kwargs)

    def valid_value(self, value: object) -> bool:
        return True


class AddressField(forms.CharField):
    """Field for a URL, unchanged as entered. The service function parses and validates it."""

    def __init__(self, label: str, placeholder: str, autocomplete: str) -> None:
        attrs = {"placeholder": placeholder, "autocomplete": autocomplete, "maxlength": 2048, "required": True}
        attrs |= {"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        super().__init__(label=label, required=False, strip=False, widget=forms.TextInput(attrs=attrs))


class JudgedForm(forms.Form):
    """Form that shows each refusal beside the field that is wrong.

    `about` maps fields of the input and error codes to fields of the form. All other refusals are form errors.
    """

    default_renderer = Jinja2()  # one template language on a page, and half the time
    about: ClassVar[Mapping[str, str]] = {}

    def add_refusal(self, refusal: Refusal) -> None:
        count(REFUSALS, refusal.code)
        self.add_error(self.field_of(refusal), str(refusal))

    def field_of(self, refusal: Refusal) -> str | None:
        """Return the name of the form's field that is wrong; None where no single one is."""
        name = self.about.get(refusal.field) or self.about.get(refusal.code) or refusal.field.rpartition(".")[2]
        return name if name in self.fields else None
