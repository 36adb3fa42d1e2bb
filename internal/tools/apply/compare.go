package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/difference"
	rules "github.com/countersign/countersign/internal/rules/project"
)

// Stored is what the service has of a record.
type Stored struct {
	There    bool
	Retired  bool
	Revision int64
	Enabled  bool // of a project
	Admitted bool // of an agent that isn't suspended
	Source   int64

	Record any // of the root package
}

// Change is what has to be done so that the service has a record as the file says.
type Change struct {
	Kind        string       `json:"kind"`
	ID          string       `json:"id"`
	Action      string       `json:"action"` // create, change, retire or delete
	Weakens     bool         `json:"weakens,omitempty"`
	Differences []Difference `json:"differences,omitempty"`

	record   *Record
	stored   Stored
	put      bool // its content differs
	tightens bool
}

// Name is its kind and id.
func (c *Change) Name() string { return c.Kind + " " + c.ID }

// Compare returns what has to be done for a record; nil where nothing differs.
func Compare(r *Record, s Stored) (*Change, error) {
	c := &Change{Kind: r.Kind, ID: r.ID, Action: "change", record: r, stored: s}
	if r.Retired {
		if !s.There || s.Retired {
			return nil, nil
		}
		c.Action = "retire"
		if r.Kind == group || r.Kind == webhook {
			c.Action = "delete"
		}
		return c, nil
	}
	now, err := content(r.Kind, r.write)
	if err != nil {
		return nil, err
	}
	was := map[string]countersign.Value{}
	if s.There {
		if was, err = content(r.Kind, s.Record); err != nil {
			return nil, err
		}
	} else {
		c.Action = "create"
	}
	c.Differences = difference.Between(countersign.ObjectValue(was), countersign.ObjectValue(now))
	c.put = !s.There || len(c.Differences) > 0
	if s.Retired {
		c.differs("retired", true, false)
	}
	c.compareState()
	if len(c.Differences) == 0 && s.There {
		return nil, nil
	}
	return c, c.judge()
}

func (c *Change) differs(path string, was, now any) {
	a, _ := countersign.ValueOf(was)
	b, _ := countersign.ValueOf(now)
	if !a.Equal(b) {
		c.Differences = append(c.Differences, Difference{Path: path, Was: a, Now: b})
	}
}

// compareState compares what other requests than the PUT change.
func (c *Change) compareState() {
	switch w := c.record.write.(type) {
	case *countersign.ProjectWrite:
		c.differs("enabled", c.stored.Enabled, c.enables())
	case *agentWrite:
		if w.SourceRevision > c.stored.Source && c.stored.There {
			c.differs("sourceRevision", c.stored.Source, w.SourceRevision)
			c.put = true
		}
		if w.Admitted {
			c.differs("admitted", c.stored.Admitted, true)
			c.differs("budgets", append([]countersign.Budget{}, c.budgets()...), append([]countersign.Budget{}, w.Budgets...))
		}
	}
}

// enables reports a project that is to be enabled.
func (c *Change) enables() bool {
	w, is := c.record.write.(*countersign.ProjectWrite)
	return is && (w.Enabled == nil || *w.Enabled)
}

func (c *Change) budgets() []countersign.Budget {
	if a, is := c.stored.Record.(*countersign.AgentWithInstances); is {
		return a.Budgets
	}
	return nil
}

// judge says whether a change loosens a gate, or tightens one.
func (c *Change) judge() (err error) {
	switch w := c.record.write.(type) {
	case *countersign.TenantSettingsWrite:
		now := countersign.DecisionAssertionPasskey
		c.tightens = w.DecisionAssertion == now
		c.Weakens = !c.tightens || !slices.ContainsFunc(c.Differences, func(d Difference) bool { return d.Path == "decisionAssertion" })
	case *countersign.GroupWrite:
		if g, is := c.stored.Record.(*countersign.Group); is && c.stored.There {
			c.Weakens = adds(g.Members, w.Members) || w.Claim != "" && w.Claim != g.Claim
			c.tightens = adds(w.Members, g.Members) || g.Claim != "" && w.Claim != g.Claim
		}
	case *countersign.ProjectWrite:
		if p, is := c.stored.Record.(*countersign.Project); is && c.stored.There && c.put {
			c.Weakens, c.tightens, err = compareGates(p, w)
		}
	case *agentWrite:
		c.Weakens = w.Admitted && budget.Weaker(c.budgets(), w.Budgets)
		c.tightens = w.Admitted && budget.Weaker(w.Budgets, c.budgets())
	}
	return err
}

// adds reports that some name is among now and not among was.
func adds(was, now []string) bool {
	return slices.ContainsFunc(now, func(name string) bool { return !slices.Contains(was, name) })
}

// compareGates asks the service's own question of an edit, in both directions.
func compareGates(was *countersign.Project, w *countersign.ProjectWrite) (weakens, tightens bool, err error) {
	text, err := countersign.Marshal(w)
	if err != nil {
		return true, true, err
	}
	now := new(countersign.Project)
	if err := json.Unmarshal(text, now); err != nil {
		return true, true, err
	}
	const most = 20_000_000
	meter := func() *cost.Meter { return cost.New(context.Background(), most, 0) }
	return rules.Weakens(meter(), was, now, was.Capability), rules.Weakens(meter(), now, was, now.Capability), nil
}

// Order sorts changes into the order in which they are made: gates are tightened before others
// are loosened, what is named comes before what names it, and what is retired goes last, in the
// opposite order.
func Order(changes []*Change) {
	slices.SortStableFunc(changes, func(a, b *Change) int {
		if p := cmp.Compare(a.phase(), b.phase()); p != 0 {
			return p
		}
		x, y := slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)
		if a.record.Retired {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(tightness(b), tightness(a)), cmp.Compare(a.ID, b.ID))
	})
}

// tightness puts what tightens one gate and loosens another before what only loosens.
func tightness(c *Change) int {
	if c.tightens {
		return 1
	}
	return 0
}

const (
	first  = iota // tightens, or only makes what others need
	later         // loosens, opens, or may need what loosens
	retire        // goes when nothing names it any more
)

func (c *Change) phase() int {
	switch {
	case c.record.Retired:
		return retire
	case c.Weakens, c.Kind == team, c.Kind == webhook:
		return later
	case c.Kind == project && !c.put && c.enables():
		return later
	case c.Kind == agent && (c.put || !c.stored.Admitted || c.stored.Retired):
		return later
	default:
		return first
	}
}

// Difference is one place in which a record differs.
type Difference = difference.Difference
