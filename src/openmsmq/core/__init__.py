"""One queue manager: the events of MS-MQDMPR, without sockets, clock or disk."""
