package test

import (
	"strings"
	"testing"
)

// TestACancelledRunIsMadeAgainWithChangesByCommand: what changes is printed before the run
// starts, a LIVE run takes a reason and a yes, and the same key starts it once.
func TestACancelledRunIsMadeAgainWithChangesByCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := s.run(t, refunding()["steps"].([]any)[0].(doc))
	prints(t, s.command(t, 2, "runs", "again", run, "--reason", "r").Err, "has not ended")
	s.command(t, 0, "runs", "cancel", run, "--reason", "wrong order")
	again := []string{"runs", "again", run, "--set", "orderId=A-2", "--key", "second"}
	prints(t, s.command(t, 2, again...).Err, "--reason")
	again = append(again, "--reason", "the order was A-2")
	prints(t, s.command(t, 2, again...).Err, "orderId: ", ` -> "A-2"`, "nobody can be asked", "--yes")
	started := s.command(t, 0, append(again, "--yes")...)
	prints(t, started.Err, ` -> "A-2"`)
	id := strings.Fields(started.Out)[0]
	s.reaches(t, id, "WAITING_APPROVAL")
	prints(t, s.command(t, 0, append(again, "--yes")...).Out, id, "started before under this key")
	prints(t, s.command(t, 0, "runs", "show", id).Out, "the order was A-2", "A-2")
	prints(t, s.command(t, 0, "approvals", "show", s.approval(t, id).At("id").Text()).Out, "started because", "the order was A-2")
}
