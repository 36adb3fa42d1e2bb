package demo

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/tools/cli"
)

// askPerson asks at the terminal, and continues when somebody decides elsewhere meanwhile. It
// has no default decision.
func (d *demo) askPerson(ctx context.Context, a countersign.Approval) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var waiting <-chan time.Time // ticks after standard input has ended
	elsewhere, typed := d.decidedElsewhere(ctx, a), d.typed()
	d.showElsewhere(a)
	d.prompt()
	for {
		select {
		case line, open := <-typed:
			if !open {
				typed, waiting = nil, second.C
				continue
			}
			decision, hint := decisionOf(line)
			if hint == "" {
				return d.decideAs(ctx, a, decision)
			}
			d.print.say("%s", hint)
			d.prompt()
		case <-waiting:
			d.progress(fmt.Sprintf("%swaiting for a decision from elsewhere; it expires in %s", margin, time.Until(a.ExpiresAt).Truncate(time.Second)))
		case err := <-elsewhere:
			d.progress("")
			d.print.line("")
			if err != nil {
				return err
			}
			return d.showOutcome(ctx, a.ID)
		}
	}
}

// showElsewhere explains how to decide in a browser and from another terminal.
func (d *demo) showElsewhere(a countersign.Approval) {
	d.print.say("Decide it here as %s, or in the browser:", d.place.kept.Reviewer.Email)
	d.print.say("  %s%s/approvals/%s", d.service.Address, d.wiring.Console, a.ID)
	d.print.say("  (the code for signing in is then in %s)", d.place.file(ServiceLog))
	d.print.say("or from another terminal:")
	d.print.say(`curl -H "@%s" -H "Content-Type: application/json" \`, d.place.file(reviewerFile))
	d.print.say(`  -d '{"decision":"APPROVED","reason":"..."}' \`)
	d.print.say(`  %s/approvals/%s/decision`, d.reviewer.base, a.ID)
}

func (d *demo) showOutcome(ctx context.Context, approvalID string) error {
	a, err := d.reviewer.Approval(ctx, approvalID)
	if err == nil {
		d.showDecision(*a)
	}
	return err
}

func (d *demo) prompt() { fmt.Fprintf(d.Out, "%sapprove? [y/n] and the reason: ", margin) }

// progress overwrites the last line of a terminal; "" clears it.
func (d *demo) progress(text string) {
	if cli.Watched(d.Errs) {
		fmt.Fprintf(d.Errs, "\r\x1b[K%s", text)
	}
}

// typed returns the channel of the lines that the person types. One reader serves all
// questions, since read input can't be put back.
func (d *demo) typed() <-chan string {
	if d.lines == nil {
		d.lines = make(chan string)
		go func() {
			defer close(d.lines)
			for s := bufio.NewScanner(d.Person); s.Scan(); {
				d.lines <- s.Text()
			}
		}()
	}
	return d.lines
}

// decisionOf parses y or n and the reason, which every decision needs. The hint names what is
// missing.
func decisionOf(line string) (decision countersign.Decision, hint string) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		decision.Decision = countersign.ApprovalApproved
	case "n", "no":
		decision.Decision = countersign.ApprovalRejected
	default:
		return decision, "Type y or n and, behind it, why: y the order came back in time"
	}
	if decision.Reason = strings.TrimSpace(reason); safetext.Blank(decision.Reason) {
		return decision, "A decision carries its reason: " + strings.ToLower(word) + " the order came back in time"
	}
	return decision, ""
}
