package runrepo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

func probing() run.Probing {
	return run.Probing{Step: 0, Probe: countersign.ProbeRecord{By: bob.ID, At: dawn, Capability: "look"}}
}

// probed is the answer to the n-th probe of the step.
func probed(n int) run.Probed {
	p := probing().Probe
	p.N, p.Response, p.Output = n, &countersign.Response{StatusCode: 200}, countersign.RawValue(`{"seen":true}`)
	return run.Probed{Step: 0, Probe: p}
}

func refOf(id string) runrepo.Ref { return runrepo.Ref{Tenant: "acme", RunID: id} }

// uncertain is a run with an uncertain step, and what numbers its probes have.
func (h *fixture) uncertain() (id string, probes func() []int) {
	h.t.Helper()
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{}, decide(countersign.ApprovalApproved), run.Resumed{})
	h.must(ref, h.answer(ref, lost()))
	return ref.RunID, func() (ns []int) {
		for _, p := range h.load(ref).Run().Steps[0].Probes {
			ns = append(ns, p.N)
		}
		return ns
	}
}

// TestAProbeIsWrittenApartFromItsStep, so that the thousandth costs what the first did.
func TestAProbeIsWrittenApartFromItsStep(t *testing.T) {
	h := open(t)
	id, probes := h.uncertain()
	ref := refOf(id)
	version := func() (v int64) {
		h.view(func(tx store.Tx) error {
			row, err := tx.Get(store.Steps, "acme", records.StepID(id, 0))
			v = row.Version
			return err
		})
		return v
	}
	before := version()
	h.must(ref, probing(), probing(), probed(2), probed(1))
	if diff := cmp.Diff([]int{1, 2}, probes()); diff != "" || version() != before {
		t.Errorf("the step went from version %d to %d; probes: %s", before, version(), diff)
	}
	h.must(ref, probing(), run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "e"}}, probed(3))
	if diff := cmp.Diff([]int{1, 2, 3}, probes()); diff != "" {
		t.Error(diff)
	}
	for _, p := range h.load(ref).Run().Steps[0].Probes {
		if p.Unanswered() {
			t.Errorf("the answer to probe %d isn't kept", p.N)
		}
	}
}

// TestProbesOfAnOlderReleaseStay in their step's document, and new ones follow them.
func TestProbesOfAnOlderReleaseStay(t *testing.T) {
	h := open(t)
	id, probes := h.uncertain()
	ref := refOf(id)
	h.older(id, 2)
	h.must(ref, probing(), probed(3))
	h.must(ref, run.Reconciled{Reconcile: countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "e"}})
	if diff := cmp.Diff([]int{1, 2, 3}, probes()); diff != "" {
		t.Error(diff)
	}
}

// TestARunHasAThousandProbes and no more.
func TestARunHasAThousandProbes(t *testing.T) {
	h := open(t)
	id, probes := h.uncertain()
	h.older(id, 998)
	h.must(refOf(id), probing(), probed(999), probing(), probed(1000))
	if _, err := h.apply(refOf(id), probing()); countersign.ErrorCode(err) != countersign.CodeQuotaExceeded {
		t.Errorf("%v", err)
	}
	if got := probes(); len(got) != 1000 || got[999] != 1000 {
		t.Errorf("%d probes", len(got))
	}
}

// older gives the uncertain step probes as an older release kept them.
func (h *fixture) older(id string, n int) {
	h.t.Helper()
	h.update(func(tx store.Tx) error {
		s, version, err := records.Steps(id, 0, "").Get(tx, "acme", records.StepID(id, 0))
		if err != nil {
			return err
		}
		for i := range n {
			s.Probes = append(s.Probes, probed(i+1).Probe)
		}
		_, err = records.Steps(id, 0, "").Put(tx, "acme", records.StepID(id, 0), s, version)
		return err
	})
}
