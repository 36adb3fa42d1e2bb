package countersign_test

import (
	"reflect"
	"testing"

	"github.com/countersign/countersign"
)

// written are the records that a PUT stores, each with its body, and what the body has beside the record's content.
var written = []struct {
	record, body reflect.Type
	own          map[string]bool // members of the body that say how to store it, or by another type what the record says
}{
	{reflect.TypeFor[countersign.Project](), reflect.TypeFor[countersign.ProjectWrite](), map[string]bool{"ExpectedRevision": true, "Enabled": true}},
	{reflect.TypeFor[countersign.Team](), reflect.TypeFor[countersign.TeamWrite](), map[string]bool{"ExpectedRevision": true}},
	{reflect.TypeFor[countersign.Group](), reflect.TypeFor[countersign.GroupWrite](), map[string]bool{"ExpectedRevision": true}},
	{reflect.TypeFor[countersign.Webhook](), reflect.TypeFor[countersign.WebhookWrite](), map[string]bool{"ExpectedRevision": true, "Enabled": true}},
	{reflect.TypeFor[countersign.Tenant](), reflect.TypeFor[countersign.TenantWrite](), map[string]bool{"ExpectedRevision": true}},
}

// TestABodyHasOrIgnoresEachMemberOfItsRecord: what is read can be sent back, so a body takes each member of its record, as
// content or ignored; and what it takes as content is stored.
func TestABodyHasOrIgnoresEachMemberOfItsRecord(t *testing.T) {
	ignored := reflect.TypeFor[countersign.Value]()
	for _, w := range written {
		for i := range w.record.NumField() {
			member := w.record.Field(i)
			in, has := w.body.FieldByName(member.Name)
			switch {
			case !has:
				t.Errorf("%s has no %s, which %s has", w.body, member.Name, w.record)
			case in.Tag.Get("doc") == "ignored" && in.Type != ignored, in.Tag.Get("doc") != "ignored" && in.Type != member.Type && !w.own[member.Name]:
				t.Errorf("%s.%s is a %s and that of %s a %s: it is neither ignored nor content", w.body, member.Name, in.Type, w.record, member.Type)
			}
		}
		for i := range w.body.NumField() {
			member := w.body.Field(i)
			if _, has := w.record.FieldByName(member.Name); !has && !w.own[member.Name] {
				t.Errorf("%s.%s is accepted and kept nowhere: %s has no such member", w.body, member.Name, w.record)
			}
		}
	}
}

// TestAnAddedMemberOfBothIsCopied: and what only one has, or the server sets, is left as it is.
func TestAnAddedMemberOfBothIsCopied(t *testing.T) {
	type record struct {
		ID     string
		Name   string
		Added  []string
		Health *countersign.HealthCheck
		Switch bool
	}
	type body struct {
		Name     string
		Added    []string
		ID       countersign.Value
		Switch   *bool
		Expected int64
	}
	on := true
	r := record{ID: "kept", Health: &countersign.HealthCheck{}, Switch: false}
	countersign.CopyContent(&r, body{Name: "n", Added: []string{"a"}, ID: countersign.String("sent"), Switch: &on, Expected: 3})
	if r.ID != "kept" || r.Name != "n" || len(r.Added) != 1 || r.Health == nil || r.Switch {
		t.Errorf("%+v", r)
	}
	var w body
	countersign.CopyContent(&w, &r)
	if w.Name != "n" || len(w.Added) != 1 || w.Expected != 0 || !w.ID.IsZero() {
		t.Errorf("%+v", w)
	}
}
