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

// question is what a person is asked at the terminal. Somebody may answer it elsewhere meanwhile.
type question struct {
	prompt    string
	waiting   func() string // what is waited for after standard input has ended
	elsewhere <-chan error  // sends once, when the run no longer waits for an answer
	answer    func(string) (hint string, err error)
	answered  func() error // shows what somebody answered elsewhere
}

// ask asks until a typed line is an answer, or somebody has answered elsewhere. It has no default
// answer. The hint of an answer says what is missing.
func (d *demo) ask(q question) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	var waiting <-chan time.Time // ticks after standard input has ended
	typed := d.typed()
	d.prompt(q)
	for {
		select {
		case line, open := <-typed:
			if !open {
				typed, waiting = nil, second.C
				continue
			}
			hint, err := q.answer(line)
			if hint == "" {
				return err
			}
			d.print.say("%s", hint)
			d.prompt(q)
		case <-waiting:
			d.progress(margin + q.waiting())
		case err := <-q.elsewhere:
			d.progress("")
			d.print.line("")
			if err != nil {
				return err
			}
			return q.answered()
		}
	}
}

func (d *demo) prompt(q question) { fmt.Fprint(d.Out, margin, q.prompt) }

// askDecision asks the person to decide an approval.
func (d *demo) askDecision(ctx context.Context, a countersign.Approval) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.showElsewhere("Decide it", "/approvals/"+a.ID, `{"decision":"APPROVED","reason":"..."}`, "/approvals/"+a.ID+"/decision")
	return d.ask(question{
		prompt: "approve? [y/n] and the reason: ",
		waiting: func() string {
			return fmt.Sprintf("waiting for a decision from elsewhere; it expires in %s", time.Until(a.ExpiresAt).Truncate(time.Second))
		},
		elsewhere: d.leaves(ctx, a.RunID, func(w countersign.WaitingFor) bool {
			return w.Kind == countersign.WaitApproval && w.ApprovalID == a.ID
		}),
		answer: func(line string) (string, error) {
			decision, hint := decisionOf(line)
			if hint != "" {
				return hint, nil
			}
			return "", d.decideAs(ctx, a, decision)
		},
		answered: func() error { return d.showOutcome(ctx, a.ID) },
	})
}

// leaves sends once, when a run no longer waits for this.
func (d *demo) leaves(ctx context.Context, runID string, this func(countersign.WaitingFor) bool) <-chan error {
	gone := make(chan error, 1)
	go func() {
		_, err := d.reviewer.WaitRun(ctx, runID, func(r *countersign.Run) bool { return r.WaitingFor == nil || !this(*r.WaitingFor) })
		gone <- err
	}()
	return gone
}

// showElsewhere explains how to answer in a browser, at a page of the console, and from another
// terminal, by a body that is posted.
func (d *demo) showElsewhere(do, page, body, post string) {
	d.print.say("%s here as %s, or in the browser:", do, d.place.kept.Reviewer.Email)
	d.print.say("  %s%s%s", d.service.Address, d.wiring.Console, page)
	d.print.say("  (the code for signing in is then in %s)", d.place.file(ServiceLog))
	d.print.say("or from another terminal:")
	d.print.say(`curl -H "@%s" -H "Content-Type: application/json" \`, d.place.file(reviewerFile))
	d.print.say(`  -d '%s' \`, body)
	d.print.say(`  %s%s`, d.reviewer.base, post)
}

func (d *demo) showOutcome(ctx context.Context, approvalID string) error {
	a, err := d.reviewer.Approval(ctx, approvalID)
	if err == nil {
		d.showDecision(*a)
	}
	return err
}

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
	yes, reason, hint := yesOrNo(line, "A decision carries its reason", "the order came back in time")
	decision.Reason, decision.Decision = reason, countersign.ApprovalRejected
	if yes {
		decision.Decision = countersign.ApprovalApproved
	}
	return decision, hint
}

// yesOrNo parses y or n and what follows. The hint has the rule that the answer breaks, and an example.
func yesOrNo(line, rule, example string) (yes bool, why, hint string) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.ToLower(word)
	switch word {
	case "y", "yes", "n", "no":
	default:
		return false, "", "Type y or n and, behind it, why: y " + example
	}
	if why = strings.TrimSpace(rest); safetext.Blank(why) {
		return false, "", rule + ": y " + example
	}
	return word[0] == 'y', why, ""
}
