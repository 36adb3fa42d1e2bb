// Package web serves pages: it has requests with their user, routes, the frame around every page, lists,
// refusals and assets. Routes are handed in, so that it knows none of the nouns that they are of.
package web
