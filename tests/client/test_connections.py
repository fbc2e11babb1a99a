"""Connections to servers that close them, cut answers short, or are no Vantage servers."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager

import pytest

from vantage.client import calls, requests
from vantage.client.async_server import AsyncServer
from vantage.client.endpoint import HomeEndpoint
from vantage.client.transport.connection import compose, parse
from vantage.client.transport.http_client import HttpClient
from vantage.client.transport.websocket import Closed, MessageStream, Rejected
from vantage.errors import NoServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n" + b'{"answer": 1}'


@contextmanager
def answering(place, *answers):
    """A server that gives each connection one answer and closes it. `closed` is set after each."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place / "sock"))
    listener.listen()
    (place / "server.json").write_text(json.dumps({"socket": str(place / "sock")}))
    (place / "token").write_text("token")
    closed = threading.Semaphore(0)

    def answer():
        for each in answers:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the test has failed before it asked
            asked = b""
            while b"\r\n\r\n" not in asked and (piece := connection.recv(4096)):
                asked += piece
            connection.sendall(each)
            connection.close()
            closed.release()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield closed
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


def test_a_connection_that_was_closed_meanwhile_is_made_anew(tmp_path):
    """A server closes idle connections; a command that waits long must still be interrupted."""
    with answering(tmp_path, ANSWER, ANSWER) as closed, HttpClient(HomeEndpoint(str(tmp_path))) as client:
        for _ in range(2):
            assert client.answer(requests.list_conversations()) == {"answer": 1}
            closed.acquire()


CUT = [b"", ANSWER[:9], ANSWER[:30], ANSWER[:-1]]


@pytest.mark.parametrize("cut", CUT, ids=[str(len(cut)) for cut in CUT])
def test_an_answer_that_is_cut_short(tmp_path, cut):
    endpoint = HomeEndpoint(str(tmp_path), may_start=False)
    with answering(tmp_path, cut, cut), HttpClient(endpoint) as client:
        with pytest.raises(NoServer, match="the server has gone"):
            client.answer(requests.list_conversations())
        with pytest.raises(NoServer, match="the server has gone"):
            asyncio.run(AsyncServer(endpoint).answer(requests.list_conversations()))


@pytest.mark.parametrize("body", [b"<html>", b"[1]", b"\xff"])
def test_a_server_that_is_not_vantage(tmp_path, body):
    other = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    refused = pytest.raises(NoServer, match="not a Vantage server")
    with answering(tmp_path, other), HttpClient(HomeEndpoint(str(tmp_path))) as client, refused:
        client.answer(requests.list_conversations())


def test_a_damaged_address_means_the_usual_one(tmp_path):
    (tmp_path / "server.json").write_text("{")
    with HttpClient(HomeEndpoint(str(tmp_path), may_start=False)) as client, pytest.raises(NoServer):
        client.answer(requests.list_conversations())


def test_http_without_a_socket(tmp_path):
    (tmp_path / "token").write_text("token")
    sent = compose(calls.keys(["Up"]).request("a b"), HomeEndpoint(str(tmp_path)))
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/conversations/a%20b/pty/keys HTTP/1.1\r\n")
    assert b"Authorization: Bearer token" in head
    assert json.loads(body) == {"keys": ["Up"]}
    assert parse(ANSWER) == (200, b'{"answer": 1}')


def _handshake(stream):
    from websockets.server import ServerProtocol

    server = ServerProtocol()
    server.receive_data(stream.outgoing())
    [request] = server.events_received()
    server.send_response(server.accept(request))
    return server


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_messages_in_any_chunks(size):
    stream = MessageStream("token")
    server = _handshake(stream)
    server.send_text(b'{"type": "welcome"}')
    server.send_ping(b"are you there")
    server.send_text(b'{"type": "ro', fin=False)
    server.send_continuation(b'w", "text": "\xe2\x80\xa2"}', fin=True)
    data = b"".join(server.data_to_send())
    found = [message for at in range(0, len(data), size) for message in stream.feed(data[at : at + size])]
    assert found == [{"type": "welcome"}, {"type": "row", "text": "•"}]
    server.receive_data(stream.outgoing())
    assert [frame.data for frame in server.events_received()] == [b"are you there"], "the pong"
    stream.send("hello", client_id="ada")
    server.receive_data(stream.outgoing())
    assert json.loads(server.events_received()[0].data) == {"type": "hello", "client_id": "ada"}


def test_messages_before_the_end_are_not_lost():
    stream = MessageStream("token")
    server = _handshake(stream)
    server.send_text(b'{"type": "row"}')
    server.send_close(1001, "going")
    assert stream.feed(b"".join(server.data_to_send())) == [{"type": "row"}]
    with pytest.raises(Closed, match="going"):
        stream.feed(b"")
    stream.close()


def test_a_token_that_is_refused():
    stream = MessageStream("token")
    server = _handshake(stream)
    server.send_close(4401, "no valid token")
    with pytest.raises(Rejected, match="no valid token"):
        stream.feed(b"".join(server.data_to_send()))
    with pytest.raises(Rejected, match="401"):
        MessageStream("token").feed(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(Closed):
        MessageStream("token").feed(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(Closed):
        MessageStream("token").feed(b"")
