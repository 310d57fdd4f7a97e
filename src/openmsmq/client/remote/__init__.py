"""Queues of any MSMQ server over RPC: the second backend of the client.

`address` says where a server is and who reads; `channel` has the connections to it without sockets,
`reads` the reads on their way, `ranges` what pipelines read, `backend` is the `Backend`.
`asynchronous_transport` with `links`, and `blocking_transport`, move the bytes.
"""
