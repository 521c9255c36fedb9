"""Forms that leave validation to the service functions, so that pages display the API's error messages."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.forms.renderers import Jinja2
from django.http import QueryDict
from msgspec import Struct

from infrastructure.api.idempotency import IdempotencyMismatch
from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import REFUSALS
from website_scan.errors import Refusal

IDEMPOTENCY_KEY_BYTES = 16
ONCE = re.compile(r"[0-9a-f]{32}")


class HintedLabel(Struct, frozen=True):
    name: str
    hint: str


class TicksField(forms.MultipleChoiceField):
    """Checkboxes with hints.

    The field accepts all values, and the service function validates them.
    """

    widget = forms.CheckboxSelectMultiple

    def __init__(self, choices: Iterable[tuple[str, HintedLabel]], **kwargs: Any) -> None:
        super().__init__(choices=choices, required=False, **kwargs)

    def valid_value(self, value: object) -> bool:
        return True


class AddressField(forms.CharField):
    """Field for a URL, which is passed unchanged to the service function.

    The service function validates the URL.
    """

    def __init__(self, label: str, placeholder: str, autocomplete: str) -> None:
        attrs = {"placeholder": placeholder, "autocomplete": autocomplete, "maxlength": 2048, "required": True}
        attrs |= {"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}
        super().__init__(label=label, required=False, strip=False, widget=forms.TextInput(attrs=attrs))


class RefusalForm(forms.Form):
    """Form that displays a service function's refusals next to the invalid fields.

    `about` maps API field names and error codes to fields of the form. All other refusals are errors of the whole form.
    """

    default_renderer = Jinja2()  # Jinja2 renders forms in half the time, and pages are Jinja2 templates too.
    about: ClassVar[Mapping[str, str]] = {}

    def add_refusal(self, refusal: Refusal) -> int:
        """Show a refusal as an error on its field, and return the response's HTTP status."""
        count(REFUSALS, refusal.code)
        self.add_error(self.field_of(refusal), str(refusal))
        return refusal.status

    def field_of(self, refusal: Refusal) -> str | None:
        """Return the name of the form field that a refusal concerns, or None if it is not a single field."""
        name = self.about.get(refusal.field) or self.about.get(refusal.code) or refusal.field.rpartition(".")[2]
        return name if name in self.fields else None


class IdempotentForm(RefusalForm):
    """Form that creates only one `noun`, even if it is sent twice.

    Its hidden field `once` is an Idempotency-Key.
    """

    noun: ClassVar[str]
    once = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["once"].initial = secrets.token_hex(IDEMPOTENCY_KEY_BYTES)

    @property
    def key(self) -> str | None:
        """Return a valid form's Idempotency-Key.

        None if the hidden field is missing or malformed.
        """
        entered = self.cleaned_data["once"]
        return f"form-{entered}" if ONCE.fullmatch(entered) else None

    def add_refusal(self, refusal: Refusal) -> int:
        """Add a refusal as an error.

        A changed form whose key was used gets a new key and asks for confirmation.
        """
        if not isinstance(refusal, IdempotencyMismatch):
            return super().add_refusal(refusal)
        assert isinstance(self.data, QueryDict)
        entered = self.data.copy()
        entered["once"] = self["once"].initial
        self.data = entered
        text = f"This form has already created a {self.noun}. Submit it again to create another one."
        self.add_error(None, text)
        return 409
