"""Agents' JSON streams as events, one file each."""
