"""Commands about users: accounts for remote read, certificates and their keys."""
