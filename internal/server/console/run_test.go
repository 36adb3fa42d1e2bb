package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestThePageOfARunSaysWhyItStandsStillAndWhoMovesIt(t *testing.T) {
	w := openRunWorld(t)
	w.answer(200, `{"ok":true}`)
	id := w.start(clerk, call("read", "look"), call("note", "note", "read"))
	r := w.reaches(id, countersign.RunWaitingApproval)
	approver := w.guest("ann@example.com", countersign.RoleApprover)
	approver.shows("/runs/"+id, "Refund", "Waiting for your decision.", "/console/approvals/"+r.ApprovalID, "Review", "2. Do note", "will be sent as it stands here", "secret of note", "Approval asked")
	w.guest("clerk@example.com", countersign.RoleOperator, countersign.RoleApprover).
		shows("/runs/"+id, "Waiting for an approver’s decision.", "You requested this run, so someone else must decide.")
	page := w.guest("vic@example.com", countersign.RoleViewer).shows("/runs/"+id, "Your role can't decide.", "•••")
	for _, hidden := range []string{"secret of note", "Cancel run", "Review<"} {
		if strings.Contains(page, hidden) {
			t.Errorf("a viewer is shown %q", hidden)
		}
	}
	approver.shows("/runs/"+id+"?step=read", "1. Do read", "HTTP 200")
	approver.shows("/runs/"+id+"?step=nobody", "2. Do note")
	w.guest("boss@example.com", countersign.RoleAdmin).shows("/runs/"+id, "Audit trail", "Asked for approval of “Do note”", "PENDING → WAITING_APPROVAL")
	if status, _ := approver.open("/runs/run-nobody"); status != http.StatusNotFound {
		t.Errorf("no such run: %d", status)
	}
}

// TestThePageOfAHundredStepsStaysSmall: under 150 KB, whatever the run has come to.
func TestThePageOfAHundredStepsStaysSmall(t *testing.T) {
	w := openRunWorld(t)
	var steps []countersign.Step
	for i := range 100 {
		s := call("step-number-"+strconv.Itoa(i), "look")
		if s.Name = "Check the item of row " + strconv.Itoa(i); i%10 > 0 {
			s.DependsOn = []string{steps[i-1].ID}
		}
		steps = append(steps, s)
		w.answer(200, `{"ok":true}`)
	}
	id := w.start(clerk, steps...)
	w.reaches(id, countersign.RunCompleted)
	page := w.guest("boss@example.com", countersign.RoleAdmin).shows("/runs/"+id, "Done.", "Check the item of row 99")
	if len(page) > 150<<10 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestCancellingARunTakesAReasonAndKeepsWhatWasTyped(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("note", "note"))
	w.reaches(id, countersign.RunWaitingApproval)
	clerk := w.guest("clerk@example.com", countersign.RoleOperator)
	clerk.shows("/runs/"+id, "Cancel run…")
	clerk.shows("/runs/"+id+"/cancel", "Reason", "The run ends cancelled; 1 step is never begun.", "The approval that it waits for is closed.")
	w.reaches(id, countersign.RunWaitingApproval) // a GET changes nothing
	if status, text := clerk.submit("/runs/"+id+"/cancel", url.Values{"reason": {"  "}}); status != http.StatusBadRequest || !strings.Contains(text, `aria-invalid="true"`) || !strings.Contains(text, `role="alert"`) || !strings.Contains(plainText(text), "A reason is needed: it is kept in the audit log with your name") {
		t.Errorf("a blank reason: %d %s", status, plainText(text))
	}
	if status, _ := clerk.submit("/runs/"+id+"/cancel", url.Values{"reason": {"called off"}}); status != http.StatusSeeOther {
		t.Fatalf("%d", status)
	}
	w.reaches(id, countersign.RunCancelled)
	clerk.shows("/runs/"+id, "Cancelled by clerk@example.com: “called off”", "Step 1 was not started.")
	clerk.shows("/runs/"+id+"/cancel", "This run can't be cancelled: it has ended.")

	w.answer(200, `{"ok":true}`)
	other := w.start(somebody("clerk@example.com", countersign.RoleOperator), call("read", "look"))
	w.reaches(other, countersign.RunCompleted)
	status, text := clerk.submit("/runs/"+other+"/cancel", url.Values{"reason": {"too late for this"}})
	if status != http.StatusConflict {
		t.Errorf("a run that has ended: %d", status)
	}
	says(t, "the refusal", text, "Your text is kept", "too late for this")
	if status, _ := w.guest("vic@example.com", countersign.RoleViewer).submit("/runs/"+other+"/cancel", url.Values{"reason": {"x"}}); status != http.StatusForbidden {
		t.Errorf("a viewer: %d", status)
	}
}

func TestCancellingWarnsOfWhatIsOnItsWay(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("pay", "pay"))
	w.until(id, func(r countersign.Run) bool { return r.Steps[0].Status == countersign.StepRunning })
	clerk := w.guest("clerk@example.com", countersign.RoleOperator)
	clerk.shows("/runs/"+id, "Nothing is waiting for you. Step 1 waits for", "has until")
	clerk.shows("/runs/"+id+"/cancel", "“Do pay” is on its way and can't be stopped; an approver will be asked what happened.")
	clerk.submit("/runs/"+id+"/cancel", url.Values{"reason": {"stop"}})
	w.reaches(id, countersign.RunRecoveryRequired)
	clerk.shows("/runs/"+id, "Cancelled, but “Do pay” was already in progress.", "Your role can't decide.")
	w.guest("ann@example.com", countersign.RoleApprover).shows("/runs/"+id, "/console/recovery/"+id, "The answer may still arrive, until", "See what we know")
	w.answer(200, `{"ok":true}`)
	w.until(id, func(r countersign.Run) bool { return r.Steps[0].Late != nil })
	w.guest("ann@example.com", countersign.RoleApprover).shows("/runs/"+id, "/console/recovery/"+id, "Recover")
}

func TestTheListOfRunsIsNarrowedByStatusPlanAndTime(t *testing.T) {
	w := openRunWorld(t)
	vic := w.guest("vic@example.com", countersign.RoleViewer)
	vic.shows("/runs", "No runs yet.")
	w.answer(200, `{"ok":true}`)
	done := w.start(clerk, call("read", "look"))
	r := w.reaches(done, countersign.RunCompleted)
	waits := w.start(clerk, call("note", "note"))
	w.reaches(waits, countersign.RunWaitingApproval)
	for path, want := range map[string][2]bool{
		"/runs": {true, true}, "/runs?status=COMPLETED": {true, false}, "/runs?status=WAITING_APPROVAL&since=1h": {false, true},
		"/runs?plan=" + r.PlanID: {true, false}, "/runs?since=24h": {true, true}, "/runs?status=FAILED": {false, false},
	} {
		page := vic.shows(path)
		if got := [2]bool{strings.Contains(page, done), strings.Contains(page, waits)}; got != want {
			t.Errorf("%s shows %v, want %v", path, got, want)
		}
	}
	vic.shows("/runs?status=FAILED", "Nothing matches.")
	for _, path := range []string{"/runs?status=GONE", "/runs?since=1y", "/runs?plan=%20"} {
		if status, _ := vic.open(path); status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestTheOverviewPutsWhatWaitsForTheVisitorFirst(t *testing.T) {
	w := openRunWorld(t)
	w.guest("vic@example.com", countersign.RoleViewer).shows("/", "Nothing is waiting for you.", "No runs yet.")
	asked := w.start(clerk, call("note", "note"))
	w.reaches(asked, countersign.RunWaitingApproval)
	mine := w.start(somebody("ann@example.com", countersign.RoleOperator), call("note", "note"))
	w.reaches(mine, countersign.RunWaitingApproval)
	w.answer(500, `{}`)
	lost := w.start(clerk, call("pay", "pay"))
	w.reaches(lost, countersign.RunRecoveryRequired)
	w.answer(404, `{}`)
	failed := w.start(clerk, call("read", "look"))
	w.reaches(failed, countersign.RunFailed)
	page := w.guest("ann@example.com", countersign.RoleApprover).shows("/", "Waiting for you 2", "Waiting for others 1", "You requested this run, so someone else must decide.", "Refund failed", "Started in 24 h 4")
	resolve, review := strings.Index(page, "/console/recovery/"+lost), strings.Index(page, "Waiting for approval")
	if resolve < 0 || resolve > review || strings.Count(page, "btn--primary") != 1 {
		t.Errorf("recovery at %d, approvals at %d, %d filled buttons", resolve, review, strings.Count(page, "btn--primary"))
	}
	page = w.guest("vic@example.com", countersign.RoleViewer).shows("/", "Nothing is waiting for you.", "Waiting for others 3", "Your role can't decide.")
	if strings.Contains(page, "Start a run") || strings.Contains(page, "btn--primary") {
		t.Error("a viewer is shown buttons that it may not press")
	}
}

// TestEachFormOfAProjectNamesTheRunsThatUseIt: they keep it from being saved.
func TestEachFormOfAProjectNamesTheRunsThatUseIt(t *testing.T) {
	w := openRunWorld(t)
	id := w.start(clerk, call("note", "note"))
	w.reaches(id, countersign.RunWaitingApproval)
	g := w.guest("all@example.com", countersign.RoleAdmin, countersign.RoleOperator)
	for _, page := range []string{"", "/edit", "/document", "/capability", "/capability?name=look"} {
		g.shows("/projects/default-shop"+page, id, "An approver’s decision on note")
	}
}
