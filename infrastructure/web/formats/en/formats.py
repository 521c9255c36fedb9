"""Date and time formats as in logs.

Django's formats for English have neither seconds nor time zone.
"""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
