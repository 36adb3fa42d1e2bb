package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// Facts is the snapshot that a manifest is checked against.
type Facts struct {
	// Meter counts what checking values against capabilities takes; the problems are no
	// result once it has come to its end.
	Meter   *cost.Meter
	Project *countersign.Project
	// Models holds the models that the manifest names and the tenant has.
	Models map[string]ModelOwner
}

// ModelOwner is the project whose agents use a model ("" for none), and whether the
// model is retired.
type ModelOwner struct {
	ProjectID string
	Retired   bool
}

// Check returns every problem of a manifest (contract 7). A manifest with problems
// changes nothing.
func Check(m *countersign.Manifest, f Facts) []countersign.Problem {
	k := manifestCheck{facts: f}
	first := map[string]int{}
	for i := range m.Agents {
		a := &m.Agents[i]
		path := fmt.Sprintf("agents[%d]", i)
		if j, twice := first[a.ExternalAgentID]; twice {
			k.add(path+".externalAgentId", "duplicate", "%s is agents[%d] already; name each agent once", a.ExternalAgentID, j)
		} else {
			first[a.ExternalAgentID] = i
		}
		k.identity(path, a)
		k.capabilities(path, a)
		k.executorInputs(path, a)
		k.model(path, a)
	}
	return k.problems
}

type manifestCheck struct {
	facts    Facts
	problems []countersign.Problem
}

func (m *manifestCheck) add(path, code, format string, args ...any) {
	m.problems = append(m.problems, countersign.Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// identity: the system's name for the agent is shown, listed and kept in the
// audit log, so nothing that could break a line belongs in it.
func (m *manifestCheck) identity(path string, a *countersign.ManifestAgent) {
	if safetext.Blank(a.ExternalAgentID) || hasControl(a.ExternalAgentID) {
		m.add(path+".externalAgentId", "bad_id", "must be visible text without control characters")
	}
}

func (m *manifestCheck) capabilities(path string, a *countersign.ManifestAgent) {
	for n, name := range a.Capabilities {
		at := fmt.Sprintf("%s.capabilities[%d]", path, n)
		switch {
		case m.facts.Project.Capability(name) == nil:
			m.add(at, "unregistered", "project %s has no capability %s; an ADMIN registers it first", m.facts.Project.ID, name)
		case slices.Index(a.Capabilities, name) < n:
			m.add(at, "duplicate", "%s is listed already", name)
		}
	}
}

// executorInputs: each field belongs to the contract of a capability that the
// agent has, and its value fits there.
func (m *manifestCheck) executorInputs(path string, a *countersign.ManifestAgent) {
	for _, name := range sortedKeys(a.ExecutorInputs) {
		at := path + ".executorInputs." + name
		c := m.facts.Project.Capability(name)
		switch {
		case !slices.Contains(a.Capabilities, name):
			m.add(at, "not_a_capability", "%s is none of the agent's capabilities", name)
		case c == nil: // named above
		default:
			for _, p := range request.CheckGiven(m.facts.Meter, c, a.ExecutorInputs[name], nil) {
				m.add(at+strings.TrimPrefix(p.Path, "input"), p.Code, "%s", p.Message)
			}
		}
	}
}

func (m *manifestCheck) model(path string, a *countersign.ManifestAgent) {
	if a.ModelID == "" {
		return
	}
	owner, exists := m.facts.Models[a.ModelID]
	switch {
	case !exists:
		m.add(path+".modelId", "no_model", "there is no model %s", a.ModelID)
	case owner.ProjectID != "" && owner.ProjectID != m.facts.Project.ID:
		// The other system is not named: it may lie outside the caller's scope.
		m.add(path+".modelId", "foreign_model", "model %s belongs to an agent of another system; take a model of its own", a.ModelID)
	}
}

// ModelIDs names the models of a manifest, each once.
func ModelIDs(m *countersign.Manifest) []string {
	ids := map[string]bool{}
	for _, a := range m.Agents {
		if a.ModelID != "" {
			ids[a.ModelID] = true
		}
	}
	return sortedKeys(ids)
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
}
