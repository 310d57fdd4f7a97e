"""The calls of the RPC interfaces that openmsmq serves and uses, as typed records.

Each module declares one interface: a NamedTuple per request and response, in the names of the
specification, its types, and a table `CALLS` of all opnums. `epm` and `mgmt` belong to the RPC
runtime; `remote_read`, `qm2qm` and `qmcomm` read queues.
"""
