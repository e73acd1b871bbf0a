"""How results look in a notebook and as text: elements of HTML, tables, drawings. Plain data in."""
