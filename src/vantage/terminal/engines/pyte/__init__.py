"""The engine on pyte: pure Python, for platforms without a wheel of pyghostty. Its limits are listed in `LIMITS`."""

LIMITS = {
    "reflow": "a resize cuts rows off instead of wrapping them anew, and does not bring scrolled rows back",
    "margins": "left and right margins (DECLRMM) are not supported",
    "rectangles": "rectangular areas (DECCRA, DECFRA, …) and protected cells (DECSCA) are not supported",
    "charsets": "of the character sets only ASCII and the line drawing set are supported, and only as G0 and G1",
    "double": "lines of double height and width are drawn as ordinary ones",
    "clusters": "clusters (mode 2027) are not measured as one",
    "images": "images (sixel, kitty) are not kept",
}
"""What this engine cannot do, by a short name; conformance cases name the features that they need."""
