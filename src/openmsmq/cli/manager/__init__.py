"""Commands about the queue manager itself: to run, watch, save and check it."""
