"""What people see: tables, pictures, plots, pages and progress."""
