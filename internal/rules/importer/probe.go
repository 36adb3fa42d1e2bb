package importer

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// A probe reads the receiver's state after a call of unknown outcome (contract 6). It takes its
// inputs from the step by name. So it is proposed only if each of its required inputs is a
// required input of the side effect, and none of its optional inputs has another meaning
// there.

// probes chooses the probe of each side effect: the GET of the same path, or for a POST to a
// collection the GET of the created item, or else of the collection; for what is done to an
// item, by a path below its own, the GET of the item.
func probes(drafts []*draft) int {
	reads := map[string]*countersign.Capability{}
	items := map[string][]*countersign.Capability{} // by the path before a final placeholder
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
			candidates = append(slices.Clone(items[c.Path]), reads[c.Path])
		}
		for parent := c.Path; len(candidates) == 0 || !slices.ContainsFunc(candidates, func(read *countersign.Capability) bool { return probesFor(read, c) }); {
			i := strings.LastIndexByte(parent, '/')
			if i <= 0 {
				break
			}
			if parent = parent[:i]; strings.HasSuffix(parent, "}") {
				candidates = append(candidates, reads[parent])
				break
			}
		}
		if i := slices.IndexFunc(candidates, func(read *countersign.Capability) bool { return probesFor(read, c) }); i >= 0 {
			c.Probe = candidates[i].Name
			n++
		}
	}
	return n
}

// collection is the path before its last segment, and whether that is a placeholder.
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

// healthPath is the path of a read without inputs that is named like a health check, "" if
// there is none.
func healthPath(drafts []*draft) string {
	for _, word := range []string{"health", "healthz", "ping", "status", "version", "me", "whoami", "self", "account", "user", "auth.test"} {
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
