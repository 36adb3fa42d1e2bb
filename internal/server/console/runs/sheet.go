package runs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The evidence sheet: what is known of one effect, on one page that can be printed, with the
// receipt in it, which the reader's own browser verifies. What it shows is the service's; what proves
// it is the receipt.

// receiptShown is what a sheet reads of a receipt.
type receiptShown struct {
	Sections struct {
		Approvals []countersign.Approval `json:"approvals"`
		Audit     struct {
			Cosigned *struct {
				Checkpoint string `json:"checkpoint"`
			} `json:"cosigned"`
			Head struct {
				Root string `json:"root"`
				Size int64  `json:"size"`
			} `json:"head"`
			LeftOut int `json:"leftOut"`
			Records []struct {
				Text  string   `json:"text"`
				Proof []string `json:"proof"`
			} `json:"records"`
		} `json:"audit"`
		Run       countersign.Run `json:"run"`
		Statement struct {
			Masked   bool `json:"masked"`
			Redacted bool `json:"redacted"`
		} `json:"statement"`
	} `json:"sections"`
	Signature struct {
		PublicKey string `json:"publicKey"`
	} `json:"signature"`
}

// place is the record of a step's, the last of some actions.
func (r *receiptShown) record(step string, actions ...string) (found *proven) {
	for _, one := range r.Sections.Audit.Records {
		var rec countersign.AuditRecord
		if json.Unmarshal([]byte(one.Text), &rec) != nil || rec.Outcome != countersign.AuditDone || rec.Step != step || !slices.Contains(actions, rec.Action) {
			continue
		}
		found = &proven{Record: rec, tree: treeOf(one.Text, rec.Seq, r.Sections.Audit.Head.Size, one.Proof)}
	}
	return found
}

// proven is a record of the log with its path to the signed root.
type proven struct {
	Record countersign.AuditRecord
	tree
	N int // among those on the sheet
}

// station is one of the six places of an effect's way.
type station struct {
	N     int
	Title string
	At    time.Time
	Proof *proven
	Lines []string // each a sentence, escaped by the template
	Quote string   // in somebody's own words
	Who   string
	Key   string // what a key signs, behind a lock
	Bytes *wire
	Table []drawn.Judged
	Bad   bool
	Good  bool
}

// wire is what went over the wire, or came: its head, and its body whole.
type wire struct {
	Head, Body, Note string
}

// mostShown is how many bytes of a body stand on a sheet; of a longer one the first and last of them.
const mostShown, eachEnd = 4096, 512

func bodyShown(body string) (shown, note string) {
	if len(body) <= mostShown {
		return body, ""
	}
	return strings.ToValidUTF8(body[:eachEnd], "") + "\n…\n" + strings.ToValidUTF8(body[len(body)-eachEnd:], ""), "The first and last " + strconv.Itoa(eachEnd) + " bytes; the receipt has all."
}

type sheetData struct {
	Run      countersign.Run
	Step     *countersign.StepRun
	N, Of    int // of the run's effects
	Sentence string
	Stamp    stamp
	Facts    [][2]string
	Stations []station
	Proofs   []*proven
	Strip    *strip

	File     string // the receipt, compressed, in base64
	Size     int64  // of the log
	Key      string
	LeftOut  int
	Masked   bool
	Redacted bool
	Signed   bool // by the API
	Passkeys int
	Cosigned bool
	Epoch    string // of the log, "" for the first
	Command  string
}

func sheetPage(v *web.Request) (*web.Page, error) {
	id := v.R.PathValue("id")
	run, err := v.Control.Run(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(run.Steps, func(s countersign.StepRun) bool { return s.ID == v.R.PathValue("step") })
	if at < 0 {
		return nil, countersign.Errorf(countersign.CodeNotFound, "run %s has no step %s", id, v.R.PathValue("step"))
	}
	file, err := v.Control.Receipt(v.R.Context(), v.Actor, id)
	if err != nil {
		return nil, err
	}
	var r receiptShown
	if err := json.Unmarshal(file, &r); err != nil {
		return nil, err
	}
	d, err := sheetOf(run, at, &r, file)
	if err != nil {
		return nil, err
	}
	crumbs := web.CrumbsBelow("Runs", "/runs", id, web.Crumb{Word: "Evidence sheet"})
	return &web.Page{Name: "sheet", Title: "Evidence sheet: " + run.Steps[at].Name, Nav: "runs", Crumbs: crumbs, Data: d}, nil
}

func sheetOf(run countersign.Run, at int, r *receiptShown, file []byte) (d sheetData, err error) {
	s := &run.Steps[at]
	d = sheetData{Run: run, Step: s, Stamp: stampOf(&run, s), Size: r.Sections.Audit.Head.Size, Key: r.Signature.PublicKey, LeftOut: r.Sections.Audit.LeftOut, Masked: r.Sections.Statement.Masked, Redacted: r.Sections.Statement.Redacted, Signed: s.AnsweredBy != nil || s.SettledBy != nil}
	for i := range run.Steps {
		if run.Steps[i].SideEffect {
			if d.Of++; i == at {
				d.N = d.Of
			}
		}
	}
	if c := r.Sections.Audit.Cosigned; c != nil {
		origin, _, _ := strings.Cut(c.Checkpoint, "\n")
		d.Cosigned = true
		if parts := strings.Split(origin, "/"); len(parts) == 4 {
			d.Epoch = parts[3]
		}
	}
	approvals := approvalsOf(r, s.ID)
	for _, a := range approvals {
		for _, given := range a.Decisions {
			if given.Assertion != nil {
				d.Passkeys++
			}
		}
	}
	var last *countersign.Approval
	if len(approvals) > 0 {
		last = &approvals[len(approvals)-1]
	}
	d.Sentence = sentenceOf(&run, s, last)
	d.Facts = factsOf(&run, s, last)
	d.Stations = stationsOf(&run, s, r, last)
	for i := range d.Stations {
		d.Stations[i].N = i + 1
		if p := d.Stations[i].Proof; p != nil {
			p.N = len(d.Proofs)
			d.Proofs = append(d.Proofs, p)
		}
	}
	d.Strip = stripOf(s, last)
	d.Command = "countersign receipt verify " + run.ID + ".receipt.json --key " + d.Key
	d.File, err = packed(file)
	return d, err
}

func approvalsOf(r *receiptShown, step string) (out []countersign.Approval) {
	for _, a := range r.Sections.Approvals {
		if a.StepID == step {
			out = append(out, a)
		}
	}
	return out
}

// packed is a file in a form that stands in a page; the reader's browser opens it.
func packed(file []byte) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(file); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// sentenceOf says when, what, to whom and how often.
func sentenceOf(run *countersign.Run, s *countersign.StepRun, a *countersign.Approval) string {
	what := s.Capability
	if a != nil && a.Title != "" {
		what = "“" + a.Title + "”"
	}
	to := hostOf(s)
	when := func(t time.Time) string {
		return "On " + t.UTC().Format("Monday 2 January 2006") + ", at " + t.UTC().Format("15:04:05") + " UTC, Countersign "
	}
	switch {
	case run.Mode != countersign.ModeLive:
		return "Countersign rehearsed " + what + " to " + to + ". Nothing was sent."
	case s.Attempt == 0:
		return when(cmp.Or(s.CompletedAt, run.CompletedAt)) + "ended " + what + " without sending anything to " + to + "."
	case s.Attempt == 1:
		return when(s.StartedAt) + "sent " + what + " to " + to + ", once."
	}
	return when(s.StartedAt) + "sent " + what + " to " + to + " for the last time, of " + strconv.Itoa(s.Attempt) + " times under one key."
}

func hostOf(s *countersign.StepRun) string {
	if s.Request == nil {
		return s.ProjectID
	}
	u, err := url.Parse(s.Request.URL)
	if err != nil {
		return s.ProjectID
	}
	return u.Host
}

func factsOf(run *countersign.Run, s *countersign.StepRun, a *countersign.Approval) [][2]string {
	to, sent := "–", text.Plural(s.Attempt, "time", "times")+", under one key"
	if s.Request != nil {
		to = s.Request.Method + " " + s.Request.URL
	}
	if s.Attempt == 0 {
		sent = "never"
	}
	by := "nobody was asked"
	if a != nil && a.DecidedBy != "" {
		by = text.Called(a.DecidedBy, a.DecidedByName)
	}
	return [][2]string{{"To", to}, {"Sent", sent}, {"Decided by", by}, {"Run", run.ID}}
}
