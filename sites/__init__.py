"""Many pages over time: audits, monitors and badges."""
