"""The page: ES modules and style sheets in `static/`, served as they are. There is no build step."""
