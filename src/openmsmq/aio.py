"""The asynchronous client: the names of `openmsmq`, with await."""
