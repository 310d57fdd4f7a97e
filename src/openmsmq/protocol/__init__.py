"""The protocols as state machines without input and output."""
