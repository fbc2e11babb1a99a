"""A conversation as rows and screens, for its subscribers: each gets what is newer than its position.

Data goes one way: bus → `Feed` → `Replica` (`RowLog`, `BlockEvents`, `ScreenMirror`, `StatusFold`) → `Throttle` →
`Subscription` → `FeedEncoder` → `RowRenderer` and its `RowCache` → messages.
"""
