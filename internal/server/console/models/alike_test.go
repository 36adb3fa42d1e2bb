package models

import (
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/web"
)

func TestAnActionIsCarriedOutByWhatIsCalledAlike(t *testing.T) {
	d := &compileData{Groups: []capabilityGroup{
		{Capabilities: []web.Option{{Value: "shop/orders.read"}, {Value: "shop/refunds.create"}, {Value: "shop/createRefundNote"}, {Value: "shop/refund_list"}}},
		{Capabilities: []web.Option{{Value: "bank/transfers"}, {Value: "bank/refund-refunds"}}},
	}}
	for id, want := range map[string][]string{
		"refund": {"shop/refunds.create", "shop/createRefundNote", "shop/refund_list"}, "create_refund": {"shop/refunds.create", "shop/createRefundNote", "shop/refund_list"},
		"readOrder": {"shop/orders.read"}, "pay": {}, "transfer": {"bank/transfers"}, "s": {}, "refund-note": {"shop/createRefundNote", "shop/refunds.create", "shop/refund_list"},
	} {
		got := []string{}
		for _, o := range d.alike(countersign.Action{ID: id}) {
			got = append(got, o.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", id, got)
		}
	}
}
