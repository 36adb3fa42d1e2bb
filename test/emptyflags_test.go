package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAFlagThatIsGivenButEmptyIsRefused: an unset shell variable must not omit the check that a script asks for.
func TestAFlagThatIsGivenButEmptyIsRefused(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{
		{"receipt", "verify", "no-such-file", "--key", ""},
		{"audit", "verify", "--head", "", "--records", "0"},
		{"audit", "verify", "--head", "ab", "--records", "0"},
		{"audit", "verify", ""},
		{"audit", "list", "--since", ""},
		{"approvals", "decide", "apr-1", "--approve", "--reason", "r", "--digest", ""},
		{"runs", "start", "plan-1", "--key", ""},
		{"agents", "start", "clerk", "--capability", "c", "--expect", ""},
		{"agents", "start", "clerk", "--capability", "c", "--expect-status", "0"},
		{"agents", "start", "clerk", "--capability", "c", "--revision", "0"},
		{"agents", "admit", "clerk", "--reason", "r", "--revision", "0"},
		{"tokens", "create", "--name", "x", "--role", "VIEWER", "--project", ""},
		{"tokens", "create", "--name", "x", "--role", "VIEWER", "--user", ""},
		{"tokens", "create", "--name", "x", "--role", "VIEWER", "--days", "0"},
		{"tokens", "create", "--name", "", "--role", "VIEWER"},
		{"check-receiver", "http://127.0.0.1:1", "--project", "p.json", "--capability", "c", "--record", ""},
		{"check-receiver", "http://127.0.0.1:1", "--project", "p.json", "--capability", "c", "--secret-env", ""},
		{"backup", "file", "--recipient", ""},
		{"restore", "file", "--identity", ""},
		{"restore", "file", "--store", ""},
		{"import", "openapi", "api.yaml", "--project", "default-x", "--include", ""},
		{"archive", "verify", ""},
		{"doctor", "--store", ""},
		{"health", "--url", ""},
	} {
		if r := harness.Run(t, nil, line...); r.Status != 2 || !strings.Contains(r.Err, "as by a variable that isn't set") {
			t.Errorf("%q: status %d, %s", line, r.Status, r.Err)
		}
	}
	if r := harness.Run(t, nil, "version"); r.Status != 0 {
		t.Errorf("%+v", r)
	}
}
