package mcp

import (
	"strconv"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// waitSeconds is the argument that says how long a call waits for its run.
const waitSeconds = "waitSeconds"

const waitWords = "How long this call waits for the end of its run, also while a person decides: 0 to 50 seconds. It is no part of what calls are compared by."

func waitSchema(description string) schema {
	return schema{Type: "integer", Description: description, Minimum: countersign.RawValue("0"), Maximum: countersign.RawValue(strconv.Itoa(int(countersign.MaxCallWait / time.Second)))}
}

// patience is how long a call waits; asUsual where it doesn't say.
type patience time.Duration

const asUsual patience = -1

func patienceOf(v countersign.Value) (patience, error) {
	n, err := strconv.ParseFloat(v.Raw(), 64)
	most := int(countersign.MaxCallWait / time.Second)
	if v.Kind() != countersign.KindNumber || err != nil || n != float64(int(n)) || n < 0 || int(n) > most {
		return 0, countersign.Errorf(countersign.CodeInvalidRequest, "%s: it must be a whole number from 0 to %d", waitSeconds, most)
	}
	return patience(time.Duration(n) * time.Second), nil
}

// or is the patience where the call says none.
func (p patience) or(usual time.Duration) time.Duration {
	if p == asUsual {
		return usual
	}
	return time.Duration(p)
}

// waits counts the calls that wait, each of which holds a connection. The zero value is ready.
type waits struct {
	mu  sync.Mutex
	all int
	by  map[waitKey]int
}

type waitKey struct{ tenant, principal string }

// begin counts one more; false if it must answer at once.
func (w *waits) begin(a control.Actor) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := waitKey{a.Tenant, a.ID}
	if w.all >= countersign.MaxCallWaitsOfAll || w.by[k] >= countersign.MaxCallWaits {
		return false
	}
	if w.by == nil {
		w.by = map[waitKey]int{}
	}
	w.all++
	w.by[k]++
	return true
}

func (w *waits) end(a control.Actor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := waitKey{a.Tenant, a.ID}
	w.all--
	if w.by[k]--; w.by[k] == 0 {
		delete(w.by, k)
	}
}
