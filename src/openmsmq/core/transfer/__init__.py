"""Messages from and to other machines: reception, streams, acknowledgments."""
