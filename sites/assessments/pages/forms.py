"""Forms for assessments, their texts and their samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from infrastructure.api.inputs import tidy_lines
from infrastructure.web.forms import AddressField, IdempotentForm, RefusalForm
from sites.assessments.method import METHOD
from sites.assessments.requests import (
    DEFAULT_SAMPLE,
    MAX_PAGE_NAME_LENGTH,
    MAX_REASON_LENGTH,
    MAX_SAMPLE,
    MAX_TEXT_LENGTH,
)
from sites.models import Assessment, AssessmentResult
from sites.models.assessment import STANDARDS
from sites.models.monitor import MAX_NAME_LENGTH
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.messages import cut

HELP_ON_METHOD = "What you did. The report and the statement publish it. Replace the text in square brackets."


def _text(label: str, help_text: str = "", rows: int = 3, **options: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(
        label=label, help_text=help_text, required=False, max_length=MAX_TEXT_LENGTH, widget=widget, **options
    )


class NewAssessmentForm(IdempotentForm):
    """Form for a new assessment. `audits` are the choices of audits."""

    noun = "assessment"

    audit = forms.CharField(
        label="Scan with the automatic results",
        help_text="The sample is chosen from its pages. Any ended scan with accessibility results can be used.",
        widget=forms.Select,
    )
    name = forms.CharField(label="Name", max_length=MAX_NAME_LENGTH, help_text="Such as: Museum site, spring 2027.")
    standard = forms.ChoiceField(label="Standard", choices=STANDARDS, initial=Standard.WCAG_22.value)
    level = forms.ChoiceField(
        label="Level",
        choices=[(level, level) for level in LEVELS],
        initial="AA",
        help_text="Laws usually require AA. EN 301 549 and Section 508 have no criteria of level AAA.",
    )
    sample_size = forms.IntegerField(
        label="Number of pages in the sample",
        initial=DEFAULT_SAMPLE,
        min_value=1,
        max_value=MAX_SAMPLE,
        help_text="People test each criterion on each of these pages. You can add and remove pages later.",
        error_messages={"invalid": "Enter a whole number, such as 20."},
    )
    scope = _text("Scope", "What belongs to the site, and what does not.")
    evaluators = _text("Evaluators", "One person per line.", rows=2)
    method = _text("Method", HELP_ON_METHOD, rows=6, initial=METHOD)

    def __init__(
        self, data: QueryDict | None, *, audits: Sequence[tuple[str, str]], initial: Mapping[str, Any]
    ) -> None:
        super().__init__(data, initial=dict(initial))
        self.fields["audit"].widget = forms.Select(choices=audits)

    @property
    def body(self) -> dict[str, Any]:
        """Return the body of an API request with the values of the valid form."""
        return {name: value for name, value in self.cleaned_data.items() if name != "once"}


class TextsForm(RefusalForm):
    """Form for the name and the texts of an assessment.

    Hidden fields have the texts as they were when the form was rendered, so that two people can change different texts
    at once, and a change of the same text is noticed.
    """

    REPORT: ClassVar = ("name", "scope", "evaluators", "method")
    OWNER: ClassVar = ("owner_name", "contact_email", "contact_url", "contact_phone")
    STATEMENT: ClassVar = ("alternatives", "burden", "exempt_content", "enforcement")

    name = forms.CharField(label="Name", max_length=MAX_NAME_LENGTH)
    scope = _text("Scope", "What belongs to the site, and what does not.")
    evaluators = _text("Evaluators", "One person per line.")
    method = _text("Method", HELP_ON_METHOD, rows=6)
    owner_name = forms.CharField(label="Organization that is responsible for the site", required=False, max_length=200)
    contact_email = forms.CharField(
        label="E-mail for feedback", required=False, max_length=254, widget=forms.EmailInput
    )
    contact_url = forms.CharField(
        label="Contact page",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}),
    )
    contact_phone = forms.CharField(label="Telephone", required=False, max_length=60)
    alternatives = _text("Accessible alternatives", "Such as: Prices are also available by telephone.")
    burden = _text("Disproportionate burden", "Content whose repair would be a disproportionate burden, and why.")
    exempt_content = _text("Content outside the law's scope", "Such as: Recordings from before 23 September 2020.")
    enforcement = _text("Enforcement", "Where people can complain if they get no answer.")

    def __init__(self, data: QueryDict | None, *, assessment: Assessment) -> None:
        super().__init__(data, initial={name: getattr(assessment, name) for name in self.base_fields})
        for field in self.fields.values():
            field.show_hidden_initial = True

    def changes_of(self, assessment: Assessment) -> dict[str, str]:
        """Return the texts that the author of the form has changed, or none if there is a conflict.

        Texts that somebody else has changed meanwhile get an error with the stored text. If the author submits the form
        again, their own text replaces it.
        """
        assert isinstance(self.data, QueryDict)
        entered = self.data.copy()
        changes = {}
        for name, value in self.cleaned_data.copy().items():
            stored = getattr(assessment, name)
            shown = tidy_lines(self.data.get(f"initial-{name}", stored))
            if name not in self.data or tidy_lines(value) in (shown, stored):
                continue
            changes[name] = value
            if shown != stored:
                entered[f"initial-{name}"] = stored
                text = f"Somebody has changed this text since you opened the form. It is now: “{cut(stored, 2_000)}”."
                self.add_error(name, f"{text} Save again to replace it by yours.")
        self.data = entered
        return {} if self.errors else changes


class PageForm(RefusalForm):
    """Form for a page or a state that is added to the sample."""

    about: ClassVar[Mapping[str, str]] = {
        "INVALID_URL": "url",
        "URL_NOT_REACHABLE": "url",
        "DOMAIN_BLOCKED": "url",
    }

    url = AddressField("Address of the page", "https://example.com/cart", "off")
    name = forms.CharField(
        label="Name", required=False, max_length=MAX_PAGE_NAME_LENGTH, help_text="Such as: Cart with one item."
    )
    is_state = forms.BooleanField(
        label="A state that only a person can reach",
        required=False,
        help_text="Such as a filled cart or an open dialogue. It needs a name, and gets no automatic results.",
    )


class PageNameForm(RefusalForm):
    name = forms.CharField(label="Name", required=False, max_length=MAX_PAGE_NAME_LENGTH)


class RemainingForm(RefusalForm):
    """Form that sets all untested pages of a criterion to one result."""

    result = forms.ChoiceField(
        label="Result",
        choices=[choice for choice in AssessmentResult.Result.choices if choice[0] != "untested"],
        initial=AssessmentResult.Result.NOT_APPLICABLE.value,
    )
    note = _text("Note", rows=2)


class DisputeForm(RefusalForm):
    reason = forms.CharField(
        label="Why is it not a failure?",
        help_text="Members read the reason in reports, too.",
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
