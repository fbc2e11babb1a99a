"""A conversation as rows and screens, for its subscribers: each gets what is newer than what it has.

The way is one way: bus → `Feed` → `Replica` (`RowLog`, `BlockEvents`, `ScreenMirror`, `StatusFold`) → `Throttle` →
`Subscription` → `FeedEncoder` → `RowRenderer` and its `RowCache` → messages.
"""
