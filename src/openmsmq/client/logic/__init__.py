"""The client without sockets: requests out, replies in. Two drivers move the bytes."""
