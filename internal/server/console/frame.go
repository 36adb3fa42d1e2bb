package console

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

// frame is a page with its surroundings.
type frame struct {
	*page
	*pageRequest
	Actor   control.Actor
	CSRF    string
	Theme   string
	Keys    bool // keyboard shortcuts are on
	Counts  counts
	Banners []banner
}

// Can reports whether to show the controls of an operation. The use case checks the
// permission again.
func (f frame) Can(op string) bool { return f.can(access.Operation(op)) }

// Unsaved reports a page that a form was answered with: it holds what was typed, and nothing
// of it is stored.
func (f frame) Unsaved() bool { return f.r.Method == http.MethodPost && !f.Alone }

func (f frame) Roles() string { return text.RoleWords(f.Actor.Roles) }

func (f frame) Ago(t time.Time) template.HTML { return f.ago(t) }

func (f frame) Since(t time.Time) template.HTML { return text.TimeTag(t, text.Span(f.now.Sub(t))) }

func (f frame) Until(t time.Time) template.HTML { return text.TimeTag(t, text.Span(t.Sub(f.now))) }

// Elsewhere is the identity provider's name, "" for none.
func (f frame) Elsewhere() string {
	if f.cfg.Verifier == nil {
		return ""
	}
	return f.cfg.Verifier.Host()
}

// HasPasskeys reports whether browsers allow passkeys here.
func (f frame) HasPasskeys() bool { return f.control.HasPasskeys() }

func (f frame) Here() string {
	if f.r.Method != http.MethodGet {
		return "/"
	}
	return local(f.r.URL.RequestURI()[len(Prefix):])
}

// Replaces is the revision that a form of the page replaces, for its hidden field: shown
// again, the form keeps the one that it began with, so that it can't overwrite unnoticed
// what somebody else has saved meanwhile.
func (f frame) Replaces(stored int64) int64 {
	return revisionReplaced(f.pageRequest, stored, f.conflict)
}

func (f frame) Retiring(kind, id string, retired bool) retiring {
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
type counts struct{ Approvals, Recovery, Active int }

func (v *pageRequest) frame(p *page) frame {
	f := frame{page: p, pageRequest: v, Actor: v.actor, Theme: themeOf(v), Keys: keysOn(v)}
	if v.signedIn() {
		var random [32]byte
		_, _ = rand.Read(random[:]) // never fails
		f.CSRF = access.MaskCSRF(access.CSRFToken(v.secret), random)
		if !p.Alone {
			f.Counts, f.Banners = countsOf(v), bannersOf(v)
		}
	}
	return f
}

// countsOf stay zero if they can't be read: the page itself reports the error.
func countsOf(v *pageRequest) counts {
	one := control.List{Limit: 1}
	ctx := v.r.Context()
	var c counts
	if n, err := v.control.CountApprovals(ctx, v.actor, control.ApprovalFilter{Status: string(countersign.ApprovalPending)}); err == nil {
		c.Approvals = n
	}
	for status, into := range map[countersign.RunStatus]*int{
		countersign.RunRecoveryRequired: &c.Recovery, countersign.RunRunning: &c.Active,
	} {
		if p, err := v.control.Runs(ctx, v.actor, one, control.RunFilter{Status: string(status)}); err == nil {
			*into = p.Total
		}
	}
	return c
}

// ago is a coarse age; a future time reads "in …".
func (v *pageRequest) ago(t time.Time) template.HTML {
	if t.IsZero() {
		return "never"
	}
	d := v.now.Sub(t)
	switch {
	case d < 0:
		return "in " + text.TimeTag(t, text.Span(-d))
	case d < time.Second:
		return text.TimeTag(t, "now")
	case d > 14*24*time.Hour:
		return text.TimeTag(t, t.UTC().Format("2 Jan 2006"))
	}
	return text.TimeTag(t, text.Span(d)+" ago")
}

// revisionReplaced is the revision that a form replaces when it is saved: the one that it
// was first shown with. After a conflict it is the stored one, which the page shows.
func revisionReplaced(v *pageRequest, stored int64, over bool) int64 {
	if v.r.Method == http.MethodPost && v.r.PostForm.Has("revision") && !over {
		return v.formRevision()
	}
	return stored
}
