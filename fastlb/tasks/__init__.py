"""Whole tasks: which node does which, so that the largest load is as small as possible."""
