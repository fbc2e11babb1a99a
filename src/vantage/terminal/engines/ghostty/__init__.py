"""The engine on libghostty-vt, through the C interface that pyghostty carries."""
