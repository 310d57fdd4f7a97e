"""Signatures of messages: what MSMQ 1.0, 2.0 and 3.0 sign, making and checking them.

`hash_forms` names the readings of [MS-MQMQ] 2.5 that a signer may have followed, `signed_fields`
takes the signed bytes out of a packet, `signing` makes a signature and `verification` checks one.
Keys are arguments; nothing here keeps any.
"""
