"""The UserMessage: a view over its bytes, its headers, building and patching."""
