"""SIDs, security descriptors, keys, and the SecurityHeader of a message."""
