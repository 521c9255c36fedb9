"""Facts about a site for the table of a list.

Examples are its title and language.
"""

from __future__ import annotations

from collections.abc import Mapping

from website_scan.messages import excerpt
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, metas_named
from website_scan.security.csp import Policies
from website_scan.security.evidence import TlsPeer, TlsSupport
from website_scan.seo.metadata import descriptions, titles
from website_scan.stored_data import SiteFacts

MAX_TEXT_LENGTH, MAX_LANGUAGE_TAG_LENGTH = 300, 40


def site_facts(evidence: Mapping[type, object]) -> SiteFacts:
    """Return the facts about a site that the evidence contains.

    A missing title or language is an empty text.
    """
    facts: SiteFacts = {}
    support = evidence.get(TlsSupport)
    if isinstance(support, TlsSupport):
        facts["tls_versions"] = [version.label for version in sorted(support.versions)]
    peer = evidence.get(TlsPeer)
    if isinstance(peer, TlsPeer) and peer.handshake is not None:
        facts["http_version"] = "HTTP/2" if peer.handshake.alpn == "h2" else "HTTP/1.1"
    policies = evidence.get(Policies)
    if isinstance(policies, Policies):
        facts["csp"] = bool(policies.enforced)
    page, document = evidence.get(Page), evidence.get(Document)
    if isinstance(page, Page) and isinstance(document, Document) and page.is_html:
        root = document.tree.root
        generators = (attribute(meta, "content") or "" for meta in metas_named(document, "generator"))
        facts["generator"] = excerpt(next(filter(None, generators), ""), MAX_TEXT_LENGTH)
        facts["title"] = excerpt(next(titles(document), ""), MAX_TEXT_LENGTH)
        facts["description"] = excerpt(next(filter(None, descriptions(document)), ""), MAX_TEXT_LENGTH)
        facts["language"] = excerpt(
            (attribute(root, "lang") if root is not None else None) or "", MAX_LANGUAGE_TAG_LENGTH
        ).strip()
    return facts
