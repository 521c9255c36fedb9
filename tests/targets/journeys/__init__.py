"""Sites with faults that only appear in states of a journey, each with a healthy twin."""
