"""Export of all of an organization's data for its owners: zip files of JSON, written by a task (docs/accounts.md)."""
