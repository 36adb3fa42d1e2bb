package runrepo

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ListedStep is a step as lists show it: without request, response and output, and those of
// its probes (contract 1).
func ListedStep(s countersign.StepRun) countersign.StepRun {
	s.Request, s.Response, s.Output = nil, nil, countersign.Value{}
	s.Probes = slices.DeleteFunc(slices.Clone(s.Probes), func(p countersign.ProbeRecord) bool { return !WasRead(p) })
	for i := range s.Probes {
		s.Probes[i] = Listed(s.Probes[i])
	}
	s.Looks = slices.Clone(s.Looks)
	for i := range s.Looks {
		s.Looks[i].Values = nil
	}
	s.Settlements = slices.Clone(s.Settlements)
	for i := range s.Settlements {
		s.Settlements[i].Output, s.Settlements[i].Text, s.Settlements[i].Signed = countersign.Value{}, "", nil
	}
	return s
}

// stepOfList reads a step's record without what lists leave out, which may be most of it.
type stepOfList struct {
	countersign.StepRun
	Request  unread `json:"request"`
	Response unread `json:"response"`
	Output   unread `json:"output"`
}

// unread skips a member of a record.
type unread struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (*unread) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

func decodeListed(row store.Row) (countersign.StepRun, error) {
	var s stepOfList
	err := records.Decode(row, &s)
	return ListedStep(s.StepRun), err
}

// Bounds of ListedSteps: rows in a query, bytes of a query's rows after which it reads no more,
// and bytes of all that it reads.
const (
	mostStepsAtOnce = 64
	largeSteps      = 64 << 10
	mostListed      = 4 << 20
)

// ListedSteps reads the steps of runs as lists show them, of many runs in a query: the runs of a
// page were mostly made one after the other, so their steps are too. It leaves out runs that
// other runs stand between, and what follows on large steps, which EachStep reads run by run.
// The runs must have no probes in records of their own.
func ListedSteps(tx store.Tx, tenant string, runIDs []string) (map[string][]countersign.StepRun, error) {
	l := &listedSteps{known: map[string][]countersign.StepRun{}, left: slices.Clone(runIDs)}
	slices.SortFunc(l.left, compareRuns)
	budget := mostListed
	for atOnce := stepsAtOnce; len(l.left) > 0; atOnce = min(2*atOnce, mostStepsAtOnce) {
		rows, err := tx.List(store.Steps, tenant, l.next(atOnce))
		if err != nil {
			return nil, err
		}
		wanted, size, err := l.add(rows)
		if err != nil {
			return nil, err
		}
		if len(rows) < atOnce {
			l.passAll()
			break
		}
		if budget -= size; budget < 0 || size > largeSteps || 2*wanted < len(rows) {
			delete(l.known, l.left[0]) // perhaps not all of its steps were read
			break
		}
	}
	return l.known, nil
}

// compareRuns orders the ids of runs as their steps are.
func compareRuns(a, b string) int {
	firstOfA, _ := records.StepIDs(a)
	firstOfB, _ := records.StepIDs(b)
	return strings.Compare(firstOfA, firstOfB)
}

// listedSteps are those of runs that were read so far.
type listedSteps struct {
	known map[string][]countersign.StepRun
	left  []string // runs whose steps were not all read, in the order of compareRuns
	step  int      // the first step of left[0] that wasn't read
}

// next asks for the steps that follow, and for all that stands between them.
func (l *listedSteps) next(atOnce int) store.Query {
	_, last := records.StepIDs(l.left[len(l.left)-1])
	return store.Query{Limit: atOnce, Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{records.StepID(l.left[0], l.step)}}, {Column: "id", Op: store.AtMost, Values: []any{last}},
	}}
}

// add takes the steps of the runs from rows, and says how many these were and how large all
// rows are.
func (l *listedSteps) add(rows []store.Row) (wanted, size int, err error) {
	for _, row := range rows {
		size += len(row.Doc)
		runID, index := row.Keys[0].(string), int(row.Keys[1].(int64))
		for len(l.left) > 0 && compareRuns(l.left[0], runID) < 0 {
			l.pass()
		}
		if len(l.left) == 0 || l.left[0] != runID || records.IsProbe(index) {
			continue
		}
		step, err := decodeListed(row)
		if err != nil {
			return wanted, size, err
		}
		l.known[runID], l.step = append(l.known[runID], step), index+1
		wanted++
	}
	return wanted, size, nil
}

// pass notes that the first run that is left has no more steps.
func (l *listedSteps) pass() {
	if l.known[l.left[0]] == nil {
		l.known[l.left[0]] = []countersign.StepRun{}
	}
	l.left, l.step = l.left[1:], 0
}

func (l *listedSteps) passAll() {
	for len(l.left) > 0 {
		l.pass()
	}
}
