"""An agent's tools for frameworks, each of which is imported when its tools are made. What
an answer says to a model is countersign.tools' alone."""
