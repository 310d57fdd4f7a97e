"""Sockets of RPC: the listeners of a server (`shell`), and a client's connection (`client`)."""
