"""Dashboard of an organization: overview, scans, sites, and starting of scans and audits."""
