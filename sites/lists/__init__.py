"""Lists of sites with their entries, runs, snapshots and shared pages."""
