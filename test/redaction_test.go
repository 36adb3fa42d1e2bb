package test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// marker stands in all that the runs of these tests hold.
const marker = "Mallory-4711"

// marked is a LIVE run that holds the marker in its inputs, requests, answers, outputs, expectation and
// in what is bound from them, approved and ended.
func (w *world) marked(t *testing.T) string {
	t.Helper()
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true,"text":"`+marker+`","amount":10}`))
	w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true,"for":"`+marker+`"}`))
	note := expecting(step("note", "note", doc{"text": marker}), "text", marker)
	refund := step("refund", "refund", doc{"orderId": "A-" + marker, "amount": 10})
	refund["dependsOn"] = []string{"note"}
	id := w.run(t, note, refund)
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
	return id
}

// TestARunIsRedactedOnceItIsDue: what it holds goes, in every view; ids, principals, times, statuses,
// codes, names, decisions and digests stay; its receipt and the log hold.
func TestARunIsRedactedOnceItIsDue(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("REDACT_AFTER", "0s"))
	id := w.marked(t)
	approval := w.Admin.Get("/approvals?runId=" + id).OK(t).At("items.0.id").Text()
	harness.Until(t, "the index", func() bool { return w.Admin.Get("/runs?q="+marker).OK(t).At("total").Int() == 1 })
	before := w.Admin.Get("/runs/" + id).OK(t)
	w.approver.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "role_required")
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": " "}).Refused(t, "invalid_request")
	after := w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "request 48"}).OK(t)
	after.Is(t, "redacted.by", w.tenantAdmin.Get("/session").OK(t).At("principal").Text())
	for _, same := range []string{"id", "planId", "status", "planDigest", "requestedBy", "createdAt", "completedAt", "steps.0.requestDigest", "steps.1.requestDigest", "steps.0.response.bodySha256", "steps.0.verification.status", "steps.1.approvalId", "steps.0.request.method"} {
		if after.At(same).String() != before.At(same).String() {
			t.Errorf("%s is %s, and was %s", same, after.At(same), before.At(same))
		}
	}
	after.Is(t, "steps.0.input.text", "•••").Is(t, "steps.0.output", "•••")
	plan := before.At("planId").Text()
	for _, path := range []string{"/runs/" + id, "/runs/" + id + "/receipt", "/plans/" + plan, "/approvals/" + approval, "/approvals", "/runs", "/plans", "/search?q=" + marker, "/runs?q=" + marker, "/audit"} {
		if said := w.Admin.Get(path); said.Status != 200 || strings.Contains(strings.ReplaceAll(said.Raw, `"q":"`+marker, ""), marker) {
			t.Errorf("%s: %d %s", path, said.Status, said.Raw)
		}
	}
	w.Admin.Get("/runs?q="+marker).OK(t).Is(t, "total", 0)
	w.Admin.Get("/runs?capability=refund").OK(t).Is(t, "items.0.id", id)
	w.Admin.Get("/approvals/"+approval).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.decision", "APPROVED").Is(t, "decisions.0.reason", "redacted").Is(t, "inputSnapshot.orderId", "•••")
	verdict := w.holds(t, w.Admin, id).Is(t, "masked", true).Is(t, "redacted", true).Is(t, "approved", 1).Is(t, "hidden", 2)
	if !strings.HasPrefix(verdict.At("summary").Text(), "valid for what it shows; the run was redacted, which left out: what it held, the plan's digest, 2 requests") {
		t.Error(verdict)
	}
	w.holds(t, w.viewer, id).Is(t, "redacted", true)
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	w.Admin.Get("/audit?action=runs.redact").OK(t).Is(t, "items.0.weakens", true).Is(t, "items.0.subject", "run/"+id).Is(t, "items.0.reason", "request 48")
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict", "run "+id+" was redacted already, on ")
	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "r"}).Refused(t, "state_conflict", "run "+id+" was redacted on ")
	w.Admin.Get("/runs/"+id+"/rehearsal").Refused(t, "state_conflict", "run "+id+" was redacted; nothing of it is left to be compared")
	w.operator.Post("/runs", doc{"planId": plan}, keyed("again")).Refused(t, "state_conflict", "plan "+plan+" was redacted with its last run on ")
	w.Stop()
	w.Restart()
	w.holds(t, w.Admin, id).Is(t, "redacted", true)
}

// TestWhoHadAPartInARunDoesNotRedactIt, nor who made them or was made by them.
func TestWhoHadAPartInARunDoesNotRedactIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asker, _ := w.token(t, doc{"roles": []string{"OPERATOR", "ADMIN"}})
	decider, _ := w.token(t, doc{"roles": []string{"APPROVER", "ADMIN"}})
	plan := w.ready(t, refunding())
	id := asker.Post("/runs", doc{"planId": plan}, keyed("k")).OK(t).At("id").Text()
	of := w.approval(t, id).At("id").Text()
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict", "run "+id+" is WAITING_APPROVAL; it can be redacted once it has ended")
	decider.Post("/approvals/"+of+"/decision", doc{"decision": "APPROVED", "reason": "r"}).OK(t)
	w.reaches(t, id, "COMPLETED")
	made := w.As(asker.Post("/tokens", doc{"name": "made", "roles": []string{"ADMIN"}}).OK(t).At("token").Text())
	for name, who := range map[string]*harness.Client{"who asked": asker, "who decided": decider, "a token of who asked": made, "who made the token that asked": w.Admin} {
		if said := who.Post("/runs/"+id+"/redact", doc{"reason": "r"}); said.Status != 403 || said.JSON.At("error").Text() != "self_approval" {
			t.Errorf("%s: %d %s", name, said.Status, said.Raw)
		}
	}
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict", "can be redacted from ", " on, 720h0m0s after its end")
}

// TestAHeldRunIsNeitherRedactedNorArchived until the hold is ended, which weakens.
func TestAHeldRunIsNeitherRedactedNorArchived(t *testing.T) {
	t.Parallel()
	w := ownWorld(t, harness.Set("REDACT_AFTER", "0s"), harness.Set("RETENTION", "200ms"), harness.Set("ARCHIVE_DIR", filepath.Join(t.TempDir(), "archive")))
	w.shop.On("POST", "/refunds", harness.Answering(200, `{"ok":true}`))
	id := w.run(t, refunding()["steps"].([]any)[0].(doc))
	of := w.approval(t, id).At("id").Text()
	w.viewer.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "r"}).Refused(t, "role_required")
	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": ""}).Refused(t, "invalid_request")
	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "the auditors"}).OK(t).Is(t, "hold.reason", "the auditors").Is(t, "hold.byName", "test")
	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "again"}).OK(t).Is(t, "hold.reason", "the auditors")
	w.approver.Post("/approvals/"+of+"/decision", doc{"decision": "APPROVED", "reason": "r"}).OK(t)
	w.reaches(t, id, "COMPLETED")
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict", "run "+id+" is held since ", "; it can be redacted once the hold is ended")
	free := w.run(t, step("n", "note", nil))
	harness.Until(t, "the archiving of another run", func() bool { return w.Admin.Get("/runs/"+free).Status == 404 })
	w.Admin.Get("/runs/"+id).OK(t).Is(t, "hold.reason", "the auditors")
	w.holds(t, w.Admin, id)
	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": false, "reason": "done"}).OK(t)
	harness.Until(t, "its archiving", func() bool { return w.Admin.Get("/runs/"+id).Status == 404 })
	log := w.Admin.Get("/audit?action=runs.hold").OK(t).Is(t, "total", 3)
	log.Is(t, "items.0.weakens", true).Is(t, "items.0.after", "NOT_HELD").Is(t, "items.1.after", "HELD")

	w.tenantAdmin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "again"}).OK(t).Is(t, "hold.reason", "again")
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict", "run "+id+" is held since ", "; it can be redacted once the hold is ended")
}

// TestNoByteOfARedactedRunIsLeft in the store once it is compacted, in a backup, in the archive, which
// is written anew with both hashes in the log.
func TestNoByteOfARedactedRunIsLeft(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t)
	archive := filepath.Join(t.TempDir(), "archive")
	w := ownWorld(t, harness.Set("REDACT_AFTER", "0s"), harness.Set("ARCHIVE_DIR", archive))
	id, archived := w.marked(t), w.marked(t)
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).OK(t)
	w.Stop()
	w.Restart(harness.Set("RETENTION", "1ms"))
	harness.Until(t, "the archiving", func() bool { return w.Admin.Get("/runs/"+archived).Status == 404 })
	if n := holders(t, archive, marker); n != 1 {
		t.Fatalf("%d files hold the marker", n)
	}
	written := w.Admin.Get("/audit?action=runs.archive").OK(t).At("items.0.digest").Text()
	w.tenantAdmin.Post("/runs/"+archived+"/redact", doc{"reason": "r"}).OK(t).Is(t, "id", archived)
	harness.Until(t, "the archive to be written anew", func() bool { return holders(t, archive, marker) == 0 })
	log := w.Admin.Get("/audit?action=archive.redact").OK(t).Is(t, "total", 1).Is(t, "items.0.before", written)
	w.tenantAdmin.Post("/runs/"+archived+"/redact", doc{"reason": "r"}).Refused(t, "state_conflict")
	name := strings.TrimPrefix(log.At("items.0.subject").Text(), "archive/")
	path := filepath.Join(archive, filepath.FromSlash(name))
	if r := harness.Run(t, nil, "archive", "verify", path); r.Status != 0 || !strings.Contains(r.Out, log.At("items.0.after").Text()) {
		t.Errorf("archive verify: %+v", r)
	}
	if r := harness.Run(t, nil, "archive", "show", path, archived); r.Status != 0 || !strings.Contains(r.Out, `"redacted"`) {
		t.Errorf("archive show: %+v", r)
	}
	filed := harness.Run(t, nil, "archive", "show", path, archived, "--receipt")
	w.judge(t, 0, filed.Out, "--key", w.receiptKey(t)).Is(t, "runId", archived).Is(t, "redacted", true).Is(t, "masked", true).Is(t, "approved", 1)
	w.Admin.Get("/runs/"+archived).Refused(t, "not_found", name)
	if text, err := os.ReadFile(w.backedUp(t)); err != nil || bytes.Contains(text, []byte(marker)) {
		t.Errorf("the backup holds it: %v", err)
	}
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	w.Stop()
	copied := filepath.Join(t.TempDir(), "copy")
	if r := harness.Run(t, nil, "store", "copy", w.Store, copied); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	if n := holders(t, copied, marker); n != 0 {
		t.Errorf("%d files of the compacted store hold the marker", n)
	}
}

// holders counts the files below a folder that hold a value, unpacked where they are packed.
func holders(t *testing.T, dir, value string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		if z, errZ := gzip.NewReader(bytes.NewReader(text)); errZ == nil {
			text, _ = io.ReadAll(z)
		}
		if bytes.Contains(text, []byte(value)) || bytes.Contains(text, []byte(strings.ToLower(value))) {
			n++
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}

// TestARedactionIsCarriedOnAfterACrash: the process is killed while the archive is being written anew.
func TestARedactionIsCarriedOnAfterACrash(t *testing.T) {
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "archive")
	w := ownWorld(t, harness.Set("REDACT_AFTER", "0s"), harness.Set("ARCHIVE_DIR", archive))
	id := w.marked(t)
	w.Stop()
	w.Restart(harness.Set("RETENTION", "1ms"))
	harness.Until(t, "the archiving", func() bool { return w.Admin.Get("/runs/"+id).Status == 404 })
	w.tenantAdmin.Post("/runs/"+id+"/redact", doc{"reason": "r"}).OK(t)
	w.Kill()
	w.Restart()
	harness.Until(t, "the archive to be written anew", func() bool { return holders(t, archive, marker) == 0 })
	w.Admin.Get("/audit?action=archive.redact").OK(t).Is(t, "total", 1)
	w.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}
