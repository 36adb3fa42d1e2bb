package control_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// BenchmarkStartByAToken is what a token's start takes.
func BenchmarkStartByAToken(b *testing.B) {
	bed := openStepBed(b)
	made, err := bed.service.CreateToken(b.Context(), bed.boss, countersign.TokenWrite{Name: "n", Roles: []countersign.Role{countersign.RoleOperator}})
	no(b, err)
	w := countersign.PlanWrite{Name: "Refund", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeDryRun, Steps: []countersign.Step{{ID: "s", ProjectID: "default-shop", Capability: "refund", Input: map[string]countersign.Value{"orderId": countersign.String("A"), "amount": countersign.RawValue("24.90")}}}}
	p, err := bed.service.CreatePlan(b.Context(), bed.boss, w)
	no(b, err)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		principal, err := bed.service.Authenticate(context.Background(), made.Secret)
		no(b, err)
		started, err := bed.service.StartRun(b.Context(), control.Actor{Principal: principal, RequestID: "r"}, countersign.RunStart{PlanID: p.ID}, "k"+strconv.Itoa(n))
		no(b, err)
		n++
		watched, err := bed.service.Watch(b.Context(), bed.boss, started.Run.ID)
		no(b, err)
		for r := &watched.Now; !r.Status.IsTerminal(); {
			r = <-watched.Changes.C
		}
		watched.Close()
	}
}
