"""Explanations of grades, categories and errors for people who are no experts. Texts for the page only."""

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

# Shown with every accessibility report, because a good grade does not prove conformance.
ACCESSIBILITY_NOTE = "Automated checks find only some barriers. Also test the page with a keyboard and a screen reader."

# Advice on failed scans, by error code.
ADVICE = {
    "URL_NOT_REACHABLE": "Open the address in a browser. If it works there, a firewall may block this scanner: "
    "allow it, then scan again.",
    "TIMEOUT": "The page did not load in time. Scan again; if it happens every time, find out what makes the "
    "site respond slowly.",
    "TLS_FAILED": "The encrypted connection could not be set up. Check the certificate, its whole chain and the TLS "
    "versions that the server offers.",
    "BAD_RESPONSE": "The server's response is not valid HTTP. Check the server, or the proxy in front of it.",
    "TOO_MANY_REDIRECTS": "The address redirects endlessly. Follow the redirects and remove the loop.",
    "DOMAIN_BLOCKED": "The address, or one that it redirects to, is not public or cannot be scanned here. Scan the "
    "public address of the site.",
    "TARGET_STATUS": "The site refused to return the page. Scan an address that is open to everyone; if the site uses "
    "bot protection, allow this scanner.",
    "INVALID_URL": "The address cannot be scanned. Check its spelling.",
    "BUDGET_EXCEEDED": "The page is larger than the download limit of a scan. Scan a smaller page of the site.",
    "NO_CHECK_RAN": "Nothing at this address could be checked. Check that it leads to a web page.",
    "INTERNAL_ERROR": "This was an error on our side, not the site's. Scan again.",
    "SCAN_CANCELLED": "Scan again if you still want the report.",
    "PAGE_LEFT_OUT": "The audit goes on without this address. Scan it alone if you want its report.",
    "SCAN_NOT_STARTED": "This was an error on our side, not the site's. Scan again.",
    "SCAN_INTERRUPTED": "This was an error on our side, not the site's. Scan again.",
}

CATEGORIES = {
    "security": {
        "Transport security": "Whether the connection is encrypted well enough that nobody can read it.",
        "Content Security Policy": "A list of what the page may load. It stops injected scripts from running.",
        "HTTP headers": "Headers that turn on protections built into browsers.",
        "Sensitive file exposure": "Files that should never be public: backups, settings, repositories, logs.",
        "Cookies": "Whether cookies that keep people logged in can be stolen or misused.",
        "Page content": "What the page loads and links to, and whether others could tamper with it.",
        "DNS and mail": "Whether the domain is protected against forged mail and forged certificates.",
        "Information leakage": "What the site reveals about its software and its internals.",
    },
    "performance": {
        "Display": "Whether a browser shows the page's content at all.",
        "Loading": "How soon visitors see the page and can use it. This counts most.",
        "Page weight": "How much has to be downloaded, which costs time and mobile data.",
        "Render blocking": "Files that the browser must wait for before it shows anything.",
        "Compression and minification": "Whether text files are sent as small as possible.",
        "Images": "Whether images have the right format and size; they are most of a page's weight.",
        "Server and document": "How soon the server answers, and how large the page's own HTML is.",
        "Caching": "Whether browsers may cache files, so that the next page loads faster.",
        "Network": "How many connections, hosts and redirects a visit needs.",
        "Fonts": "Whether text can be read while fonts are still loading.",
    },
    "accessibility": {
        "Display": "Whether a browser shows the page's content at all.",
        "Names and labels of controls": "Whether buttons, links and frames say what they are to screen readers.",
        "ARIA": "Whether ARIA attributes are correct; wrong ones are worse than none.",
        "Forms": "Whether everyone can tell what a form field asks for.",
        "Text alternatives": "Whether images, audio and video have text for people who cannot see or hear them.",
        "Colour and layout": "Whether text stands out enough and the page can be enlarged.",
        "Keyboard and navigation": "Whether everything can be reached without a mouse.",
        "Structure and tables": "Headings, lists and tables that help people find their way around.",
        "Language and document": "What screen readers need to know about the page as a whole.",
    },
    "seo": {
        "Display": "Whether a browser shows the page's content at all.",
        "Indexability": "Whether search engines are allowed to show the page at all.",
        "Content and metadata": "Title, description and text: what people see in search results.",
        "Crawlability": "Whether search engines find their way to the page and around the site.",
        "Links": "Whether links work and say where they lead.",
        "International": "Whether visitors are led to the version in their language.",
        "Mobile": "Whether the page works on phones: search engines index its mobile version.",
        "Rendering": "Whether the content is available to crawlers that run few scripts or none.",
        "Structured data": "Facts in a form that search engines can show as rich results.",
        "Social cards": "What is shown when someone shares the page.",
        "URL hygiene": "Whether addresses are short, stable and unique.",
    },
}


def grade_meaning(scan_type: str, grade: str) -> str:
    """Return the meaning of a grade for this type of scan, in a sentence."""
    return GRADES.get(scan_type, {}).get(grade, "")


def category_meaning(scan_type: str, name: str) -> str:
    """Return the meaning of a category; empty for an unknown one, as in old reports."""
    return CATEGORIES.get(scan_type, {}).get(name, "")


def advice(error_code: str) -> str:
    return ADVICE.get(error_code, "Scan again. If it fails every time, tell the operator of this service the scan ID.")
