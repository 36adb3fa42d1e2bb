package request_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// BenchmarkBudgetBuild makes a request of some inputs, and its digest.
func BenchmarkBudgetBuild(b *testing.B) {
	p := &countersign.Project{ID: "acme-shop", Revision: 3, Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://api.example.com"}
	c := &countersign.Capability{Name: "refund", Method: "POST", Path: "/orders/{orderId}/refunds", InputSchema: map[string]countersign.InputField{
		"orderId": {Type: "string", Required: true}, "amount": {Type: "number"}, "reason": {Type: "string"},
	}}
	input := map[string]countersign.Value{"orderId": countersign.String("A-48213"), "amount": countersign.RawValue("12.50"), "reason": countersign.String("damaged")}
	allocbudget.Allocations(b, 28, func() {
		r, err := request.Build(nil, p, c, input)
		if err != nil {
			b.Fatal(err)
		}
		request.Digest(r, p.ID, p.Revision, c.Name)
	})
}
