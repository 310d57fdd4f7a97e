"""Queues of any MSMQ server over RPC: the second backend of the client.

`address` says where a server is and who reads; `channel` has the connections to it without sockets,
`reads` the reads on their way, `backend` is the `Backend`. `asynchronous_links` and
`blocking_links` move the bytes.
"""
