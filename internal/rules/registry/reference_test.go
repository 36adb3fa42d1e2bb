package registry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// A second implementation of contract 7, as plain as it can be, that the real
// one is compared with.

// wrongIn lists the paths of everything that is wrong with a manifest.
func wrongIn(m *countersign.Manifest, f registry.Facts) []string {
	wrong := map[string]bool{}
	for i, a := range m.Agents {
		at := fmt.Sprintf("agents[%d].", i)
		twice := slices.ContainsFunc(m.Agents[:i], func(b countersign.ManifestAgent) bool { return b.ExternalAgentID == a.ExternalAgentID })
		if twice || strings.Trim(a.ExternalAgentID, " ") == "" || strings.ContainsAny(a.ExternalAgentID, "\n\t\x00\x7f\u0085") {
			wrong[at+"externalAgentId"] = true
		}
		for n, name := range a.Capabilities {
			if f.Project.Capability(name) == nil || slices.Contains(a.Capabilities[:n], name) {
				wrong[fmt.Sprintf("%scapabilities[%d]", at, n)] = true
			}
		}
		for name, fixed := range a.ExecutorInputs {
			if !slices.Contains(a.Capabilities, name) {
				wrong[at+"executorInputs."+name] = true
				continue
			}
			for field, v := range fixed {
				if c := f.Project.Capability(name); c != nil && !belongs(c, field, v) {
					wrong[at+"executorInputs."+name+"."+field] = true
				}
			}
		}
		if owner, exists := f.Models[a.ModelID]; a.ModelID != "" && (!exists || owner.ProjectID != "" && owner.ProjectID != f.Project.ID) {
			wrong[at+"modelId"] = true
		}
	}
	return sorted(wrong)
}

// belongs reports whether a value of this type may be given to the field.
func belongs(c *countersign.Capability, field string, v countersign.Value) bool {
	if c.InputSchema == nil {
		return true // such a capability of these tests takes anything in its body
	}
	declared, known := c.InputSchema[field]
	return known && declared.Type == v.Kind().String() && (field != "resourceId" || countersign.ValidID(v.Text()))
}

// entry is what the reference remembers of an agent.
type entry struct {
	source, revision    int64
	content             any
	admitted, suspended bool
	created, updated    time.Time
}

// sync is what an item makes of an entry, nil for a new agent. ok is false for a
// conflict.
func (e *entry) sync(item countersign.ManifestAgent, now time.Time) (next entry, changed, ok bool) {
	content := meaning(item)
	switch {
	case e == nil:
		return entry{source: item.SourceRevision, revision: 1, content: content, created: now, updated: now}, true, true
	case item.SourceRevision > e.source:
		return entry{source: item.SourceRevision, revision: e.revision + 1, content: content, suspended: e.suspended, created: e.created, updated: now}, true, true
	case item.SourceRevision == e.source && reflect.DeepEqual(content, e.content):
		return *e, false, true
	default:
		return *e, false, false
	}
}

// admit and suspend report whether they changed anything.

func (e *entry) admit(now time.Time) bool {
	if e.admitted {
		return false
	}
	e.admitted, e.suspended, e.updated = true, false, now
	return true
}

func (e *entry) suspend(now time.Time) bool {
	if e.suspended {
		return false
	}
	e.admitted, e.suspended, e.updated = false, true, now
	e.revision++
	return true
}

// disagrees says how an agent differs from the entry, "" when it doesn't.
func (e entry) disagrees(a countersign.Agent) string {
	status := countersign.AgentPending
	if e.admitted {
		status = countersign.AgentAdmitted
	}
	item := countersign.ManifestAgent{Name: a.Name, Role: a.Role, Goal: a.Goal, Capabilities: a.Capabilities, ExecutorInputs: a.ExecutorInputs, ModelID: a.ModelID}
	is := entry{a.SourceRevision, a.Revision, meaning(item), a.Status == countersign.AgentAdmitted, a.Suspended, a.CreatedAt, a.UpdatedAt}
	if !reflect.DeepEqual(e, is) || a.Status != status {
		return fmt.Sprintf("%+v (%s), want %+v", is, a.Status, e)
	}
	return ""
}

// meaning is what an item says of its agent, its revision apart, in a form in
// which equal things are deeply equal.
func meaning(item countersign.ManifestAgent) any {
	fixed := map[string]any{}
	for name, fields := range item.ExecutorInputs {
		if len(fields) > 0 {
			fixed[name] = plain(fields)
		}
	}
	return []any{item.Name, item.Role, item.Goal, append([]string{}, item.Capabilities...), fixed, item.ModelID}
}

// plain turns anything into decoded JSON with its numbers as exact fractions.
func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var decoded any
	if err := d.Decode(&decoded); err != nil {
		panic(err)
	}
	return exactNumbers(decoded)
}

func exactNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(string(v))
		return "number " + r.String()
	case map[string]any:
		for k := range v {
			v[k] = exactNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exactNumbers(v[i])
		}
	case string:
		return "text " + v
	}
	return v
}
