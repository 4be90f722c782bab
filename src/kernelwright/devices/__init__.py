"""What the machine is and what it can do at most: facts, measured peaks, the roofline."""
