"""SRMP: messages over HTTP and HTTPS, without sockets and clocks ([MC-MQSRM]).

`manager.py` is the carrier: `SrmpProtocol(manager, gate, http, settings)`. It takes requests from
the HTTP server of `protocol/http` and posts requests through its client. `receiving.py` converts
requests to messages and answers, `stream_receipts.py` decides when a stream is acknowledged,
`receipts.py` takes receipts of other queue managers. `sending.py` and `transfer.py` send
messages, and `outgoing_requests.py` writes them.
"""
