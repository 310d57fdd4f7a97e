"""Commands about queues of this queue manager, and about those on their way to others."""
