"""Commands about messages, with bodies in, options of sending, text and JSON out."""
