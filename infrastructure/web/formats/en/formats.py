"""Unambiguous, and as in logs; Django's own for English leaves seconds and zone out."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
