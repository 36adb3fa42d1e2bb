// Package overview has the pages about everything: the overview, the search and the audit log.
package overview
