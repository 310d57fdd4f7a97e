"""Messages from and to other machines.

`incoming/` is the receiving side: an `Inlet` for each connection, and a `Reception` for messages
that arrived together. `checks/` verifies and decrypts messages, `forwarding/` passes on those for
other machines. `outgoing/` is the sending side: outgoing queues, their states, streams and
sequences. `notices/` reports the fate of a message to its source. `transports.py` names the
network transports.
"""
