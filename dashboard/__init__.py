"""Pages of an organization: overview, scans, sites, monitors, audits."""
