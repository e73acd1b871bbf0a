"""How results look in a notebook and as text: HTML, tables and drawings of plain data."""
