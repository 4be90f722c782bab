"""Put the winner where it is needed."""
