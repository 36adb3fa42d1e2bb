package apply

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

const (
	benchProjects     = 50
	benchCapabilities = 300
)

// projectFields are the fields of a project's PUT, with many capabilities.
func projectFields(number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `"name": "Project %d", "adapter": "LOCAL_ECHO", "capabilities": [`, number)
	for i := range benchCapabilities {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name": "things%d.create", "title": "Make {amount} of {orderId}", "method": "POST", "path": "/things%d/{orderId}",
			"inputSchema": {"orderId": {"type": "string", "required": true}, "amount": {"type": "number", "required": true, "minimum": 0, "maximum": 100000}, "note": {"type": "string", "required": false}},
			"approvalRules": [{"when": {"kind": "predicate", "variableId": "amount", "operator": "gt", "value": %d}, "then": "ASK", "reason": "large"}]}`, i, i, 1000+i)
	}
	b.WriteByte(']')
	return b.String()
}

// BenchmarkDifferenceOfFiftyProjects measures what `apply --check` does with files of 50 projects, 300
// capabilities each, that a service has as they are: read, ask, compare. A second is the goal.
func BenchmarkDifferenceOfFiftyProjects(b *testing.B) {
	dir := b.TempDir()
	answers := map[string][]byte{}
	for i := range benchProjects {
		id := fmt.Sprintf("default-p%d", i)
		fields := projectFields(i)
		var w countersign.ProjectWrite
		if err := exactjson.Decode([]byte("{"+fields+"}"), &w); err != nil {
			b.Fatal(err)
		}
		text, err := countersign.Marshal(&w)
		if err != nil {
			b.Fatal(err)
		}
		stored := new(countersign.Project)
		if err := json.Unmarshal(text, stored); err != nil {
			b.Fatal(err)
		}
		stored.ID, stored.Enabled, stored.Revision = id, true, 1
		if answers[id], err = countersign.Marshal(stored); err != nil {
			b.Fatal(err)
		}
		yaml, err := toYAML([]byte(`{"kind": "project", "id": "` + id + `", ` + fields + "}"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, id+".yaml"), yaml, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers[path.Base(r.URL.Path)])
	}))
	b.Cleanup(service.Close)
	c, err := client.New(client.Config{BaseURL: service.URL, Token: "token-0123456789-0123456789-012345"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		records, problems := Read([]string{dir})
		if len(problems) > 0 {
			b.Fatal(problems)
		}
		changes, err := Differ(b.Context(), c, records)
		if err != nil || len(changes) > 0 || len(records) != benchProjects {
			b.Fatal(len(records), len(changes), err)
		}
	}
}
