package console

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
	"github.com/countersign/countersign/internal/server/console/text"
)

func auditRoutes() []route {
	return []route{
		{method: "GET", path: "/audit", page: auditPage},
		{method: "GET", path: "/audit/verify", page: auditVerifyPage},
		{method: "GET", path: "/audit/records/{seq}", page: auditRecordPage},
	}
}

// auditLog says which log a page is about: the tenant's or the realm's.
type auditLog struct {
	Realm bool
	Logs  []filter // empty if the visitor may read one log only
	Query string   // "?log=realm" for the realm's
}

func auditLogOf(v *pageRequest) auditLog {
	l := auditLog{Realm: v.query("log") == "realm"}
	if l.Realm {
		l.Query = "?log=realm"
	}
	if v.can(access.ReadTenants) {
		l.Logs = []filter{
			{Word: "Tenant " + v.actor.Tenant, Href: Prefix + "/audit", Here: !l.Realm},
			{Word: "Realm", Href: Prefix + "/audit?log=realm", Here: l.Realm},
		}
	}
	return l
}

type auditData struct {
	auditLog
	Subject, Actor, Action, Since string
	SinceErr                      string
	Actors, Actions               []option // what the log has
	Times                         []filter
	Filtered                      bool
	Records                       []countersign.AuditRecord
	Export                        string // address that exports these records as JSON lines
	Pager                         pager
}

func auditPage(v *pageRequest) (*page, error) {
	d := auditData{auditLog: auditLogOf(v), Subject: v.query("subject"), Actor: v.query("actor"), Action: v.query("action"), Since: v.query("since")}
	p := &page{name: "audit", Title: "Audit", Nav: "audit", Crumbs: []crumb{{Word: "Audit"}}}
	f := audit.Filter{Subject: strings.TrimSpace(d.Subject), Actor: strings.TrimSpace(d.Actor), Action: strings.TrimSpace(d.Action)}
	since, ok := timeOf(d.Since)
	if !ok {
		d.SinceErr, p.status = "Write it as 2026-03-01 or 2026-03-01 14:30, in UTC.", http.StatusBadRequest
		p.Data = d
		return p, mayReadAudit(v, d.Realm)
	}
	f.Since = since
	var err error
	if d.Actors, d.Actions, err = auditChoices(v, &d); err != nil {
		return nil, err
	}
	d.Times = auditTimes(v, d.Since)
	l := v.list()
	found, err := v.control.Audit(v.r.Context(), v.actor, l, f, d.Realm)
	if err != nil {
		return nil, err
	}
	d.Filtered, d.Export = f != (audit.Filter{}), exportHref(f, d.Realm)
	d.Records, d.Pager = control.Named(v.r.Context(), v.control, v.actor, found.Items), v.pager(l, len(found.Items), found.Total, found.NextOffset)
	p.Data = d
	return p, nil
}

// auditChoices are the actors and actions of the log, with what is chosen now.
func auditChoices(v *pageRequest, d *auditData) (actors, actions []option, err error) {
	people, what, err := v.control.AuditChoices(v.r.Context(), v.actor, d.Realm)
	list := func(values []string, now string, word func(string) string) (out []option) {
		for _, value := range values {
			out = append(out, option{value, word(value), value == now})
		}
		if now != "" && !slices.Contains(values, now) {
			out = append(out, option{now, word(now), true})
		}
		return out
	}
	return list(people, strings.TrimSpace(d.Actor), text.Who), list(what, strings.TrimSpace(d.Action), func(s string) string { return s }), err
}

// auditTimes are links to recent records.
func auditTimes(v *pageRequest, now string) []filter {
	out := []filter{{Word: "Any time", Href: v.withParam("since", ""), Here: now == ""}}
	for _, p := range periods {
		at := v.now.Add(-p.Length).UTC().Format("2006-01-02 15:04")
		out = append(out, filter{Word: p.Word, Href: v.withParam("since", at), Here: now == at})
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
func mayReadAudit(v *pageRequest, realm bool) error {
	if realm {
		if err := access.Allow(v.actor.Principal, access.ReadTenants); err != nil {
			return err
		}
	}
	return access.Allow(v.actor.Principal, access.ReadAudit)
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
	return Prefix + places[kind] + id
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

func auditRecordPage(v *pageRequest) (*page, error) {
	d := auditRecordData{auditLog: auditLogOf(v)}
	seq, err := strconv.ParseInt(v.r.PathValue("seq"), 10, 64)
	if err != nil || seq < 0 {
		return nil, countersign.Errorf(countersign.CodeNotFound, "there is no such record")
	}
	if d.Record, err = v.control.AuditRecord(v.r.Context(), v.actor, seq, d.Realm); err != nil {
		return nil, err
	}
	_, err = v.control.AuditRecord(v.r.Context(), v.actor, seq+1, d.Realm)
	d.Newest = err != nil
	word := "Record " + strconv.FormatInt(seq, 10)
	return &page{name: "audit-record", Title: word, Nav: "audit", Crumbs: []crumb{{Word: "Audit", Href: "/audit" + d.Query}, {Word: word}}, Data: d}, nil
}

type auditVerifyData struct {
	auditLog
	Result countersign.AuditVerification
	Broken *countersign.AuditRecord // the record at which verification failed, if it can be read
}

// auditVerifyPage verifies the log's hash chain. It changes nothing.
func auditVerifyPage(v *pageRequest) (*page, error) {
	d := auditVerifyData{auditLog: auditLogOf(v)}
	var err error
	if d.Result, err = v.control.VerifyAudit(v.r.Context(), v.actor, d.Realm); err != nil {
		return nil, err
	}
	if d.Result.FirstBroken != nil {
		if r, err := v.control.AuditRecord(v.r.Context(), v.actor, *d.Result.FirstBroken, d.Realm); err == nil {
			d.Broken = &r
		}
	}
	return &page{name: "audit-verify", Title: "Verify the log", Nav: "audit", Crumbs: []crumb{{Word: "Audit", Href: "/audit" + d.Query}, {Word: "Verify"}}, Data: d}, nil
}
