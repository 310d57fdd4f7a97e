"""Routing ([MS-MQBR]): over which queue managers a message reaches the one that has its queue."""
