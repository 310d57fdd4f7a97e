"""Messages by multicast: SRMP over PGM, without sockets and clocks ([MC-MQSRM] 2.1.2, 2.1.3).

`manager.py` is the carrier: `MulticastProtocol(manager, settings, ...)`. `sending.py` sends
messages, with one PGM source for each address; `receiving.py` has a PGM receiver for each address
to which a queue listens, and converts received APDUs to messages.
"""
