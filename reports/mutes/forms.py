"""Form that mutes a finding of a report."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django import forms
from django.http import QueryDict
from django.utils.text import Truncator

from infrastructure.web.forms import HintedLabel, RefusalForm
from reports.mutes.requests import MAX_DURATION, MAX_PATH_LENGTH, MAX_REASON_LENGTH, MuteRequest
from scans.check_catalogue import outcomes_of_check
from website_scan.report.places import describe_places
from website_scan.report_json import ExportedFinding

ALL, OUTCOME, NAMED = "all", "outcome", "named"
DEFAULT_DAYS = 90
MAX_PLACE_LABEL = 160  # Places with longer texts are cut in the list of choices.


class MuteForm(RefusalForm):
    """Form that mutes a finding everywhere, or only one outcome, or only at single places."""

    what = forms.ChoiceField(label="What to mute", widget=forms.RadioSelect, initial=ALL)
    path_prefix = forms.CharField(
        label="Only on pages under this path",
        required=False,
        widget=forms.TextInput(
            attrs={"maxlength": MAX_PATH_LENGTH, "placeholder": "/", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    reason = forms.CharField(
        label="Reason",
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Members see it next to the finding, and the SARIF export includes it.",
    )
    until = forms.DateField(
        label="Until the end of",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="A day in UTC, at most a year ahead. After that, the finding is shown again.",
    )

    def __init__(
        self, data: QueryDict | None, *, finding: ExportedFinding, path: str, host: str, now: datetime
    ) -> None:
        first_day, last_day = now.date(), (now + MAX_DURATION).date() - timedelta(days=1)
        super().__init__(data, initial={"until": first_day + timedelta(days=DEFAULT_DAYS)})
        self._bounds, self._now = (first_day, last_day), now
        self.places = describe_places(finding)
        self._outcome = finding["outcome"]
        places_by_name = {fingerprint: text for fingerprint, text in self.places.items() if text}
        choices = [(ALL, HintedLabel("All findings", "Everything that this check finds there, now and in the future."))]
        if finding["outcome"] and len(outcomes_of_check(finding["id"])) > 1:
            hint = "Other findings of this check still show."
            choices.append((OUTCOME, HintedLabel(f"Only “{finding['title']}”", hint)))
        if len(places_by_name) > 1:
            label = HintedLabel(
                f"The {len(places_by_name)} places that this report names", "New places are still shown."
            )
            choices.append((NAMED, label))
        choices += [
            (fingerprint, HintedLabel(Truncator(text).chars(MAX_PLACE_LABEL), "Only this place."))
            for fingerprint, text in places_by_name.items()
        ]
        what = self.fields["what"]
        assert isinstance(what, forms.ChoiceField)
        what.choices = choices
        if len(choices) == 1:
            what.widget = forms.HiddenInput()
        self.fields["path_prefix"].help_text = (
            f"Leave it empty for all of {host}. /shop covers /shop and /shop/shoes, but not /shopping. "
            f"This page is {path}."
        )
        self.fields["until"].widget.attrs |= {"min": first_day.isoformat(), "max": last_day.isoformat()}

    def clean_until(self) -> date:
        day: date = self.cleaned_data["until"]
        first_day, last_day = self._bounds
        if not first_day <= day <= last_day:
            raise forms.ValidationError(f"Choose a day from {first_day:%-d %B %Y} to {last_day:%-d %B %Y}.")
        return day

    @property
    def chosen_places(self) -> dict[str, str]:
        """Texts of the chosen places by fingerprint.

        An empty fingerprint stands for all places.
        """
        what = self.cleaned_data["what"]
        if what == NAMED:
            return {fingerprint: text for fingerprint, text in self.places.items() if text}
        return {"": ""} if what in (ALL, OUTCOME) else {what: self.places[what]}

    def mute_request(self, check_id: str, host: str) -> MuteRequest:
        """Return the request to mute the finding until the end of the chosen day (UTC).

        Raises InvalidParams.
        """
        fields = self.cleaned_data
        return MuteRequest.of(
            check=check_id,
            host=host,
            path_prefix=fields["path_prefix"],
            outcome=self._outcome if fields["what"] == OUTCOME else "",
            reason=fields["reason"],
            expires_at=datetime.combine(fields["until"] + timedelta(days=1), time.min, UTC),
            now=self._now,
        )
