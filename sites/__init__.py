"""Audits of many pages, monitors that repeat them, and badges that show their grades."""
