package test

import (
	"regexp"
	"strings"
	"testing"
)

func TestTheAuditPageFiltersAndShowsEachRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	w.tenantAdmin.Put("/users/ben@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.operator.Put("/users/eve@example.com", doc{"roles": []string{"ADMIN"}}).Refused(t, "role_required")
	shows(t, "all", ada.Open("/audit"), 200, "users.write", "user/ben@example.com", "projects.write")
	found := ada.Open("/audit?action=users.write&subject=user/ben@example.com")
	shows(t, "filtered", found, 200, "[VIEWER]")
	_, listed, _ := strings.Cut(found.Text, "<table") // above it stand the choices, which are of all records
	if strings.Contains(listed, "projects.write") || strings.Contains(listed, "eve@example.com") {
		t.Error("the filter lets others through")
	}
	shows(t, "refused", ada.Open("/audit?action=users.write"), 200, "Refused", "role_required")
	shows(t, "nothing", ada.Open("/audit?actor=user:nobody@example.com"), 200, "Nothing matches.")
	shows(t, "in the future", ada.Open("/audit?since=2990-01-01"), 200, "Nothing matches.")
	shows(t, "since long ago", ada.Open("/audit?since=2020-01-01+10:30"), 200, "users.write")
	shows(t, "no time", ada.Open("/audit?since=yesterday"), 400, "in UTC", `value="yesterday"`)
	record := regexp.MustCompile(`/console(/audit/records/\d+)"`).FindStringSubmatch(found.Text)
	item := w.Admin.Get("/audit?subject=user/ben@example.com").OK(t).At("items").Items()[0]
	shows(t, "the record", ada.Open(record[1]), 200, item.At("hash").Text(), item.At("requestId").Text(), item.At("actor").Text())
	shows(t, "a record that is not there", ada.Open("/audit/records/999999"), 404)
	shows(t, "a record that is none", ada.Open("/audit/records/x"), 404)
}

func TestTheAuditPageVerifiesTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	head := w.Admin.Get("/audit/verify").OK(t)
	p := ada.Open("/audit/verify")
	shows(t, "intact", p, 200, "The log is intact.", head.At("head").Text())
}
