package recovery

import (
	"cmp"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/approvals"
	"github.com/countersign/countersign/internal/server/console/desk"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Facts are whose word there is, why it is open, who asked and who approved.
func (d *Data) Facts() []approvals.Fact {
	word := approvals.Fact{Word: "The API’s own word", Says: "None", More: cmp.Or(d.Project, d.Step.ProjectID) + " has no settlement"}
	if d.Settles {
		word.More = "it has not said anything yet"
	}
	if len(d.Statements) > 0 {
		word.Says, word.More = text.Titled(d.Statements[0].State), "statement "+strconv.FormatInt(d.Statements[0].N, 10)
		if !d.Statements[0].Valid {
			word.Says = "Not its word"
		}
	}
	open := approvals.Fact{Word: "Why it is open", Says: "It was recorded"}
	if d.Open && d.Step.Error != nil {
		open.Says, open.More = text.Upper(text.InWords(d.Step.Error.Message)), string(d.Step.Error.Code)
	}
	asked := approvals.Fact{Word: "Asked by", Says: desk.Name(d.Run.RequestedBy, d.Run.RequestedByName)}
	approved := approvals.Fact{Word: "Approved by", Says: "Nobody was asked"}
	for _, f := range d.Known {
		if f.Icon == "i-user" && f.By != "" {
			approved.Says, approved.More = f.By, f.Quote
		}
	}
	return []approvals.Fact{word, open, asked, approved}
}

// Put is the form that puts it off.
func (d *Data) Put() desk.Later {
	return desk.Later{Desk: d.Desk, Kind: desk.Recovery, ID: d.Run.ID, Later: d.Later}
}

// Against is where the newest answer contradicts what was sent: the page says so before anything
// is chosen.
func (d *Data) Against() contradiction {
	fields := desk.DiffersIn(d.Step, d.Resolve.OutputField)
	if !d.Open || len(fields) == 0 {
		return contradiction{}
	}
	newest := d.Step.Late
	body := countersign.Value{}
	if newest != nil {
		body = newest.Output
	}
	if n := len(d.Step.Probes); n > 0 && !d.Step.Probes[n-1].Output.IsZero() {
		body = d.Step.Probes[n-1].Output
	}
	return d.contradictionOf(body)
}

// Whose says whose word the newest answer is, and what it can't say.
func (d *Data) Whose() string {
	switch n := len(d.Step.Probes); {
	case !d.Open || n == 0:
		return ""
	default:
		return "Probe " + strconv.Itoa(d.Step.Probes[n-1].N) + " read by what it was asked for, not by the key: it may show another call."
	}
}
