"""URLs of references that have no number from which a URL could be made, by the beginning of their names."""

from __future__ import annotations

TR = "https://www.w3.org/TR"
GOOGLE = "https://developers.google.com/search/docs"
CRAWLING = f"{GOOGLE}/crawling-indexing"

SOURCES = {
    "ARIA in HTML": f"{TR}/html-aria/",
    "CSP Level 3": f"{TR}/CSP3/",
    "CSS Cascade 4": f"{TR}/css-cascade-4/",
    "CSS Fonts 4": f"{TR}/css-fonts-4/",
    "CSS Viewport Module Level 1": f"{TR}/css-viewport-1/",
    "Fetch, ": "https://fetch.spec.whatwg.org/",
    "HTML, ": "https://html.spec.whatwg.org/multipage/",
    "JSON-LD 1.1": f"{TR}/json-ld11/",
    "RFC 6265bis": "https://datatracker.ietf.org/doc/draft-ietf-httpbis-rfc6265bis/",
    "RFC 9309": "https://www.rfc-editor.org/rfc/rfc9309",
    "W3C Long Tasks": f"{TR}/longtasks-1/",
    "W3C Mixed Content": f"{TR}/mixed-content/",
    "W3C Permissions Policy": f"{TR}/permissions-policy/",
    "W3C Referrer Policy": f"{TR}/referrer-policy/",
    "W3C Subresource Integrity": f"{TR}/SRI/",
    "W3C: WOFF File Format 2.0": f"{TR}/WOFF2/",
    "WAI-ARIA 1.2": f"{TR}/wai-aria-1.2/",
    "OWASP WSTG": "https://owasp.org/www-project-web-security-testing-guide/",
    "schema.org": "https://schema.org/",
    "sitemaps.org": "https://www.sitemaps.org/protocol.html",
    "The Open Graph protocol": "https://ogp.me/",
    "web.dev: back/forward cache": "https://web.dev/articles/bfcache",
    "web.dev: Cumulative Layout Shift": "https://web.dev/articles/cls",
    "web.dev: First Contentful Paint": "https://web.dev/articles/fcp",
    "web.dev: Largest Contentful Paint": "https://web.dev/articles/lcp",
    "web.dev: optimize CLS": "https://web.dev/articles/optimize-cls",
    "web.dev: Optimize Largest Contentful Paint": "https://web.dev/articles/optimize-lcp",
    "web.dev: Optimize long tasks": "https://web.dev/articles/optimize-long-tasks",
    "web.dev: Time to First Byte": "https://web.dev/articles/ttfb",
    "web.dev: Total Blocking Time": "https://web.dev/articles/tbt",
    "Google Search Central: build and submit a sitemap": f"{CRAWLING}/sitemaps/build-sitemap",
    "Google Search Central: canonical URLs": f"{CRAWLING}/consolidate-duplicate-urls",
    "Google Search Central: crawlable links": f"{CRAWLING}/links-crawlable",
    "Google Search Central: helpful content": f"{GOOGLE}/fundamentals/creating-helpful-content",
    "Google Search Central: HTTP status codes": f"{CRAWLING}/http-network-errors",
    "Google Search Central: image best practices": f"{GOOGLE}/appearance/google-images",
    "Google Search Central: JavaScript SEO basics": f"{CRAWLING}/javascript/javascript-seo-basics",
    "Google Search Central: large sitemaps": f"{CRAWLING}/sitemaps/large-sitemaps",
    "Google Search Central: link best practices": f"{CRAWLING}/links-crawlable",
    "Google Search Central: localized versions of your pages": f"{GOOGLE}/specialty/international/localized-versions",
    "Google Search Central: mobile-first indexing": f"{CRAWLING}/mobile/mobile-sites-mobile-first-indexing",
    "Google Search Central: qualify outbound links": f"{CRAWLING}/qualify-outbound-links",
    "Google Search Central: redirects": f"{CRAWLING}/301-redirects",
    "Google Search Central: robots meta tag": f"{CRAWLING}/robots-meta-tag",
    "Google Search Central: robots.txt": f"{CRAWLING}/robots/robots_txt",
    "Google Search Central: sitemaps": f"{CRAWLING}/sitemaps/overview",
    "Google Search Central: snippets": f"{GOOGLE}/appearance/snippet",
    "Google Search Central: soft 404 errors": f"{CRAWLING}/http-network-errors",
    "Google Search Central: structured data": f"{GOOGLE}/appearance/structured-data/intro-structured-data",
    "Google Search Central: title links": f"{GOOGLE}/appearance/title-link",
    "Google Search Central: URL structure": f"{CRAWLING}/url-structure",
    "Google Search Central: valid page metadata": f"{CRAWLING}/valid-page-metadata",
}


def source(text: str) -> str | None:
    """Return the URL of a reference by its name, which may be followed by a section or a remark."""
    return next((url for name, url in SOURCES.items() if text.startswith(name)), None)
