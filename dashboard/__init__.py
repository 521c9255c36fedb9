"""An organization's dashboard, with an overview, scans and sites.

Members start scans and audits here.
"""
