// Package manual serves the pages of docs/ at /docs, the API reference made from
// the OpenAPI document at /docs/api, and an index for programs at /llms.txt. It
// reads nothing but what the binary carries: whoever can reach the service may
// read the manual, and nobody learns anything of an installation from it.
//
// Pages are Markdown. Raw HTML in them is left out; links between them are
// rewritten to their addresses; a state diagram is drawn here, so that no page
// needs a script. Everything but a search is rendered once, at the first request. The page of
// the search has the only script: it searches where the site is static.
package manual
