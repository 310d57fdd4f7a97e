"""Routing ([MS-MQBR]): the queue managers on the way of a message to the one that has its queue."""
