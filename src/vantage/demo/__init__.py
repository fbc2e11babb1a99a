"""A scripted agent that goes through every part of Vantage in about a minute: no model, no network, real programs."""
