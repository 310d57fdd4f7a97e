"""Remote read of old clients ([MS-MQQP]), and the calls of qmcomm ([MS-MQMP]) that open its queues.

An application opens a queue by qmcomm and gets three DWORDs, which are one and the same number. It
passes the number to the queue manager that supports it, which reads by qm2qm from another machine.
"""
