"""The backend of a local queue manager: requests and replies of the local protocol."""
