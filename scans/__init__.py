"""Scans: from a submitted URL to a finished report."""
