from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from accounts.models import Tier
from sites.monitors import alerts
from sites.monitors.alerts import AlertKind, AlertSerializer, Facts, reasons
from sites.monitors.changes import ChangeGroups
from sites.monitors.pages.forms import MonitorForm
from sites.monitors.scores import ScoreResult

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"
QUIET = ChangeGroups(lambda *finding: False)


def documented_kind() -> AlertKind:
    """Return the alert kind that CONTRIBUTING.md uses as an example."""
    section = CONTRIBUTING.read_text(encoding="utf-8").partition("\n## Add an alert kind\n")[2]
    code = re.search(r"^   ```python\n(.*?)^   ```$", section, re.MULTILINE | re.DOTALL)
    assert code
    kind = eval(textwrap.dedent(code[1]), vars(alerts))
    assert isinstance(kind, AlertKind)
    return kind


@pytest.mark.django_db
def test_documented_alert_kind_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = documented_kind()
    monkeypatch.setattr(alerts, "KINDS", (*alerts.KINDS, kind))
    settings = {**alerts.DEFAULT_ALERT, kind.name: 5}
    serializer = AlertSerializer(data=settings)
    serializer.field_name = "alert"
    assert serializer.is_valid(), serializer.errors
    assert serializer.validated_data[kind.name] == 5
    form = MonitorForm(tier=Tier.objects.get(pk="free"), people={}, webhooks=())
    labels = {kind_fields.name: [field.label for field in fields] for kind_fields, fields in form.alerts}
    assert labels[kind.name] == [kind.label]
    risen, same = ({"seo": ScoreResult(80, "B", before)} for before in (75, 76))
    assert reasons(settings, Facts(QUIET, risen, None)) == [kind.name]
    assert reasons(settings, Facts(QUIET, same, None)) == []
    assert reasons({**settings, kind.name: None}, Facts(QUIET, risen, None)) == []
