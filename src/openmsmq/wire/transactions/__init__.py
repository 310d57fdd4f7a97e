"""What queue managers tell one another about transactions that span machines."""
