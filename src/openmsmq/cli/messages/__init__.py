"""Commands for messages: sources of bodies, options of `send`, text and JSON output."""
