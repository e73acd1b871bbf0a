"""A small 0-1 program as an MPS file, to be completed by its bounds."""

HEAD = """NAME          SMALL
OBJSENSE
    {sense}
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  EQ
 G  RNG
COLUMNS
    M1        'MARKER'                 'INTORG'
    X         COST              1.5   LIM1             1
    X         LIM2              1     RNG              1
    Y         COST              2     LIM1             1
    Y         EQ                1     RNG              1
    Z         COST             -1     EQ               1
    M2        'MARKER'                 'INTEND'
RHS
    RHS       LIM1              2     LIM2             {least}
    RHS       EQ                1     COST            -10
    RHS       RNG               1
RANGES
    R         RNG               1
BOUNDS
"""
BINARY = " BV BND       X\n BV BND       Y\n BV BND       Z\nENDATA\n"
