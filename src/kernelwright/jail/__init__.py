"""Code that runs beside a candidate: started by name in a fresh process, imported by nobody."""
