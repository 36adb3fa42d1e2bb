package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
)

// FuzzQuery: a query that is accepted says exactly what it says (each parameter
// once, known, in range; nothing clamped or ignored), and what is wrong with one
// takes a bounded answer, however long the query.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&offset=0", "limit=200&offset=1099511627776", "limit=201", "limit=0", "limit=+1", "limit=01", "limit=1&limit=1", "offset=-1", "limit=1e2",
		"status=COMPLETED&planId=p", "status=completed", "since=2026-11-21T09:17:47Z&realm=true", "realm=1", "%zz", "a;b", "limit=%31", "=", "&&", "LIMIT=1", "limit", "offset=99999999999999999999",
	} {
		f.Add(seed)
	}
	rt := route{op: access.ReadRuns, query: listQuery(runStatusParam, param{name: "planId"}, param{name: "since", kind: timeParam}, realmParam)}
	f.Fuzz(func(t *testing.T, raw string) {
		c := &call{r: &http.Request{URL: &url.URL{RawQuery: raw}}}
		problems := c.readQuery(rt)
		if answer := countersign.JoinProblems(problems); (answer == "") != (len(problems) == 0) || len(answer) > 100*512 {
			t.Fatalf("%d problems in %d bytes", len(problems), len(answer))
		}
		if len(problems) == 0 {
			checkTaken(t, raw, c, rt)
		}
	})
}

func checkTaken(t *testing.T, raw string, c *call, rt route) {
	t.Helper()
	if c.list.Limit < 1 || c.list.Limit > countersign.MaxPageLimit || c.list.Offset < 0 || c.list.Offset > maxOffset {
		t.Fatalf("%q gives %+v", raw, c.list)
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatalf("%q is taken: %v", raw, err)
	}
	for name, given := range values {
		known := slices.ContainsFunc(rt.query, func(p param) bool { return p.name == name })
		if !known || len(given) != 1 || given[0] == "" || c.query[name] != given[0] || strings.ContainsAny(name, "%;") {
			t.Fatalf("%q: %s is taken as %q of %q", raw, name, c.query[name], given)
		}
	}
	if since := c.query["since"]; since != "" {
		if _, err := countersign.ParseInstant(since); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	}
	if realm := c.query["realm"]; realm != "" && realm != "true" && realm != "false" {
		t.Fatalf("%q: realm is %q", raw, realm)
	}
}
