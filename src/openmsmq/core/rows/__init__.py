"""How memory becomes rows of the store and rows become memory again."""
