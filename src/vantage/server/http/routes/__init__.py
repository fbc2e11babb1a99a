"""The functions behind the paths, one module per section of the interface. Each module has its `ROUTES`."""
