package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// checkDeliveries compares R with A.
func (l *life) checkDeliveries(r []*delivery) {
	byKey := map[string][]*delivery{}
	for _, d := range r {
		if d.forged != nil {
			l.fault("D7: %s: %v", d.key(), d.forged)
		}
		if d.ofStep() {
			byKey[d.key()] = append(byKey[d.key()], d)
		}
	}
	for key, list := range byKey {
		l.checkKey(key, list)
	}
}

// checkKey checks all deliveries under one idempotency key: their step, their number (D1), and that each has an intent
// before it (A3).
func (l *life) checkKey(key string, list []*delivery) {
	first, log := list[0], l.picture.log
	run := l.picture.runs[first.runID()]
	step := stepOf(run, first.stepID())
	switch {
	case step.At("idempotencyKey").Text() != key:
		l.fault("D2: %s %s arrived under %s; its run is %s", first.Method, first.Target, key, run)
		return
	case run.At("mode").Text() != "LIVE":
		l.fault("D4: %s arrived, of a rehearsal", key)
	}
	if first.sideEffect() && len(list) > 1+len(log.reopened[key]) {
		l.fault("D1: %s arrived %d times with %d CONFIRMED_NOT_EXECUTED:\n%s", key, len(list), len(log.reopened[key]), times(list))
	}
	for n, d := range list {
		if d.Method != first.Method || d.Target != first.Target || !bytes.Equal(d.Body, first.Body) {
			l.fault("D1: %s arrived as %s %s %s and then as %s %s %s", key, first.Method, first.Target, first.Body, d.Method, d.Target, d.Body)
		}
		if first.sideEffect() && n > 0 && len(log.reopened[key]) >= n && d.at.Before(timeOf(log.reopened[key][n-1], "at")) {
			l.fault("D1: %s arrived for the %dth time before anybody said that it was not executed", key, n+1)
		}
		l.checkIntent(d, n, step)
	}
	if first.sideEffect() {
		l.checkOutcome(list[len(list)-1], step)
	}
}

// checkOutcome: the outcome of a delivered side effect is what the receiver answered, what a person said, or unknown
// (S2).
func (l *life) checkOutcome(d *delivery, step json) {
	status, code := step.At("status").Text(), step.At("error.code").Text()
	known := d.answer != 0 && step.At("response.statusCode").Int() == d.answer
	judged := step.At("reconciliation.resolution").Text()
	var good bool
	switch status {
	case "RECOVERY_REQUIRED", "ABANDONED":
		good = true
	case "COMPLETED":
		good = known && d.answer == 200 || judged == "CONFIRMED_COMPLETED"
	case "FAILED":
		good = known && (code == "receiver_refused" || code == "expectation_not_met" || code == "output_missing") || code == "approval_rejected" && judged == "CONFIRMED_NOT_EXECUTED"
	default: // the step was never sent, or will be sent again
		good = judged == "CONFIRMED_NOT_EXECUTED"
	}
	if !good {
		l.fault("S2: %s arrived and was answered %d; its step is %s", d.key(), d.answer, step)
	}
}

// checkIntent: before the n-th arrival the log has n intents for exactly these bytes, and n approvals if the step
// needs one.
func (l *life) checkIntent(d *delivery, n int, step json) {
	intents := l.picture.log.intents[d.key()]
	if len(intents) <= n {
		l.fault("A3: %s arrived %d times with %d intents", d.key(), n+1, len(intents))
		return
	}
	digest := digestOf(d, l.shop.Origin(), step)
	intent := intents[n]
	if intent.At("digest").Text() != digest || d.at.Before(timeOf(intent, "at")) {
		l.fault("A3: %s arrived at %s with the digest %s; its intent is %s", d.key(), d.at.UTC(), digest, intent)
	}
	if step.At("approvalRequired").String() == "true" && l.approved(d, digest) <= n {
		l.fault("D5: %s arrived %d times with %d approvals that were good for it", d.key(), n+1, l.approved(d, digest))
	}
}

// approved counts the approvals that allow a request: given for these bytes, before it arrived, and not expired then.
func (l *life) approved(d *delivery, digest string) (n int) {
	for _, a := range l.picture.approvals {
		if a.At("runId").Text() == d.runID() && a.At("stepId").Text() == d.stepID() && a.At("status").Text() == "APPROVED" &&
			a.At("requestDigest").Text() == digest && !d.at.Before(timeOf(a, "decidedAt")) && d.at.Before(timeOf(a, "expiresAt")) {
			n++
		}
	}
	return n
}

// digestOf computes the digest of contract 6 from the received request. All projects here are at revision 1.
func digestOf(d *delivery, origin string, step json) string {
	text := ""
	for _, part := range []string{d.Method, origin + d.Target, string(d.Body), step.At("projectId").Text(), "1", step.At("capability").Text()} {
		text += fmt.Sprintf("%d:%s,", len(part), part)
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func times(list []*delivery) (text string) {
	for _, d := range list {
		text += fmt.Sprintf("  %s answered %t\n", d.at.UTC(), d.answering)
	}
	return text
}
