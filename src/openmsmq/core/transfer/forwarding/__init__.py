"""This queue manager as a hop: messages for other machines are stored and forwarded."""
