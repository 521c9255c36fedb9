"""Lists of sites: their entries, runs, snapshots and shared pages."""
