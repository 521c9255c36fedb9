"""Reports, which are stored when the scan ends and never change afterwards."""
