"""git at the edge: `run` starts it, `ask` puts small questions, `objects` and `commits` read many things at once."""
