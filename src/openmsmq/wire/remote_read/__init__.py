"""Structures that only reading over RPC knows ([MS-MQRR], [MS-MQQP])."""
