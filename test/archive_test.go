package test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestAKeyFindsItsRunBeyondItsArchiving: an ended run goes into a file that the audit log names; its key starts no second run,
// and a request for the run is answered with the file's name.
func TestAKeyFindsItsRunBeyondItsArchiving(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "archive")
	w := newWorld(t, harness.Set("RETENTION", "500ms"), harness.Set("ARCHIVE_DIR", archive))
	plan := w.ready(t, planOf(step("n", "note", nil)))
	id := w.operator.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text()
	var gone *harness.Answer
	harness.Until(t, "the archiving", func() bool {
		gone = w.operator.Get("/runs/" + id)
		return gone.Status == 404
	})
	w.viewer.Get("/runs").OK(t).Is(t, "total", 0)
	again := w.operator.Post("/runs", doc{"planId": plan}, keyed("k"))
	again.OK(t).Is(t, "id", id).Is(t, "status", "COMPLETED").Is(t, "planId", plan)
	if again.Status != 202 || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Error(again.Status, again.Header)
	}
	w.operator.Post("/runs", doc{"planId": w.ready(t, planOf(step("m", "note", nil)))}, keyed("k")).Refused(t, "idempotency_conflict", id)
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	noted := w.Admin.Get("/audit?action=runs.archive").OK(t)
	noted.Is(t, "total", 1).Is(t, "items.0.actor", "system")
	name := strings.TrimPrefix(noted.At("items.0.subject").Text(), "archive/")
	file, err := os.ReadFile(filepath.Join(archive, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != noted.At("items.0.digest").Text() {
		t.Errorf("the file's digest isn't what the log says: %s", noted)
	}
	day := noted.At("items.0.at").Text()[:len("2006-01-02")]
	gone.Refused(t, "not_found", "run "+id+" ended COMPLETED and was archived on "+day+": it is in the archive's file "+name+" (SHA-256 "+noted.At("items.0.digest").Text()+")")
	for _, of := range []string{"", "/receipt", "/rehearsal", "/events"} { // who must not see its values could try them against a hash over the file
		if said := w.viewer.Get("/runs/"+id+of).Refused(t, "not_found"); said != "run "+id+" was archived on "+day {
			t.Errorf("a VIEWER at %q is told %q", of, said)
		}
	}
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	path := filepath.Join(archive, filepath.FromSlash(name))
	if r := harness.Run(t, nil, "archive", "verify", path); r.Status != 0 || !strings.Contains(r.Out, noted.At("items.0.digest").Text()) {
		t.Errorf("archive verify: %+v", r)
	}
	if r := harness.Run(t, nil, "archive", "show", path, id); r.Status != 0 || !strings.Contains(r.Out, `"status": "COMPLETED"`) || !strings.Contains(r.Out, `"planSnapshot"`) {
		t.Errorf("archive show: %+v", r)
	}
	filed := harness.Run(t, nil, "archive", "show", path, id, "--receipt")
	w.judge(t, 0, filed.Out, "--key", w.receiptKey(t)).Is(t, "runId", id).Is(t, "status", "COMPLETED").Is(t, "masked", false)
	if r := harness.Run(t, nil, "archive", "show", path, "run-none"); r.Status != 1 {
		t.Errorf("archive show of none: %+v", r)
	}
	if err := os.WriteFile(path, append(file[:len(file)/2:len(file)/2], file[len(file)/2+1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := harness.Run(t, nil, "archive", "verify", path); r.Status != 1 || !strings.HasPrefix(r.Err, path+": ") || !strings.HasSuffix(r.Err, "\ncountersign: not every file is whole\n") {
		t.Errorf("archive verify of a damaged file: %+v", r)
	}
}

// TestAnArchivedApprovalIsNamedByItsFile to whoever reaches its project; who must not see its values learns that it was archived, and when.
func TestAnArchivedApprovalIsNamedByItsFile(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("ARCHIVE_DIR", filepath.Join(t.TempDir(), "archive")))
	w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true}`))
	id := w.run(t, refunding()["steps"].([]any)[0].(doc))
	approval := w.approval(t, id).At("id").Text()
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
	elsewhere, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "projectIds": []string{"default-other"}})
	w.Stop()
	w.Restart(harness.Set("RETENTION", "1ms"))
	harness.Until(t, "the archiving", func() bool { return w.Admin.Get("/runs/"+id).Status == 404 })
	noted := w.Admin.Get("/audit?action=runs.archive").OK(t)
	day, name := noted.At("items.0.at").Text()[:len("2006-01-02")], strings.TrimPrefix(noted.At("items.0.subject").Text(), "archive/")
	is := "approval " + approval + " was archived with run " + id + " on " + day + ": it is in the archive's file " + name + " (SHA-256 " + noted.At("items.0.digest").Text() + ")"
	if said := w.Admin.Get("/approvals/"+approval).Refused(t, "not_found"); said != is {
		t.Errorf("%q, want %q", said, is)
	}
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "r"}).Refused(t, "not_found", is)
	if said := w.viewer.Get("/approvals/"+approval).Refused(t, "not_found"); said != "approval "+approval+" was archived with run "+id+" on "+day {
		t.Errorf("a VIEWER is told %q", said)
	}
	elsewhere.Get("/approvals/"+approval).Refused(t, "project_scope")
	w.Admin.Get("/approvals/none").Refused(t, "not_found", "there is no approval none")
}
