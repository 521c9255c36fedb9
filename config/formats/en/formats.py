"""Unambiguous, and as in logs; Django's own for English leaves the seconds out."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = "Y-m-d H:i:s"
