"""Django app that queues, runs and stores scans."""
