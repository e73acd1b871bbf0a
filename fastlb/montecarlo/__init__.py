"""Monte Carlo studies: what one is, its runs, their statistics, and the store that keeps them."""
