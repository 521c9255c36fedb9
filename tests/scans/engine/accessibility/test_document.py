"""The document is evidence: checks read it in any order, and none changes what another one finds."""

from __future__ import annotations

import pytest

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.findings import Finding
from scans.engine.page.evidence import Document, Page
from tests.scans.engine.accessibility.corpus import PAGES, templates
from tests.scans.engine.accessibility.static import static_checks, static_findings
from tests.scans.engine.cast import document, page, verdict

CHECKS = static_checks()


@pytest.mark.parametrize("name", ["dialogs/behind-tab-order", "docs/wiki-neglected", "legacy/bureau"])
def test_checks_of_one_document_do_not_influence_each_other(name: str) -> None:
    of_page = page(PAGES[name])
    parsed = document(of_page)

    def findings(shared: AccessibleDocument | None, step: int) -> dict[str, Finding]:
        found = {}
        for each in CHECKS[::step]:
            evidence: dict[type, object] = {
                Page: of_page,
                Document: parsed,
                AccessibleDocument: shared or AccessibleDocument(parsed),
            }
            found[each.id] = each.function(**{need.parameter: evidence[need.evidence] for need in each.needs})
        return found

    alone = findings(None, 1)
    assert findings(AccessibleDocument(parsed), 1) == alone
    assert findings(AccessibleDocument(parsed), -1) == alone


@pytest.mark.parametrize("state", templates.CLASSES)
def test_a_class_of_the_body_changes_no_verdict(state: str) -> None:
    plain = {rule: verdict(each) for rule, each in static_findings(PAGES["templates/panel-nameless"]).items()}
    classed = static_findings(PAGES[f"templates/panel-nameless-{state}"])
    assert {rule: verdict(each) for rule, each in classed.items()} == plain
    assert {rule for rule, found in plain.items() if found == "fail"} == {"image-alt", "label", "link-name"}


def test_a_document_cannot_be_changed() -> None:
    seen = AccessibleDocument(document(page()))
    for name in ("document", "visibility"):
        with pytest.raises(AttributeError):
            setattr(seen, name, None)
