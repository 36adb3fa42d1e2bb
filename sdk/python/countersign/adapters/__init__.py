"""An agent's tools for frameworks. None of these has been tried against the real package:
each is written to its documentation. What they are made of, countersign.tools, is tested."""
