// Package console serves the web console below /console: pages made of
// html/template, server-side SVG and a little htmx, which calls the use cases as
// the API does and knows nothing that the API would not say. Every page and every
// decision works without JavaScript; a GET changes nothing (contract 1 and 3).
//
// A room of files: one file a noun (runs.go, models.go, ...) with its routes and
// pages, the page's template of the same name, and the few things that all share:
// routing (console.go), requests of the pages (pagerequest.go), writing a page (page.go), words and
// icons of states (words.go), times and figures (figures.go), and JSON as people
// read it (payload.go).
package console
