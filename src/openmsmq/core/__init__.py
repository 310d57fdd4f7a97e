"""One queue manager, pure: the events of MS-MQDMPR, with no sockets, clock or disk of its own."""
