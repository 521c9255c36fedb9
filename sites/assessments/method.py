"""Draft of the text about the method of an assessment, which the report and the accessibility statement publish.

It says what https://www.w3.org/TR/WCAG-EM/ asks for, in the past tense. Only people know how they tested, so the draft
has a gap in square brackets.
"""

from __future__ import annotations

GAP = "How people tested: for example, with keyboard only, with 400 % zoom, and with which browser and screen reader"
METHOD = f"""\
The evaluation followed the Website Accessibility Conformance Evaluation Methodology (WCAG-EM) of the W3C. The sample \
has the start page, pages of different kinds, all steps of the main tasks, and pages chosen at random.
[{GAP}]"""
