package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/countersign/countersign"
)

var update = flag.Bool("update", false, "write the golden files anew")

var public = []string{"adyen-checkout", "box", "twilio-api"}

func publicDocument(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func propose(t testing.TB, data []byte, o Options) *Proposal {
	t.Helper()
	d, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if o.ProjectID == "" {
		o.ProjectID = "acme-api"
	}
	p, err := d.Propose(o)
	if err != nil {
		t.Fatalf("%v; skipped: %v", err, p)
	}
	return p
}

func TestPublicDocumentsAreProposedAsBefore(t *testing.T) {
	var b bytes.Buffer
	for _, name := range public {
		d, err := Read(publicDocument(t, name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Propose(Options{ProjectID: "acme-api"})
		registers(t, p)
		outline(&b, name, p, err)
	}
	golden(t, "testdata/public.txt", b.Bytes())
}

// outline prints a proposal, one line for each operation.
func outline(w io.Writer, name string, p *Proposal, failed error) {
	idempotent := 0
	for _, line := range p.Proposed {
		if line.Idempotent {
			idempotent++
		}
	}
	fmt.Fprintf(w, "== %s: %s\n%d operations, %d proposed, %d skipped, %d bytes of project, %d probes, %d idempotent, %d side effects unasked", name, p.Title, p.Operations, len(p.Proposed), len(p.Skipped), p.Bytes, p.Probes, idempotent, p.Unasked)
	if failed != nil {
		fmt.Fprintf(w, "; %s", failed)
	}
	fmt.Fprintf(w, "\nbase %s, auth %v, headers %v\n", p.Project.BaseURL, p.Project.Auth.List(), p.Project.Headers)
	for _, reason := range slices.Sorted(maps.Keys(p.Reasons)) {
		fmt.Fprintf(w, "  %4d %s\n", p.Reasons[reason], reason)
	}
	for _, line := range p.FillIn {
		fmt.Fprintln(w, "fill in", line)
	}
	for i, c := range p.Project.Capabilities {
		line := p.Proposed[i]
		fmt.Fprintf(w, "%-6s %s\n       %s %s idempotent=%v inputs=%d/%d", c.Method, c.Path, c.Name, c.Approval, c.Idempotent, line.Required, line.Inputs)
		described, bounded := 0, 0
		for _, f := range c.InputSchema {
			bare := countersign.InputField{Type: f.Type, Required: f.Required, Description: f.Description}
			if f.Description != "" {
				described++
			}
			if !reflect.DeepEqual(f, bare) {
				bounded++
			}
		}
		fmt.Fprintf(w, " described=%d bounded=%d", described, bounded)
		fmt.Fprintf(w, " query=%d body=%d probe=%s sensitive=%v left out=%v\n", len(c.Request.Query), len(c.Request.Body), c.Probe, c.Sensitive, strings.Join(line.LeftOut, ", "))
	}
	for _, s := range p.Skipped {
		fmt.Fprintf(w, "skipped %-6s %s\n       %s: %s\n", s.Method, s.Path, s.Reason, s.Message)
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("it differs from %s; go test -update writes it anew, then read the diff. Now:\n%s", path, got)
	}
}

func TestNoOperationIsOverlooked(t *testing.T) {
	for _, name := range public {
		data := publicDocument(t, name)
		wanted := operationsOf(t, data)
		if !testing.Short() { // the other loader takes quadratic time in the number of references
			if other := loaded(t, data); !slices.Equal(wanted, other) {
				t.Errorf("%s: another reader of such documents finds other operations: %v", name, other)
			}
		}
		p := propose(t, data, Options{})
		for _, operation := range wanted {
			method, path, _ := strings.Cut(operation, " ")
			proposed := slices.ContainsFunc(p.Proposed, func(l Proposed) bool { return l.Method == method && strings.HasSuffix(l.Path, path) })
			skipped := slices.ContainsFunc(p.Skipped, func(s Skipped) bool { return s.Method == method && s.Path == path })
			if !proposed && !skipped {
				t.Errorf("%s: %s is neither proposed nor skipped", name, operation)
			}
		}
		if got := len(p.Proposed) + len(p.Skipped); got != len(wanted) || p.Operations != len(wanted) {
			t.Errorf("%s has %d operations; %d are accounted for", name, len(wanted), got)
		}
	}
}

// operationsOf names the operations of a document without external path items.
func operationsOf(t *testing.T, data []byte) (found []string) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(data, &doc); err != nil || len(doc.Paths) == 0 {
		t.Fatal(len(doc.Paths), err)
	}
	for path, item := range doc.Paths {
		for method := range item {
			if slices.Contains([]string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}, method) {
				found = append(found, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(found)
	return found
}

// loaded names the operations that another OpenAPI library finds.
func loaded(t *testing.T, data []byte) (found []string) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			found = append(found, method+" "+path)
		}
	}
	slices.Sort(found)
	return found
}
