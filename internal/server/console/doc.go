// Package console serves the web console below /console: pages made of html/template,
// server-side SVG and htmx. It calls the same use cases as the API and shows nothing
// that the API would not. Every page and action works without JavaScript, and a GET
// changes nothing (contract 1 and 3).
//
// Each noun is a room, a package below with its routes and pages, and its templates in the
// folder templates of the same name: runs, approvals, recovery, plans, models, projects,
// agents (and teams), access (users to webhooks, settings, signing in) and overview (with the
// search and the audit log). They stand on rooms that know no noun: text (words and values as
// shown), web (requests, pages, routes), form (fields), drawn (requests, answers and their
// differences), steps, and rules. This package joins the routes and the template functions.
package console
