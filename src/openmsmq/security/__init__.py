"""Security identifiers, descriptors and access checks."""
