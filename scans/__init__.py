"""Scans, from the submitted URL to the result that a report is made of."""
