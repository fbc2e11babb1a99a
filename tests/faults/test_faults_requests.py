"""Killed between asked, shown, answered and told: no request is lost, none is answered twice, no answer is unsaid."""

import http.client
import random
import threading

from extent import extent
from server_home import serving

WORK = "/v1/conversations/work/requests"
GONE = (OSError, http.client.HTTPException)


class Killed:
    """A server that is killed at random moments, and started again by the client that it leaves without an answer."""

    def __init__(self, server, chance):
        self.server, self.chance = server, chance
        self.kills = 0
        self._aim()

    def _aim(self):
        self.timer = threading.Timer(self.chance.random(), self.server.process.kill)
        self.timer.start()

    def insist(self, *asking):
        """Asks until there is an answer."""
        while True:
            try:
                return self.server.ask(*asking)
            except GONE:
                self.revive()

    def revive(self):
        self.timer.join()
        self.server.kill()  # takes note that it is dead
        self.server.start()
        self.kills += 1
        self._aim()


def test_each_request_is_asked_once_and_answered_once(tmp_path):
    chance = random.Random(19)
    with serving(tmp_path) as server:
        server.post("/v1/conversations", {"id": "work"})
        killed = Killed(server, chance)
        promised, number = {}, 0
        try:
            while killed.kills < extent(8, 100):
                number += 1
                name = f"q{number}"
                body = {"request_id": name, "title": f"Deploy {number}?", "options": ["yes", "no"]}
                asked = killed.insist("POST", WORK, body).json
                assert killed.insist("POST", WORK, body).json["hash"] == asked["hash"]
                given = [{"hash": asked["hash"], "option": each, "by": f"client:{each}"} for each in ("yes", "no")]
                chance.shuffle(given)
                said = [killed.insist("POST", f"{WORK}/{name}/answer", each) for each in given]
                told = [
                    each.json["answer"] if each.status == 200 else each.json["error"]["facts"]["answer"]
                    for each in said
                ]
                assert told[0] == told[1], "the second is told of the first"
                assert told[0]["option"] == given[0]["option"]
                promised[name] = told[0]
        finally:
            killed.timer.join()
        killed.revive()
        killed.timer.cancel()
        killed.insist("GET", "/healthz")
        assert_the_log_agrees(server, promised)


def assert_the_log_agrees(server, promised):
    events, after = [], 0
    while after is not None:
        page = server.get(f"/v1/conversations/work/events?after={after}").json
        events += page["events"]
        after = page["next"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    answers = [event for event in events if event["type"] == "answer"]
    assert {each["request_id"]: each["seq"] for each in answers} == {
        name: each["seq"] for name, each in promised.items()
    }
    assert len(answers) == len(promised), "one answer each"
    asked = [event["request_id"] for event in events if event["type"] == "request"]
    assert asked == list(promised), "each was asked once"
    assert server.get("/v1/requests").json["requests"] == []
    listed = server.get("/v1/requests?state=all&conversation=work").json["requests"]
    assert {each["request_id"]: each["answer"] for each in listed} == promised
