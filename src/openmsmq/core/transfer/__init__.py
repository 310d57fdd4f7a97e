"""Messages from and to other machines.

`incoming/` is the one way in: an `Inlet` for each connection, and a `Reception` for what came
together. `checks/` verifies and decrypts what arrives, `forwarding/` passes on what is for others.
`outgoing/` is the one way out: outgoing queues, their states, streams and sequences. `notices/`
tells the source of a message what became of it. `transports.py` names the ways on the network.
"""
