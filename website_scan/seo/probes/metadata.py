"""Probes that parse links and metadata of the page, without network access."""

from __future__ import annotations

from msgspec.structs import replace

from website_scan.accessibility.document import AccessibleDocument
from website_scan.catalogue import probe
from website_scan.crawl.canonicals import Canonicals, read_canonicals
from website_scan.crawl.indexing import IndexingRules, read_indexing_rules
from website_scan.crawl.links import PageLinks, read_links
from website_scan.page.evidence import Clock, Document, Page
from website_scan.seo.hreflang import Alternates, read_alternates
from website_scan.seo.log_in import is_log_in_page
from website_scan.seo.metadata import (
    MetadataOutsideHead,
    SocialMetadata,
    read_metadata_outside_head,
    read_social_metadata,
)
from website_scan.seo.microdata import Microdata, read_microdata
from website_scan.seo.structured_data import JsonLd, read_json_ld


@probe()
def canonicals(page: Page, document: Document) -> Canonicals:
    return read_canonicals(page, document)


@probe()
def indexing_rules(page: Page, document: Document, clock: Clock) -> IndexingRules:
    return read_indexing_rules(page, document, clock.now)


@probe()
def alternates(page: Page, document: Document) -> Alternates:
    return read_alternates(page, document)


@probe()
def social_metadata(page: Page, document: AccessibleDocument, indexing: IndexingRules) -> SocialMetadata:
    social = read_social_metadata(document.document)
    if not social.is_missing:
        return social
    if indexing.decisive:
        return replace(social, needless="The page asks not to be indexed, and has no metadata for sharing.")
    return replace(social, needless="People do not share log-in pages." if is_log_in_page(page, document) else "")


@probe()
def metadata_outside_head(document: Document) -> MetadataOutsideHead:
    return read_metadata_outside_head(document)


@probe()
def page_links(page: Page, document: Document) -> PageLinks:
    return read_links(page, document)


@probe()
def json_ld(document: Document) -> JsonLd:
    return read_json_ld(document)


@probe()
def microdata(document: Document) -> Microdata:
    return read_microdata(document)
