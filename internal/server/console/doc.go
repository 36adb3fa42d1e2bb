// Package console serves the web console below /console: pages made of html/template,
// server-side SVG and htmx. It calls the same use cases as the API and shows nothing
// that the API would not. Every page and action works without JavaScript, and a GET
// changes nothing (contract 1 and 3).
//
// Each resource has a file with its routes and pages (runs.go, models.go, ...) and
// templates of the same name. Shared are routing (console.go), requests
// (pagerequest.go), rendering (page.go), states (words.go), times and sizes
// (figures.go), and JSON for display (payload.go).
package console
