"""What the source of a message hears of it: acknowledgments, final acks, reports, receipts."""
