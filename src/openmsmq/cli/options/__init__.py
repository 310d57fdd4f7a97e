"""Options that several commands have, and what each leads to: a connection, a question."""
