"""Files: loads and networks read, balances and plans written."""
