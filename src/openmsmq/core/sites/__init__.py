"""The directory: start, updates, public queues, sites."""
