"""Lets Spark find the format `msmq` by itself: PySpark looks for packages of this name."""
