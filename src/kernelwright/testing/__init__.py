"""Contract kits and stand-ins for authors of parts; nothing in the package imports them."""
