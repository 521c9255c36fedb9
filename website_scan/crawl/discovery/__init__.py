"""Discover a site's pages from its sitemaps and links.

This package needs no database.
"""
