package control_test

import (
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/control"
)

// referenceRefusal is a minute in which refusals are counted.
type referenceRefusal struct {
	ends    time.Time
	count   int
	subject string
}

// fold reports a refusal that is counted and not recorded now.
func (b *referenceModel) fold(a control.Actor, action, subject, outcome string) bool {
	k := entry(a.ID, action, "", outcome)
	f, is := b.folds[k]
	if !is {
		b.folds[k] = &referenceRefusal{ends: time.Now().Add(time.Minute)}
		return false
	}
	switch {
	case f.count == 0 || f.subject == subject:
		f.subject = subject
	default:
		f.subject = "*"
	}
	f.count++
	return true
}

// ended are the records of the minutes that are over.
func (b *referenceModel) ended() (counted []string) {
	for k, f := range b.folds {
		if f.ends.After(time.Now()) {
			continue
		}
		if f.count > 0 {
			counted = append(counted, fmt.Sprintf("%s, %d times of %s", k, f.count, f.subject))
		}
		delete(b.folds, k)
	}
	slices.Sort(counted)
	return counted
}

// logged are the records of a log since the last look, those that count others apart.
func (w *world) logged(tenant string) (records, counted []string, all int) {
	synctest.Wait() // minutes that end now have ended
	list := w.log(tenant, w.logs[tenant])
	for _, r := range list {
		if r.Count == 0 {
			records = append(records, entry(r.Actor, r.Action, r.Subject, r.Outcome))
			continue
		}
		subject := r.Subject
		if subject[len(subject)-1] == '*' {
			subject = "*"
		}
		counted = append(counted, fmt.Sprintf("%s, %d times of %s", entry(r.Actor, r.Action, "", r.Outcome), r.Count, subject))
	}
	slices.Sort(counted)
	return records, counted, len(list)
}
