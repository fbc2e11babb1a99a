"""For what waits on other processes: a run that says itself how long it took, by the clock on the wall."""


class Milliseconds(float):
    """What a run took; the worker's own measure of processor time is not asked."""
