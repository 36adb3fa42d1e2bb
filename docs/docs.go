// Package docs holds the product's pages as the binary carries them: internal/server/manual
// serves them at /docs, and test/docs does what they say.
package docs

import "embed"

// Files are the pages, the files that they show, and their pictures.
//
//go:embed *.md how-to quick-start reference example screens
var Files embed.FS

// Index is the page that leads to all others: its sections and links are the
// navigation.
const Index = "README.md"
