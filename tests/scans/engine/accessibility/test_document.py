"""The document is evidence: checks read it in any order, and none changes what another one finds."""

from __future__ import annotations

import pytest

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.catalogue import checks
from scans.engine.findings import Finding, ScanType
from scans.engine.page.evidence import Document, Page
from scans.engine.plan import needs_browser
from tests.scans.engine.accessibility.corpus import PAGES
from tests.scans.engine.cast import document, page

CHECKS = [each for each in checks(ScanType.ACCESSIBILITY) if not needs_browser(each)]


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


def test_a_document_cannot_be_changed() -> None:
    seen = AccessibleDocument(document(page()))
    for name in ("document", "visibility"):
        with pytest.raises(AttributeError):
            setattr(seen, name, None)
