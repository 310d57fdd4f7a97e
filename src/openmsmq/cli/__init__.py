"""The `openmsmq` command."""
