"""Remote read ([MS-MQRR]): clients on other machines read, move and purge messages of our queues.

`server` has the interface RemoteRead on the RPC runtime; `server.remote_queue` is what a client has
open, and the interface qm2qm ([MS-MQQP]) builds on it, too.
"""
