package manual

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// section is a part of the navigation: a heading of the index page and the pages
// that are linked below it.
type section struct {
	Title   string
	Entries []entry
}

type entry struct {
	Word, Href string
	Here       bool
}

// navigation reads the index page, so that the pages are listed in one place.
func navigation(index document) []section {
	var all []section
	seen := map[string]bool{}
	_ = ast.Walk(index.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				all = append(all, section{Title: plain(n, index.text)})
			}
		case *ast.Link:
			href := target(index.path, string(n.Destination))
			if len(all) > 0 && !seen[href] && strings.HasPrefix(href, Prefix+"/") {
				seen[href] = true
				last := &all[len(all)-1]
				last.Entries = append(last.Entries, entry{Word: plain(n, index.text), Href: href})
			}
		}
		return ast.WalkContinue, nil
	})
	return all
}

// around is the navigation as a page shows it.
func around(all []section, here string) []section {
	out := make([]section, len(all))
	for i, s := range all {
		out[i].Title = s.Title
		for _, e := range s.Entries {
			e.Here = e.Href == here || e.Href == apiPrefix && strings.HasPrefix(here, apiPrefix+"/")
			out[i].Entries = append(out[i].Entries, e)
		}
	}
	return out
}
