package crash

import (
	"fmt"
	"strings"
	"time"
)

// auditLog is the part of the tenant's audit log that was read so far, in order.
type auditLog struct {
	records   []json
	intents   map[string][]json // step.send, by idempotency key
	reopened  map[string][]json // CONFIRMED_NOT_EXECUTED, by idempotency key
	judged    map[string]int    // every reconcile, by idempotency key
	evidence  map[string]int    // every reconcile, by its reason
	byRequest map[string][]json
}

func newAuditLog() *auditLog {
	return &auditLog{intents: map[string][]json{}, reopened: map[string][]json{}, judged: map[string]int{}, evidence: map[string]int{}, byRequest: map[string][]json{}}
}

// read reads the new records. It reads the last known record once more, since the log may only grow and its records must
// not change.
func (l *auditLog) read(b *bed) error {
	fresh, err := l.since(b)
	if err != nil {
		return err
	}
	for i := len(fresh) - 1; i >= 0; i-- {
		if err := l.add(fresh[i]); err != nil {
			return err
		}
	}
	return l.verify(b)
}

// since lists the records after the known ones, newest first.
func (l *auditLog) since(b *bed) (fresh []json, err error) {
	for {
		page := b.Admin.Get(fmt.Sprintf("/audit?limit=200&offset=%d", len(fresh))).OK(b.t)
		for _, r := range page.At("items").Items() {
			seq := r.At("seq").Int()
			if seq == len(l.records)-1 {
				if was := l.records[seq]; was.String() != r.String() {
					err = fmt.Errorf("A2: audit record %d was %s and is %s", seq, was, r)
				}
				return fresh, err
			}
			fresh = append(fresh, r)
		}
		if page.At("nextOffset").Int() == 0 {
			if len(l.records) > 0 {
				err = fmt.Errorf("A2: the audit log had %d records and lost the last of them", len(l.records))
			}
			return fresh, err
		}
	}
}

func (l *auditLog) add(r json) error {
	if seq := r.At("seq").Int(); seq != len(l.records) {
		return fmt.Errorf("A2: audit record %d stands at place %d", seq, len(l.records))
	}
	l.records = append(l.records, r)
	if id := r.At("requestId").Text(); id != "" {
		l.byRequest[id] = append(l.byRequest[id], r)
	}
	key := strings.TrimPrefix(r.At("subject").Text(), "run/") + "." + r.At("step").Text()
	switch action := r.At("action").Text(); {
	case r.At("outcome").Text() != "done":
	case action == "step.send":
		l.intents[key] = append(l.intents[key], r)
	case action == "runs.reconcile":
		l.judged[key]++
		l.evidence[r.At("reason").Text()]++
		if strings.HasPrefix(r.At("reason").Text(), "CONFIRMED_NOT_EXECUTED") {
			l.reopened[key] = append(l.reopened[key], r)
		}
	}
	return nil
}

// verify has the service verify the log, and compares its size with the records that were read.
func (l *auditLog) verify(b *bed) error {
	v := b.Admin.Get("/audit/verify").OK(b.t)
	if v.At("intact").String() != "true" || v.At("records").Int() != len(l.records) {
		return fmt.Errorf("A2: the audit log does not verify: %s; %d records were read", v, len(l.records))
	}
	return nil
}

// timeOf is the instant at a path of a record.
func timeOf(record json, path string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, record.At(path).Text()) // the zero time is before every time
	return at
}
