"""Commands for users: accounts for remote read, certificates and their keys."""
