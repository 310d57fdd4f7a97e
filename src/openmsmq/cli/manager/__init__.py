"""Commands for the queue manager itself: run, watch, back up and check it."""
