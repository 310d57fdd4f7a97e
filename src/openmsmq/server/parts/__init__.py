"""What a queue manager listens with: one module for each protocol."""
