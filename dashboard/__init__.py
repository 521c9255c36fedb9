"""The pages of an organization: overview, scans, sites, monitors, audits."""
