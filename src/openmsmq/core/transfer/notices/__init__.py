"""Notices to the source of a message: acknowledgments, final acks, reports, receipts."""
