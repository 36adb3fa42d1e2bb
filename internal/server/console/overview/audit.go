package overview

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

func auditRoutes() []web.Route {
	return []web.Route{
		{Method: "GET", Path: "/audit", Page: auditPage},
		{Method: "GET", Path: "/audit/verify", Page: auditVerifyPage},
		{Method: "GET", Path: "/audit/records/{seq}", Page: auditRecordPage},
	}
}

// auditLog says which log a page is about: the tenant's or the realm's.
type auditLog struct {
	Realm bool
	Logs  []web.Filter // empty if the visitor may read one log only
	Query string       // "?log=realm" for the realm's
}

func auditLogOf(v *web.Request) auditLog {
	l := auditLog{Realm: v.Query("log") == "realm"}
	if l.Realm {
		l.Query = "?log=realm"
	}
	if v.Can(access.ReadTenants) {
		l.Logs = []web.Filter{
			{Word: "Tenant " + v.Actor.Tenant, Href: web.Prefix + "/audit", Here: !l.Realm},
			{Word: "Realm", Href: web.Prefix + "/audit?log=realm", Here: l.Realm},
		}
	}
	return l
}

type auditData struct {
	auditLog
	Subject, Actor, Action, Since string
	SinceErr                      string
	Actors, Actions               []web.Option // what the log has
	Times                         []web.Filter
	Filtered                      bool
	Records                       []countersign.AuditRecord
	Export                        string // address that exports these records as JSON lines
	Pager                         web.Pager
}

func auditPage(v *web.Request) (*web.Page, error) {
	d := auditData{auditLog: auditLogOf(v), Subject: v.Query("subject"), Actor: v.Query("actor"), Action: v.Query("action"), Since: v.Query("since")}
	p := &web.Page{Name: "audit", Title: "Audit", Nav: "audit", Crumbs: []web.Crumb{{Word: "Audit"}}}
	f := audit.Filter{Subject: strings.TrimSpace(d.Subject), Actor: strings.TrimSpace(d.Actor), Action: strings.TrimSpace(d.Action)}
	since, ok := timeOf(d.Since)
	if !ok {
		d.SinceErr, p.Status = "Write it as 2026-03-01 or 2026-03-01 14:30, in UTC.", http.StatusBadRequest
		p.Data = d
		return p, mayReadAudit(v, d.Realm)
	}
	f.Since = since
	var err error
	if d.Actors, d.Actions, err = auditChoices(v, &d); err != nil {
		return nil, err
	}
	d.Times = auditTimes(v, d.Since)
	l := v.List()
	found, err := v.Control.Audit(v.R.Context(), v.Actor, l, f, d.Realm)
	if err != nil {
		return nil, err
	}
	d.Filtered, d.Export = f != (audit.Filter{}), exportHref(f, d.Realm)
	d.Records, d.Pager = control.Named(v.R.Context(), v.Control, v.Actor, found.Items), v.Pager(l, len(found.Items), found.Total, found.NextOffset)
	p.Data = d
	return p, nil
}

// auditChoices are the actors and actions of the log, with what is chosen now.
func auditChoices(v *web.Request, d *auditData) (actors, actions []web.Option, err error) {
	people, what, err := v.Control.AuditChoices(v.R.Context(), v.Actor, d.Realm)
	list := func(values []string, now string, word func(string) string) (out []web.Option) {
		for _, value := range values {
			out = append(out, web.Option{Value: value, Word: word(value), Here: value == now})
		}
		if now != "" && !slices.Contains(values, now) {
			out = append(out, web.Option{Value: now, Word: word(now), Here: true})
		}
		return out
	}
	return list(people, strings.TrimSpace(d.Actor), text.Who), list(what, strings.TrimSpace(d.Action), func(s string) string { return s }), err
}

// auditTimes are links to recent records.
func auditTimes(v *web.Request, now string) []web.Filter {
	out := []web.Filter{{Word: "Any time", Href: v.WithParam("since", ""), Here: now == ""}}
	for _, p := range runs.Periods {
		at := v.Now.Add(-p.Length).UTC().Format("2006-01-02 15:04")
		out = append(out, web.Filter{Word: p.Word, Href: v.WithParam("since", at), Here: now == at})
	}
	return out
}

// exportHref is the API's address that exports every record of the list.
func exportHref(f audit.Filter, realm bool) string {
	q := url.Values{}
	for name, v := range map[string]string{"subject": f.Subject, "actor": f.Actor, "action": f.Action} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if realm {
		q.Set("realm", "true")
	}
	if len(q) == 0 {
		return "/v1/audit/export"
	}
	return "/v1/audit/export?" + q.Encode()
}

// mayReadAudit checks the permission for a page that reads no record.
func mayReadAudit(v *web.Request, realm bool) error {
	if realm {
		if err := access.Allow(v.Actor.Principal, access.ReadTenants); err != nil {
			return err
		}
	}
	return access.Allow(v.Actor.Principal, access.ReadAudit)
}

// timeForms are the accepted time formats; without a zone, UTC applies.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"}

// timeOf parses a time; blank text is the zero time.
func timeOf(text string) (t time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return t, true
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return t, false
}

// places are the paths of the pages that show the subjects of records, by kind.
var places = map[string]string{
	"run": "/runs/", "approval": "/approvals/", "plan": "/plans/", "model": "/models/", "project": "/projects/",
	"agent": "/agents/", "team": "/teams/", "user": "/access/users/", "tenant": "/access/tenants/", "group": "/access/groups/", "webhook": "/access/webhooks/",
}

// subjectHref is the page of a record's subject, "" if there is none: tokens have no
// page. The page of a deleted subject answers 404.
func subjectHref(subject string) string {
	kind, id, _ := strings.Cut(subject, "/")
	if places[kind] == "" || id == "" || id == "*" { // * stands for several
		return ""
	}
	return web.Prefix + places[kind] + id
}

func auditOutcome(r countersign.AuditRecord) text.State {
	if r.Outcome == countersign.AuditDone {
		return text.State{Class: "is-ok", Icon: "s-completed", Word: "Done"}
	}
	return text.State{Class: "is-fail", Icon: "s-rejected", Word: "Refused"}
}

// refusedWith is the code of a refused action, and how often it was refused if the
// record stands for several.
func refusedWith(r countersign.AuditRecord) string {
	_, code, _ := strings.Cut(r.Outcome, ": ")
	switch {
	case r.Count == 1:
		code += ", once more"
	case r.Count > 1:
		code += fmt.Sprintf(", %d times more", r.Count)
	}
	return code
}

type auditRecordData struct {
	auditLog
	Record countersign.AuditRecord
	Newest bool
}

func (d auditRecordData) Before() int64 { return d.Record.Seq - 1 }

func (d auditRecordData) After() int64 { return d.Record.Seq + 1 }

func auditRecordPage(v *web.Request) (*web.Page, error) {
	d := auditRecordData{auditLog: auditLogOf(v)}
	seq, err := strconv.ParseInt(v.R.PathValue("seq"), 10, 64)
	if err != nil || seq < 0 {
		return nil, countersign.Errorf(countersign.CodeNotFound, "there is no such record")
	}
	if d.Record, err = v.Control.AuditRecord(v.R.Context(), v.Actor, seq, d.Realm); err != nil {
		return nil, err
	}
	_, err = v.Control.AuditRecord(v.R.Context(), v.Actor, seq+1, d.Realm)
	d.Newest = err != nil
	word := "Record " + strconv.FormatInt(seq, 10)
	return &web.Page{Name: "audit-record", Title: word, Nav: "audit", Crumbs: []web.Crumb{{Word: "Audit", Href: "/audit" + d.Query}, {Word: word}}, Data: d}, nil
}

type auditVerifyData struct {
	auditLog
	Result countersign.AuditVerification
	Broken *countersign.AuditRecord // the record at which verification failed, if it can be read
}

// auditVerifyPage verifies the log's hash chain. It changes nothing.
func auditVerifyPage(v *web.Request) (*web.Page, error) {
	d := auditVerifyData{auditLog: auditLogOf(v)}
	var err error
	if d.Result, err = v.Control.VerifyAudit(v.R.Context(), v.Actor, d.Realm); err != nil {
		return nil, err
	}
	if d.Result.FirstBroken != nil {
		if r, err := v.Control.AuditRecord(v.R.Context(), v.Actor, *d.Result.FirstBroken, d.Realm); err == nil {
			d.Broken = &r
		}
	}
	return &web.Page{Name: "audit-verify", Title: "Verify the log", Nav: "audit", Crumbs: []web.Crumb{{Word: "Audit", Href: "/audit" + d.Query}, {Word: "Verify"}}, Data: d}, nil
}
