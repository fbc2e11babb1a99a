"""The verbs of assets: pictures that rows show by their ids."""

import asyncio
from base64 import b64encode
from typing import Annotated

from msgspec import Meta

from vantage.conversation.store.assets import get_asset as read_asset
from vantage.conversation.store.assets import put_asset as keep_asset
from vantage.conversation.verbs.conversation.target import Target
from vantage.conversation.verbs.verb import Params, Result, verb

AssetId = Annotated[str, Meta(min_length=1, max_length=64, description="The picture's id")]


class PutAsset(Params, frozen=True):
    asset: AssetId
    data_b64: Annotated[str, Meta(description="A PNG, JPEG, GIF or WebP picture, in base64")]


class GetAsset(Params, frozen=True):
    asset: AssetId


class AssetKept(Result):
    asset: Annotated[str, Meta(description="The picture's id")]
    media: Annotated[str, Meta(description="What kind of picture it is")]
    bytes: Annotated[int, Meta(description="How large it is")]


class AssetRead(Result):
    media: Annotated[str, Meta(description="The picture's media type")]
    data_b64: Annotated[str, Meta(description="The bytes, as base64")]


@verb("Keep a picture, for rows that show it by its id.")
async def put_asset(target: Target, params: PutAsset) -> AssetKept:
    kept = await asyncio.to_thread(keep_asset, target.conversation.folder, params.asset, params.data_b64)
    return AssetKept(asset=params.asset, media=kept.media, bytes=len(kept.data))


@verb("A picture of the conversation.", reads=True)
async def get_asset(target: Target, params: GetAsset) -> AssetRead:
    read = await asyncio.to_thread(read_asset, target.conversation.folder, params.asset)
    return AssetRead(media=read.media, data_b64=b64encode(read.data).decode())
