package web

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/text"
)

// Frame is a page with its surroundings.
type Frame struct {
	*Page
	*Request
	Actor   control.Actor
	CSRF    string
	Theme   string
	Keys    bool // keyboard shortcuts are on
	Counts  counts
	Banners []banner
}

// Piece is a part of a page with what it shows.
type Piece struct {
	Frame
	Of any
}

// With is a part of the page that shows one thing.
func (f Frame) With(of any) Piece { return Piece{f, of} }

// Can reports whether to show the controls of an operation. The use case checks the
// permission again.
func (f Frame) Can(op string) bool { return f.Request.Can(access.Operation(op)) }

// Unsaved reports a page that a form was answered with: it holds what was typed, and nothing
// of it is stored.
func (f Frame) Unsaved() bool { return f.R.Method == http.MethodPost && !f.Alone }

// Path is the address of the page.
func (f Frame) Path() string {
	if f.R == nil || f.R.Method != http.MethodGet {
		return Prefix + "/desk"
	}
	return f.R.URL.RequestURI()
}

// Lives reports a page that keeps its counts by a stream.
func (f Frame) Lives() bool {
	return f.Page != nil && f.Page.Name != "error" && !f.Alone && f.signedIn() && f.Can(string(access.ReadEvents))
}

// Roles are the visitor's roles in words.
func (f Frame) Roles() string { return text.RoleWords(f.Actor.Roles) }

// Ago is a coarse age.
func (f Frame) Ago(t time.Time) template.HTML { return f.ago(t) }

// Since is the time that has passed.
func (f Frame) Since(t time.Time) template.HTML {
	return text.TimeTagAs("since", t, text.Span(f.Now.Sub(t)))
}

// Until is the time that is left.
func (f Frame) Until(t time.Time) template.HTML {
	return text.TimeTagAs("until", t, text.Span(t.Sub(f.Now)))
}

// At is a time of a day, which a script puts into the reader's zone.
func (f Frame) At(t time.Time) template.HTML {
	return text.TimeTagAs("at", t, t.UTC().Format("Mon 2 Jan, 15:04 UTC"))
}

// Elsewhere is the identity provider's name, "" for none.
func (f Frame) Elsewhere() string {
	if f.Config.Verifier == nil {
		return ""
	}
	return f.Config.Verifier.Host()
}

// ProviderAlone reports whether the identity provider alone begins sessions.
func (f Frame) ProviderAlone() bool { return f.Config.ProviderAlone }

// HasPasskeys reports whether browsers allow passkeys here.
func (f Frame) HasPasskeys() bool { return f.Control.HasPasskeys() }

// Here is the page to come back to.
func (f Frame) Here() string {
	if f.R.Method != http.MethodGet {
		return "/"
	}
	return Local(f.R.URL.RequestURI()[len(Prefix):])
}

// Replaces is the revision that a form of the page replaces, for its hidden field: shown
// again, the form keeps the one that it began with, so that it can't overwrite unnoticed
// what somebody else has saved meanwhile.
func (f Frame) Replaces(stored int64) int64 {
	return RevisionReplaced(f.Request, stored, f.conflict)
}

// Retiring is the part of a page that retires or restores its record.
func (f Frame) Retiring(kind, id string, retired bool) retiring {
	operation := kind + "s.retire"
	if retired {
		operation = kind + "s.restore"
	}
	return retiring{Kind: kind, ID: id, CSRF: f.CSRF, Retired: retired, May: f.Can(operation), Effect: retireEffects[kind]}
}

// retiring is the part of a page that retires or restores its record.
type retiring struct {
	Kind, ID, CSRF string
	Retired, May   bool
	Effect         string
}

var retireEffects = map[string]string{
	"model":   "No plans can be made from it, and earlier plans can’t run again.",
	"project": "It is disabled, and no plan or run can use it. It can’t be retired while an unfinished run uses it.",
	"agent":   "No new runs start, and unfinished runs stop before their next step. The agent’s processes are not stopped.",
	"team":    "No new runs start, and unfinished runs stop before their next step.",
}

// counts are the numbers beside the navigation.
type counts struct {
	countersign.WaitingCounts
	Active int
}

// Decide is how much waits for the visitor.
func (c counts) Decide() int { return c.Approvals + c.Recoveries + c.Changes }

func (r *Request) frame(p *Page) Frame {
	f := Frame{Page: p, Request: r, Actor: r.Actor, Theme: themeOf(r), Keys: keysOn(r)}
	if r.signedIn() {
		var random [32]byte
		_, _ = rand.Read(random[:]) // never fails
		f.CSRF = access.MaskCSRF(access.CSRFToken(r.Secret), random)
		if !p.Alone {
			f.Counts, f.Banners = countsOf(r), bannersOf(r)
		}
	}
	return f
}

// countsOf stay zero if they can't be read: the page itself reports the error.
func countsOf(v *Request) counts {
	c := counts{WaitingCounts: Waiting(v)}
	if p, err := v.Control.Runs(v.R.Context(), v.Actor, control.List{Limit: 1}, control.RunFilter{Status: string(countersign.RunRunning)}); err == nil {
		c.Active = p.Total
	}
	return c
}

// Waiting is what waits for the visitor: as the feed of their open pages knows it, else what is of
// a kind that they decide, in their reach.
func Waiting(v *Request) (n countersign.WaitingCounts) {
	if known := v.Control.WaitsNow(v.Actor); known != nil {
		return *known
	}
	ctx := v.R.Context()
	if v.Can(access.DecideApproval) {
		n.Approvals, _ = v.Control.CountApprovals(ctx, v.Actor, control.ApprovalFilter{Status: string(countersign.ApprovalPending)})
	}
	if v.Can(access.ReconcileRun) {
		if p, err := v.Control.Runs(ctx, v.Actor, control.List{Limit: 1}, control.RunFilter{Status: string(countersign.RunRecoveryRequired)}); err == nil {
			n.Recoveries = p.Total
		}
	}
	if v.Can(access.DecideChange) {
		n.Changes, _ = v.Control.WaitingChanges(ctx, v.Actor)
	}
	return n
}

// ago is a coarse age; a future time reads "in …".
func (r *Request) ago(t time.Time) template.HTML {
	if t.IsZero() {
		return "never"
	}
	d := r.Now.Sub(t)
	switch {
	case d < 0:
		return "in " + text.TimeTagAs("until", t, text.Span(-d))
	case d < time.Second:
		return text.TimeTagAs("ago", t, "now")
	case d > 14*24*time.Hour:
		return text.TimeTag(t, t.UTC().Format("2 Jan 2006"))
	}
	return text.TimeTagAs("ago", t, text.Span(d)+" ago")
}

// RevisionReplaced is the revision that a form replaces when it is saved: the one that it
// was first shown with. After a conflict it is the stored one, which the page shows.
func RevisionReplaced(v *Request, stored int64, over bool) int64 {
	if v.R.Method == http.MethodPost && v.R.PostForm.Has("revision") && !over {
		return v.FormRevision()
	}
	return stored
}
