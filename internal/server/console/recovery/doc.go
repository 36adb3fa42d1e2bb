// Package recovery has the pages on which people find out what became of a step, and say so.
package recovery
