package importer

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// A probe shows, after a call of which nobody knows the outcome, what the
// receiver has (contract 6). It takes its inputs from the step by name, so it is
// proposed only where each input that it needs is one that the step must have,
// and none that it may take is meant otherwise.

// probes gives each side effect the GET of its own path; a POST to a collection,
// which has no such thing, the GET of what it creates.
func probes(drafts []*draft) int {
	reads := map[string]*countersign.Capability{}
	items := map[string][]*countersign.Capability{} // by the path above a last placeholder
	for _, d := range drafts {
		if c := &d.capability; c.Method == "GET" {
			reads[c.Path] = c
			if parent, ok := collection(c.Path); ok {
				items[parent] = append(items[parent], c)
			}
		}
	}
	n := 0
	for _, d := range drafts {
		c := &d.capability
		if c.Method == "GET" {
			continue
		}
		var candidates []*countersign.Capability
		if _, item := collection(c.Path); c.Method != "POST" || item {
			candidates = append(candidates, reads[c.Path])
		} else {
			candidates = items[c.Path]
		}
		if i := slices.IndexFunc(candidates, func(read *countersign.Capability) bool { return probesFor(read, c) }); i >= 0 {
			c.Probe = candidates[i].Name
			n++
		}
	}
	return n
}

// collection is the path above a last segment that is a placeholder.
func collection(path string) (string, bool) {
	i := strings.LastIndexByte(path, '/')
	last := path[i+1:]
	return path[:i], strings.HasPrefix(last, "{") && strings.HasSuffix(last, "}")
}

func probesFor(read, c *countersign.Capability) bool {
	if read == nil {
		return false
	}
	for name, in := range read.InputSchema {
		given, has := c.InputSchema[name]
		switch {
		case in.Required && (!has || !given.Required || given.Type != in.Type):
			return false
		case !in.Required && has && (given.Type != in.Type || slices.Contains(c.Request.Body, name)):
			return false
		}
	}
	return true
}

// healthPath is a read that needs nothing and is called like a health check, ""
// for none.
func healthPath(drafts []*draft) string {
	for _, word := range []string{"health", "healthz", "ping", "status", "version"} {
		for _, d := range drafts {
			c := &d.capability
			needs := func() bool {
				for _, in := range c.InputSchema {
					if in.Required {
						return true
					}
				}
				return false
			}
			if c.Method == "GET" && strings.EqualFold(c.Path[strings.LastIndexByte(c.Path, '/')+1:], word) && !needs() {
				return c.Path
			}
		}
	}
	return ""
}
