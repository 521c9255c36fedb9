"""Django app for audits, monitors, lists of sites, and badges."""
