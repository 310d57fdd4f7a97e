"""Messages on the command line: bodies in, options of sending, text and JSON out."""
