"""Commands for the queues of this queue manager, and its outgoing queues."""
