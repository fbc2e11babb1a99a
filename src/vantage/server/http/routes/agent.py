"""The agents that Vantage runs, over HTTP."""

from vantage.conversation.verbs.conversation import agent
from vantage.server.http.route import C, verb_route

ROUTES = (
    verb_route("POST", f"{C}/agent", "start_agent", agent.start_agent, 201, errors=(409,)),
    verb_route("GET", f"{C}/agent", "read_agent", agent.agent),
    verb_route("DELETE", f"{C}/agent", "end_agent", agent.end_agent),
    verb_route("POST", f"{C}/say", "say", agent.say, person=True, errors=(409,)),
    verb_route("POST", f"{C}/interrupt", "interrupt_agent", agent.interrupt, errors=(409,)),
    verb_route("GET", "/v1/agents", "list_agents", agent.agents),
)
