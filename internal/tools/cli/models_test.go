package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

func example(t *testing.T, change ...string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/example/model.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestModelCommandsEndAsTheirVerdictIs(t *testing.T) {
	t.Parallel()
	good, unmet := example(t), example(t, `"expectedStateId": "declined"`, `"expectedStateId": "told"`)
	broken := example(t, `"toStateId": "told"`, `"toStateId": "nowhere"`)
	overlapping, untested := example(t, `"priority": 3`, `"priority": 2`), example(t, `"request": "close-return"`, `"request": "refund"`)
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"valid":                {[]string{"validate", good}, terminal.ExitOK, "valid: 0 errors, 0 warnings"},
		"warnings":             {[]string{"validate", unmet}, terminal.ExitOK, "expectation_not_met"},
		"strict":               {[]string{"validate", unmet, "--strict"}, terminal.ExitFailed, "expectation_not_met"},
		"errors":               {[]string{"validate", broken}, terminal.ExitFailed, "unknown_state"},
		"passes":               {[]string{"simulate", good}, terminal.ExitOK, "4 of 4 scenarios pass"},
		"one does not":         {[]string{"simulate", unmet}, terminal.ExitFailed, "NOT PASSED"},
		"that one":             {[]string{"simulate", unmet, "--scenario", "too-late"}, terminal.ExitFailed, `mismatch`},
		"another":              {[]string{"simulate", unmet, "--scenario", "close-return"}, terminal.ExitOK, "1 of 1"},
		"with inputs":          {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", "daysSinceDelivery=45"}, terminal.ExitFailed, "declined"},
		"inputs as JSON":       {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", `{"daysSinceDelivery":45,"orderId":null}`}, terminal.ExitFailed, "orderId            null"},
		"text as digits":       {[]string{"simulate", good, "--scenario", "returned-in-time", "--input", "orderId=7"}, terminal.ExitOK, `"7"`},
		"trace":                {[]string{"simulate", good, "--scenario", "returned-in-time", "--trace"}, terminal.ExitOK, "asked > order-known"},
		"unknown scenario":     {[]string{"simulate", good, "--scenario", "none"}, terminal.ExitUnusable, "none"},
		"unknown input":        {[]string{"simulate", good, "--input", "none=1"}, terminal.ExitUnusable, "none"},
		"mistyped input":       {[]string{"simulate", good, "--input", "daysSinceDelivery=many"}, terminal.ExitUnusable, "daysSinceDelivery"},
		"malformed input":      {[]string{"simulate", good, "--input", "5"}, terminal.ExitUnusable, "NAME=VALUE"},
		"simulating errors":    {[]string{"simulate", broken}, terminal.ExitFailed, "model_invalid"},
		"explores":             {[]string{"explore", good}, terminal.ExitOK, "complete"},
		"explores strictly":    {[]string{"explore", good, "--strict"}, terminal.ExitFailed, "can get stuck in"},
		"explores a little":    {[]string{"explore", good, "--limit", "3"}, terminal.ExitOK, "NOT complete"},
		"explores overlaps":    {[]string{"explore", overlapping}, terminal.ExitOK, "overlapping_transitions"},
		"explores all taken":   {[]string{"explore", good}, terminal.ExitOK, "6 of 6 transitions"},
		"warns with a witness": {[]string{"validate", overlapping}, terminal.ExitOK, `with inputs {"`},
		"proposes scenarios":   {[]string{"explore", untested}, terminal.ExitOK, `"id": "covers-close"`},
		"explores too much":    {[]string{"explore", good, "--limit", "99999999"}, terminal.ExitUnusable, "--limit"},
		"exploring errors":     {[]string{"explore", broken}, terminal.ExitFailed, "model_invalid"},
		"no such file":         {[]string{"validate", "nowhere.json"}, terminal.ExitUnusable, "nowhere.json"},
		"no JSON":              {[]string{"validate", written(t, "{\n  \"id\": 'x'\n}")}, terminal.ExitUnusable, ":2:9: invalid_json"},
		"an id no path takes":  {[]string{"validate", example(t, `"id": "refund-agent"`, `"id": "refund agent"`)}, terminal.ExitUnusable, "document.id"},
		"larger than a body":   {[]string{"validate", written(t, strings.Repeat(" ", 1<<20+1))}, terminal.ExitUnusable, "1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			r := command(t, append([]string{"models"}, test.args...)...)
			if r.status != test.status || !strings.Contains(r.out+r.errs, test.says) {
				t.Errorf("status %d, not %d; expected %q in\n%s%s", r.status, test.status, test.says, r.out, r.errs)
			}
		})
	}
}

func TestBareDocumentAndWrapperAreTheSameModel(t *testing.T) {
	t.Parallel()
	wrapped := example(t)
	text, err := os.ReadFile(wrapped)
	if err != nil {
		t.Fatal(err)
	}
	inner := strings.TrimSpace(string(text))
	inner = strings.TrimSpace(strings.TrimPrefix(inner, "{"))
	inner = strings.TrimSuffix(strings.TrimPrefix(inner, `"document":`), "}")
	for _, verb := range []string{"validate", "simulate", "explore"} {
		a, b := command(t, "models", verb, wrapped, "-o", "json"), command(t, "models", verb, written(t, inner), "-o", "json")
		if a.out != b.out || a.status != terminal.ExitOK || b.status != terminal.ExitOK {
			t.Errorf("%s differs: %d %s %d %s", verb, a.status, a.errs, b.status, b.errs)
		}
	}
}
