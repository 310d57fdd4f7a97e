"""Remote read ([MS-MQRR]): clients on other machines read, move and purge messages of our queues.

`server` has the interface RemoteRead on the RPC runtime; `server.remote_queue` is a queue that a
client has open, which the interface qm2qm ([MS-MQQP]) uses, too.
"""
