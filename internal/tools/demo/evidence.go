package demo

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/sample"
)

// evidence compares three records: the shop's own log, the approval, and the audit log.
func (d *demo) evidence(ctx context.Context) error {
	if err := d.refundEvidence(ctx, "the refund", stepOf(d.refundRun, sample.ActionRefund)); err != nil {
		return err
	}
	if err := d.refundEvidence(ctx, "the refund with the lost answer,", d.lostRun.Steps[0]); err != nil {
		return err
	}
	d.showSettled(d.lostRun.Steps[0])
	if err := d.payoutEvidence(ctx, d.payoutRun.Steps[0]); err != nil {
		return err
	}
	if err := d.refundEvidence(ctx, "the team's refund", stepOf(d.teamRun, sample.ActionRefund)); err != nil {
		return err
	}
	d.print.say("Witnesses of the whole:")
	d.signatures()
	return d.audit(ctx)
}

// refundEvidence shows that a step made its refund once, and as approved.
func (d *demo) refundEvidence(ctx context.Context, which string, refund countersign.StepRun) error {
	d.print.say("Witnesses of %s of %s:", which, refund.Input["orderId"].Text())
	return d.paymentEvidence(ctx, which, refund)
}

func (d *demo) paymentEvidence(ctx context.Context, which string, refund countersign.StepRun) error {
	sent := d.delivered(which, refund.IdempotencyKey)
	if sent == nil {
		return nil
	}
	return d.approval(ctx, refund, *sent)
}

// delivered finds what the shop did under a key. Repeated requests under the key are
// harmless; a repeated effect is not.
func (d *demo) delivered(which, key string) *sample.Entry {
	var acted []sample.Entry
	for _, e := range d.shop.Received() {
		if e.Key == key && e.Acted() {
			acted = append(acted, e)
		}
	}
	d.holds(len(acted) == 1, "%s is made once; the shop made it %d times", which, len(acted))
	if len(acted) == 0 {
		d.print.row("delivered", "not at all")
		return nil
	}
	d.print.row("delivered", "once: the shop's log has %s under", count(d.sentUnder(key), "request", "requests"))
	d.print.row("", "%s, at %s", key, acted[0].At.Format("15:04:05.000 UTC"))
	return &acted[0]
}

// signatures checks the signatures of all requests that the shop received from LIVE runs.
func (d *demo) signatures() {
	received := slices.Concat(d.receivedOf(d.refundRun.ID), d.receivedOf(d.closingRun.ID), d.receivedOf(d.lostRun.ID), d.receivedOf(d.payoutRun.ID), d.receivedOf(d.teamRun.ID))
	valid := 0
	for _, e := range received {
		if e.Signature == sample.SignatureValid {
			valid++
		}
	}
	d.holds(valid == len(received) && valid > 0, "every signature is right; %d of %d are", valid, len(received))
	d.print.row("signatures", "%d of %d right, HMAC-SHA256 over the raw bytes", valid, len(received))
}

// approval compares what was approved with what the shop received.
func (d *demo) approval(ctx context.Context, s countersign.StepRun, sent sample.Entry) error {
	a, err := d.reviewer.Approval(ctx, s.ApprovalID)
	if err != nil {
		return err
	}
	d.print.row("asked by", "%s", d.named(a.RequestedBy))
	d.showDecision(*a)
	d.holds(a.Status == countersign.ApprovalApproved && a.DecidedBy != a.RequestedBy, "somebody else than who asked approved it")
	digest := d.digestOf(sent, s)
	same := digest == a.RequestDigest
	d.holds(same, "what was approved is what the shop received")
	d.print.row("digest", "%s was approved", a.RequestDigest)
	if same {
		d.print.row("", "and is that of the bytes that the shop received")
	} else {
		d.print.row("", "%s is that of the bytes that the shop received", digest)
	}
	return nil
}

// digestOf is the request digest of what the shop received.
func (d *demo) digestOf(e sample.Entry, s countersign.StepRun) string {
	r := countersign.Request{Method: e.Method, URL: d.shop.URL() + e.Path, Body: countersign.RawValue(e.Body)}
	return request.Digest(r, s.ProjectID, d.project.Revision, s.Capability)
}

func (d *demo) audit(ctx context.Context) error {
	v, err := d.admin.VerifyAudit(ctx, false)
	if err != nil {
		return err
	}
	d.holds(v.Intact, "the audit log is intact")
	word := "intact"
	if !v.Intact {
		word = "NOT intact"
	}
	d.print.row("audit log", "%s, %d records, head", word, v.Records)
	d.print.row("", "%s", v.Head)
	return nil
}
