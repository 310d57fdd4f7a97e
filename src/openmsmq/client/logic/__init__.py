"""What a client does, without sockets: requests out, replies in. Two drivers move the bytes."""
