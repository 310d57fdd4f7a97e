"""The directory of queue managers, public queues, sites and users."""
