package apply

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/registry"
)

// The kinds of records.
const (
	setting = "setting"
	group   = "group"
	model   = "model"
	project = "project"
	agent   = "agent"
	team    = "team"
	webhook = "webhook"
)

// Kinds are all of them, in the order in which they are made: what a record names comes before it.
var Kinds = []string{setting, group, model, project, agent, team, webhook}

// tenant is the id of the one setting.
const tenant = "tenant"

// reason is what the audit log says of changes by files.
const reason = "as the files say"

// writes are the bodies of each kind's PUT.
var writes = map[string]func() any{
	setting: func() any { return new(countersign.TenantSettingsWrite) },
	group:   func() any { return new(countersign.GroupWrite) },
	model:   func() any { return new(countersign.ModelWrite) },
	project: func() any { return new(countersign.ProjectWrite) },
	agent:   func() any { return new(agentWrite) },
	team:    func() any { return new(countersign.TeamWrite) },
	webhook: func() any { return new(countersign.WebhookWrite) },
}

// agentWrite is an agent of a file: what its manifest and its admission say.
type agentWrite struct {
	countersign.ManifestAgent

	Budgets  []countersign.Budget `json:"budgets,omitempty" nullable:"false"`
	Admitted bool                 `json:"admitted,omitempty"`
}

// Record is one record of the files.
type Record struct {
	Kind    string
	ID      string
	File    string // where it stands, for people
	Retired bool   // it is to be retired, or deleted

	write any // of writes; nil if Retired
}

// Name is its kind and id.
func (r *Record) Name() string { return r.Kind + " " + r.ID }

// projectID is the project that the record is, or belongs to; "" for others.
func (r *Record) projectID() string {
	switch r.Kind {
	case project:
		return r.ID
	case agent:
		id, _, _ := strings.Cut(r.ID, "/")
		return id
	default:
		return ""
	}
}

// serviceID is the record's id at the service.
func (r *Record) serviceID() string {
	if r.Kind == agent {
		return agentID(r.ID)
	}
	return r.ID
}

// agentID is the service's id of an agent, named by its project and its own id.
func agentID(name string) string {
	of, external, _ := strings.Cut(name, "/")
	return registry.ID(of, external)
}

// parse checks one record by itself, with the rules of the service.
func parse(v countersign.Value) (*Record, error) {
	fields, ok := v.Object()
	if !ok {
		return nil, errors.New("a record is an object with kind and id")
	}
	r := &Record{Kind: fields["kind"].Text(), ID: fields["id"].Text()}
	if !slices.Contains(Kinds, r.Kind) {
		return nil, fmt.Errorf("kind: it must be one of %s", strings.Join(Kinds, ", "))
	}
	if err := r.checkID(); err != nil {
		return nil, err
	}
	retired := fields["retired"]
	delete(fields, "kind")
	delete(fields, "id")
	delete(fields, "retired")
	switch retired.Raw() {
	case "true":
		return r, r.retire(fields)
	case "", "false", "null":
		return r, r.decode(fields)
	default:
		return nil, errors.New("retired: it must be true or false")
	}
}

func (r *Record) checkID() error {
	switch of, external, _ := strings.Cut(r.ID, "/"); {
	case r.Kind == setting && r.ID != tenant:
		return fmt.Errorf("id: the one setting is %s", tenant)
	case r.Kind == agent && (!countersign.ValidID(of) || external == "" || len([]rune(external)) > 256):
		return errors.New("id: an agent's is its project's id, / and its externalAgentId")
	case r.Kind != agent && !countersign.ValidID(r.ID):
		return errors.New("id: it must have 1 to 128 letters, digits, dots, underscores and hyphens, and begin with a letter or digit")
	}
	return nil
}

func (r *Record) retire(rest map[string]countersign.Value) error {
	switch {
	case r.Kind == setting:
		return errors.New("retired: a setting stays; write what it is to be")
	case len(rest) > 0:
		return errors.New("retired: a record that is retired has kind and id, and nothing else")
	}
	r.Retired = true
	return nil
}

// decode reads the fields of the PUT. What the service fills in or sorts is brought to the form
// that it answers with, so that equal records are equal.
func (r *Record) decode(fields map[string]countersign.Value) error {
	switch r.Kind {
	case setting:
		if fields["reason"].IsZero() {
			fields["reason"] = countersign.String(reason)
		}
	case agent:
		_, external, _ := strings.Cut(r.ID, "/")
		if given := fields["externalAgentId"]; !given.IsZero() && given.Text() != external {
			return errors.New("externalAgentId: it must be that of the id, or left out")
		}
		fields["externalAgentId"] = countersign.String(external)
		if fields["sourceRevision"].IsZero() {
			fields["sourceRevision"] = countersign.Int(0)
		}
	}
	r.write = writes[r.Kind]()
	if err := exactjson.Decode([]byte(countersign.ObjectValue(fields).Raw()), r.write); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), string(countersign.ErrorCode(err))+": "))
	}
	switch w := r.write.(type) {
	case *countersign.GroupWrite:
		for i, member := range w.Members {
			if email, err := access.CanonicalEmail(member); err == nil {
				w.Members[i] = email
			}
		}
	case *countersign.WebhookWrite:
		w.Events = slices.Compact(slices.Sorted(slices.Values(w.Events)))
		if w.Enabled == nil {
			w.Enabled = new(bool)
			*w.Enabled = true
		}
	case *countersign.TeamWrite:
		asStored(w)
	case *agentWrite:
		return w.asStored()
	}
	return nil
}

// asStored names members by the service's ids where the file has an agent's id as files have
// it, and leaves out inputs that are null.
func asStored(w *countersign.TeamWrite) {
	named := func(id *string) {
		if strings.Contains(*id, "/") {
			*id = agentID(*id)
		}
	}
	for i := range w.Members {
		named(&w.Members[i].AgentID)
	}
	for i := range w.Steps {
		named(&w.Steps[i].AgentID)
		for name, v := range w.Steps[i].Input {
			if v.IsNull() {
				delete(w.Steps[i].Input, name)
			}
		}
	}
}

func (w *agentWrite) asStored() error {
	if w.Budgets != nil && !w.Admitted {
		return errors.New("budgets: they are given with the admission; write admitted: true beside them")
	}
	given := w.ExecutorInputs
	w.ExecutorInputs = map[string]map[string]countersign.Value{}
	for name, fields := range given {
		if len(fields) > 0 {
			w.ExecutorInputs[name] = fields
		}
	}
	return nil
}

// apart are fields that aren't compared with the rest: the service's, and those that another
// request than the PUT changes.
var apart = []string{"expectedRevision", "reason", "externalAgentId", "sourceRevision", "admitted", "budgets"}

// content are the fields of v, a record of the service or a write of its kind, that its PUT sets.
func content(kind string, v any) (map[string]countersign.Value, error) {
	text, err := countersign.Marshal(v)
	if err != nil {
		return nil, err
	}
	all, _ := countersign.RawValue(string(text)).Object()
	out := map[string]countersign.Value{}
	for _, name := range fieldsOf(reflect.TypeOf(writes[kind]()).Elem()) {
		if value, ok := all[name]; ok && !slices.Contains(apart, name) && (kind != project || name != "enabled") {
			out[name] = value
		}
	}
	return out, nil
}

// fieldsOf are the names of the fields of a body that the service doesn't ignore, in their order.
func fieldsOf(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			names = append(names, fieldsOf(f.Type)...)
		case !strings.HasPrefix(f.Tag.Get("doc"), "ignored"):
			names = append(names, name)
		}
	}
	return names
}
