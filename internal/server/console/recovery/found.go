package recovery

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Recovery's comparison: the plan's expectation and the sent values beside what each
// later response says. For display only; it decides nothing.

// foundTable has one column per response.
type foundTable struct {
	Columns []string
	Rows    []foundRow
}

type foundRow struct {
	Field, Expected string
	AsSent          bool // a value of the request; the plan doesn't check it
	Cells           []foundCell
}

// Differs reports a row in which an answer isn't what was sent or expected.
func (r foundRow) Differs() bool {
	return slices.ContainsFunc(r.Cells, func(c foundCell) bool { return c.Known && !c.Met })
}

// foundCell is the value in one response; it isn't Known if the response lacks it or it
// is masked.
type foundCell struct {
	Column, Text string
	Known, Met   bool
}

const (
	foundProbes = 2 // the latest ones
	foundSent   = 8 // fields of the request that are as sent
)

const (
	lateColumn  = "Late answer" // the title of the column of the late answer
	statusField = "HTTP status"
)

// met reports whether a response has all that is expected, and something is, and nothing of
// the request with another value. Its HTTP status counts where the response says one.
func (t foundTable) met(column int) bool {
	expected := false
	for _, row := range t.Rows {
		cell := row.Cells[column]
		switch {
		case cell.Known && !cell.Met:
			return false
		case row.AsSent, row.Field == statusField && cell.Text == "":
		case !cell.Known:
			return false
		default:
			expected = true
		}
	}
	return expected
}

type foundAnswer struct {
	name        string
	body        countersign.Value
	outputField string
	status      int
}

// foundIn compares a step's expectations with the responses.
func foundIn(s *countersign.StepRun, es []countersign.Expectation, c *countersign.Capability) foundTable {
	answers := answersOf(s, c)
	var t foundTable
	for _, a := range answers {
		t.Columns = append(t.Columns, a.name)
	}
	for i := range es {
		t.Rows = append(t.Rows, expectedRow(&es[i], answers))
		if es[i].StatusCode != 0 {
			t.Rows = append(t.Rows, statusRow(&es[i], answers))
		}
	}
	t = t.withSent(s, es, answers)
	slices.SortStableFunc(t.Rows, func(a, b foundRow) int { return cmp.Compare(differsFirst[a.Differs()], differsFirst[b.Differs()]) })
	return t
}

// differsFirst orders the rows of the comparison.
var differsFirst = map[bool]int{false: 1}

func answersOf(s *countersign.StepRun, c *countersign.Capability) []foundAnswer {
	var out []foundAnswer
	if s.Late != nil && !s.Late.Output.IsZero() {
		late := foundAnswer{name: lateColumn, body: s.Late.Output}
		if c != nil {
			late.outputField = c.OutputField
		}
		if s.Late.Response != nil {
			late.status = s.Late.Response.StatusCode
		}
		out = append(out, late)
	}
	for i := max(0, len(s.Probes)-foundProbes); i < len(s.Probes); i++ {
		if p := &s.Probes[i]; !p.Output.IsZero() {
			out = append(out, foundAnswer{name: "Probe " + strconv.Itoa(p.N), body: p.Output})
		}
	}
	return out
}

func expectedRow(e *countersign.Expectation, answers []foundAnswer) foundRow {
	row := foundRow{Field: e.Field, Expected: drawn.Clip(text.Inline(e.Equals))}
	for _, a := range answers {
		row.Cells = append(row.Cells, cellOf(a, e.Field, e.Equals))
	}
	return row
}

func cellOf(a foundAnswer, field string, expected countersign.Value) foundCell {
	cell := foundCell{Column: a.name}
	if v, ok := control.Found(a.body, a.outputField, field); ok {
		masked := strings.Contains(v.Raw(), drawn.HiddenText) || strings.Contains(expected.Raw(), drawn.HiddenText)
		cell.Text, cell.Known, cell.Met = drawn.Clip(text.Inline(v)), !masked, v.Equal(expected)
	}
	return cell
}

// statusRow is filled for the late response only: a probe's status says nothing of the
// step.
func statusRow(e *countersign.Expectation, answers []foundAnswer) foundRow {
	row := foundRow{Field: statusField, Expected: strconv.FormatInt(e.StatusCode, 10)}
	for _, a := range answers {
		cell := foundCell{Column: a.name}
		if a.status != 0 {
			cell.Text, cell.Known, cell.Met = strconv.Itoa(a.status), true, int64(a.status) == e.StatusCode
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// withSent adds the fields of the request that a response repeats by name.
func (t foundTable) withSent(s *countersign.StepRun, es []countersign.Expectation, answers []foundAnswer) foundTable {
	names := inputNames(s.Input)
	for _, name := range names {
		expected := slices.ContainsFunc(es, func(e countersign.Expectation) bool { return e.Field == name })
		if expected {
			continue
		}
		row, said, differs := foundRow{Field: name, Expected: drawn.Clip(text.Inline(s.Input[name])), AsSent: true}, false, false
		for _, a := range answers {
			cell := cellOf(a, name, s.Input[name])
			said, differs = said || cell.Text != "", differs || cell.Known && !cell.Met
			row.Cells = append(row.Cells, cell)
		}
		if differs || said && s.Input[name].IsScalar() && len(t.Rows) <= foundSent {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
