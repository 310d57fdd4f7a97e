"""The brokers that `python -m bench brokers` measures, and what their client programs share.

The modules `client_*` and `worker` run in the peers' own environment, without our packages.
"""
