"""Tables that do not fit a display: their columns measured, and the forms they can take instead."""
