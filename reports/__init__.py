"""Reports: stored when the scan ends, and never changed or computed again."""
