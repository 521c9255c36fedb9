"""Explanations of grades, categories and errors on pages.

Their readers are not experts.
"""

from __future__ import annotations

GRADES = {
    "security": {
        "A+": "Excellent: no significant problems. Visitors are well protected.",
        "A": "Very good: the important protections are in place; only details are missing.",
        "B": "Good: visitors are mostly protected, with some gaps worth closing.",
        "C": "Fair: some protections built into browsers are not used, or only in part.",
        "D": "Weak: there are several gaps that attackers commonly look for.",
        "F": "At risk: there is at least one serious problem. Fix the first items below now.",
    },
    "performance": {
        "A+": "Excellent: the page loads almost instantly, even on a phone.",
        "A": "Very good: most visitors do not notice any waiting.",
        "B": "Good: the page feels fast to most visitors, but could be faster on phones.",
        "C": "Fair: visitors on phones notice the wait.",
        "D": "Slow: many visitors on phones may leave before they see the page.",
        "F": "Very slow: on a phone, most visitors will not wait for the page.",
    },
    "accessibility": {
        "A+": "Excellent: no significant barriers were found.",
        "A": "Very good: only minor barriers were found.",
        "B": "Good: most people can use the page, but some face barriers.",
        "C": "Fair: people who use a keyboard or a screen reader face barriers that slow them down.",
        "D": "Poor: parts of the page cannot be used without a mouse or good eyesight.",
        "F": "Serious barriers: people with disabilities cannot use important parts of the page.",
    },
    "seo": {
        "A+": "Excellent: search engines can find, understand and show the page well.",
        "A": "Very good: search engines have what they need; only details are missing.",
        "B": "Good: search engines can find the page, but its search result could be better.",
        "C": "Fair: search engines can find the page, but have to guess at parts of it.",
        "D": "Poor: what search engines need is missing or contradictory.",
        "F": "Hard to find: something keeps search engines from showing this page.",
    },
}

# Notes about what a grade does not prove, by scan type.
NOTES = {
    "security": "This scan shows how an attacker could get in, not whether anyone has.",
    "accessibility": "Automated checks find only some barriers: also try a keyboard and a screen reader.",
}

# Advice after a failed scan, by error code.
ADVICE = {
    "URL_NOT_REACHABLE": "Open the address in a browser. If it works there, a firewall may block this scanner: "
    "allow it, then scan again.",
    "TIMEOUT": "The page did not load in time. Scan again; if it happens every time, find out what makes the "
    "site respond slowly.",
    "TLS_FAILED": "The encrypted connection could not be set up. Check the certificate, its whole chain and the TLS "
    "versions that the server offers.",
    "BAD_RESPONSE": "The server's response is not valid HTTP/1.1. Check the server, or the proxy in front of it.",
    "TOO_MANY_REDIRECTS": "The address redirects endlessly. Follow the redirects and remove the loop.",
    "DOMAIN_BLOCKED": "The address, or one that it redirects to, is not public or cannot be scanned here. Scan the "
    "public address of the site.",
    "TARGET_STATUS": "The site refused to return the page. Scan an address that is open to everyone; if the site uses "
    "bot protection, allow this scanner.",
    "INVALID_URL": "The address cannot be scanned. Check its spelling.",
    "BUDGET_EXCEEDED": "The page is larger than the download limit of a scan. Scan a smaller page of the site.",
    "NO_CHECK_RAN": "Nothing at this address could be checked. Make sure that it is the address of a web page.",
    "INTERNAL_ERROR": "This was an error on our side, not the site's. Scan again.",
    "SCAN_CANCELLED": "Scan again if you still want the report.",
    "PAGE_LEFT_OUT": "The audit continues without this address. Scan it alone if you want its report.",
    "JOURNEY_FAILED": "Follow the journey's steps in a browser. If they work there, adjust the step that failed.",
    "JOURNEY_NOT_PROVEN": "Publish the token of the journey on the site, then start another run.",
    "SCAN_NOT_STARTED": "This was an error on our side, not the site's. Scan again.",
    "SCAN_INTERRUPTED": "This was an error on our side, not the site's. Scan again.",
}

CATEGORIES = {
    "security": {
        "Transport security": "Encryption of the connection, so that nobody on the way can read or change it.",
        "Content Security Policy": "A list of what the page may load, which stops injected scripts.",
        "HTTP headers": "Headers that turn on protections built into browsers.",
        "Sensitive file exposure": "Files that should never be public: backups, settings, repositories, logs.",
        "Cookies": "Protection of the cookies that keep people logged in.",
        "Page content": "Files and links that others could tamper with.",
        "Names and addresses": "Whether the domain's names lead everybody to the site, and nobody else can claim them.",
        "DNS security": "Protection of the domain against forged DNS answers and forged certificates.",
        "Mail": "Protection of the domain against forged mail.",
        "Information leakage": "What the site reveals about its software and internals.",
    },
    "performance": {
        "Display": "The content that a browser shows, if any.",
        "Loading": "How soon visitors see the page and can use it. This counts most.",
        "Page weight": "How much has to be downloaded, which costs time and mobile data.",
        "Render blocking": "Files the browser must wait for before it shows anything.",
        "Compression and minification": "Text files sent larger than necessary.",
        "Images": "Format and size of the images, usually most of a page's weight.",
        "Server and document": "Response time of the server and size of the page's HTML.",
        "Caching": "Files that browsers may keep for the next page.",
        "Network": "Connections, hosts and redirects of a visit.",
        "Fonts": "Text that stays readable while fonts load.",
    },
    "accessibility": {
        "Display": "The content that a browser shows, if any.",
        "Names and labels of controls": "What screen readers say for buttons, links and frames.",
        "ARIA": "ARIA attributes; a wrong one is worse than none.",
        "Forms": "Fields that tell everyone what to enter.",
        "Text alternatives": "Text for people who cannot see images or hear audio and video.",
        "Colour and layout": "Contrast, and a page that can be enlarged.",
        "Keyboard and navigation": "A page that works without a mouse.",
        "Structure and tables": "Headings, lists and tables that help people find their way around.",
        "Language and document": "What screen readers need to know about the whole page.",
    },
    "seo": {
        "Display": "The content that a browser shows, if any.",
        "Indexability": "Permission for search engines to show the page at all.",
        "Content and metadata": "Title, description and text: what people see in search results.",
        "Crawlability": "The way of search engines to the page and around the site.",
        "Links": "Links that work and say where they lead.",
        "International": "The right language version for each visitor.",
        "Mobile": "A page that works on phones: search engines index its mobile version.",
        "Rendering": "Content for crawlers that run few scripts or none.",
        "Structured data": "Facts that search engines can show as rich results.",
        "Social cards": "What people see when someone shares the page.",
        "URL hygiene": "Addresses that are short, stable and unique.",
    },
}


def grade_meaning(scan_type: str, grade: str) -> str:
    """Return a sentence with the meaning of a grade.

    It depends on the scan type and is empty for an unknown grade.
    """
    return GRADES.get(scan_type, {}).get(grade, "")


def category_meaning(scan_type: str, name: str) -> str:
    """Return the meaning of a category.

    Empty for an unknown category, which old reports may contain.
    """
    return CATEGORIES.get(scan_type, {}).get(name, "")


def advice(error_code: str) -> str:
    return ADVICE.get(
        error_code, "Scan again. If it fails every time, send the scan ID to the operator of the service."
    )
