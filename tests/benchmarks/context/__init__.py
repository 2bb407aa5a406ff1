"""Benches of long chats: opening, preparing, fitting, price."""
