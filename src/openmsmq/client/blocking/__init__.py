"""The client for programs that wait: blocking sockets under the shared logic."""
