package request

import (
	"testing"

	"github.com/countersign/countersign"
)

func TestForProbe(t *testing.T) {
	step := inputsOf(t, `{"resourceId":"A-1","amount":1.50,"note":"x","region":"eu"}`)
	tests := []struct {
		name  string
		probe countersign.Capability
		want  string
	}{
		{"the path's", countersign.Capability{Method: "GET", Path: "/o/{resourceId}"}, `{"resourceId":"A-1"}`},
		{"the path's beside a schema", countersign.Capability{Method: "GET", Path: "/o/{resourceId}", InputSchema: schema("region:string")}, `{"region":"eu","resourceId":"A-1"}`},
		{"the query's", countersign.Capability{Method: "GET", Path: "/o", Request: mapped([]string{"region", "missing"}, nil)}, `{"region":"eu"}`},
		{"the schema's", countersign.Capability{Method: "GET", Path: "/o", InputSchema: schema("amount:number", "other:string")}, `{"amount":1.50}`},
		{"nothing asked for", countersign.Capability{Method: "GET", Path: "/o"}, `{}`},
	}
	for _, tt := range tests {
		tt.probe.Name = "probe"
		got := ForProbe(&tt.probe, step)
		if text := countersign.ObjectValue(got).Raw(); text != tt.want {
			t.Errorf("%s: got %s", tt.name, text)
		}
		if _, err := Build(nil, shop, &tt.probe, got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
