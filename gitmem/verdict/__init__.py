"""The decision whether a change makes a page untrue: pure, from the lines of a difference."""
