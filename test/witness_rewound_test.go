package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// witnessFigures are there where witnesses are set and have cosigned.
var witnessFigures = []string{
	"countersign_audit_cosigned_age_seconds", "countersign_audit_uncosigned_records", "countersign_audit_witness_age_seconds", "countersign_audit_rewound",
	"countersign_realm_audit_cosigned_age_seconds", "countersign_realm_audit_uncosigned_records", "countersign_realm_audit_witness_age_seconds", "countersign_realm_audit_rewound",
}

// guarded is a world whose logs two witnesses cosign.
type guarded struct {
	*listening
	one, two *witnessed
	asking   []string // flags of who verifies
	setting  harness.Setting
}

// on is the world of another server that goes on from the same store.
func (g *guarded) on(s *harness.Server) *guarded {
	w := *g.world
	w.Server = s
	w.operator, w.approver, w.viewer, w.tenantAdmin = g.operator.On(s), g.approver.On(s), g.viewer.On(s), g.tenantAdmin.On(s)
	return &guarded{&listening{&w, g.ears}, g.one, g.two, g.asking, g.setting}
}

// TestAnOperatorRewindsAndIsSeen: by who has the witnesses' keys, and by everybody who looks at the
// service, which goes on; a new epoch begins another log.
func TestAnOperatorRewindsAndIsSeen(t *testing.T) {
	t.Parallel()
	g := &guarded{listening: newListening(t), one: newWitnessed(t, "one.example"), two: newWitnessed(t, "two.example")}
	g.Admin.Put("/webhooks/guard", harness.With(g.hook("/guard", "audit_rewound"), "projectIds", []string{shop})).OK(t)
	contract := g.Admin.Get("/integrations/contract").OK(t)
	logKey, realmLogKey := contract.At("logKey").Text(), contract.At("realmLogKey").Text()
	g.setting = harness.Set("WITNESSES", g.one.URL+" "+g.one.vkey+","+g.two.URL+" "+g.two.vkey)
	g.asking = []string{"--witness", g.one.vkey, "--witness", g.two.vkey}
	g.Stop()
	before := g.on(g.Copy(t))
	g.one.knows(t, logKey, realmLogKey)
	g.two.knows(t, logKey, realmLogKey)

	g.Restart(g.setting)
	run := g.run(t, step("note", "note", doc{"text": "x"}))
	g.reaches(t, run, "COMPLETED")
	honest := g.cosignedReceipt(t, run)
	if v := g.judge(t, 0, honest, g.asking...); v.At("cosigned.epoch").String() != "0" || len(v.At("cosigned.by").Items()) != 2 || !strings.HasPrefix(v.At("summary").Text(), "of the first epoch of its log: valid") {
		t.Errorf("%s", v)
	}
	third := newWitnessed(t, "three.example")
	g.judge(t, 1, honest, append(g.asking, "--witness", third.vkey)...).Is(t, "section", "audit")
	g.judge(t, 0, honest, append(g.asking, "--witness", third.vkey, "--quorum", "2")...)
	g.audits(t, 0, g.asking...)
	harness.Until(t, "the figures are there", func() bool {
		text := g.Admin.Exposition()
		for _, figure := range witnessFigures {
			if !strings.Contains(text, "\n"+figure) {
				return false
			}
		}
		return true
	})
	g.Stop()
	g.doctor(t, 0, "the heads of 2 audit logs are cosigned")

	before.tells(t, honest)
	before.beginsAnew(t, honest)
}

// cosignedReceipt gets a receipt by the command that waits for a cosigned head, of both witnesses.
func (g *guarded) cosignedReceipt(t *testing.T, run string) (text string) {
	t.Helper()
	harness.Until(t, "both witnesses cosign the receipt", func() bool {
		file := filepath.Join(t.TempDir(), "receipt.json")
		if r := g.commands(t, "receipt", "get", run, "--cosigned", "-o", file); r.Status != 0 {
			t.Fatalf("%+v", r)
		}
		read, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = string(read)
		return strings.Contains(text, "— one.example") && strings.Contains(text, "— two.example")
	})
	return text
}

func (g *guarded) commands(t *testing.T, args ...string) harness.Result {
	t.Helper()
	return harness.Run(t, map[string]string{"COUNTERSIGN_URL": g.ForCommands(), "COUNTERSIGN_TOKEN": g.Admin.Token()}, args...)
}

func (g *guarded) audits(t *testing.T, status int, more ...string) harness.Result {
	t.Helper()
	r := g.commands(t, append([]string{"audit", "verify"}, more...)...)
	if r.Status != status {
		t.Errorf("audit verify: exit status %d\n%s%s", r.Status, r.Out, r.Err)
	}
	return r
}

func (g *guarded) doctor(t *testing.T, status int, want string) {
	t.Helper()
	if harness.OnDatabase != nil {
		status = 1 // the tests' database doesn't sync
	}
	if r := harness.Run(t, g.Settings(), "doctor"); r.Status != status || !strings.Contains(r.Out, want) {
		t.Errorf("doctor: exit status %d, want %s\n%s%s", r.Status, want, r.Out, r.Err)
	}
}

// tells starts an older copy of the store, which goes on and says so.
func (g *guarded) tells(t *testing.T, honest string) {
	t.Helper()
	g.MayLogErrors(true)
	g.Restart(g.setting)
	harness.Until(t, "both witnesses see it", func() bool {
		return strings.Contains(g.Admin.Get("/health").OK(t).String(), `"auditRewound":["one.example","two.example"]`)
	})
	g.Admin.Get("/health").OK(t).Is(t, "status", "ok")
	body, _ := g.told(t, "/guard", 1)
	body.Is(t, "type", "audit_rewound").Is(t, "data.status", "audit_rewound").Is(t, "data.runId", harness.Absent)
	if name := body.At("data.witness").Text(); name != "one.example" && name != "two.example" {
		t.Errorf("%s", body)
	}
	g.told(t, "/guard", 2)
	if found := g.Admin.Get("/audit?action=audit.rewound").OK(t); found.At("total").String() != "2" || !strings.Contains(found.At("items.0.reason").Text(), "the log is not what ") {
		t.Errorf("%s", found)
	}
	if !strings.Contains(g.Log(), "audit_rewound") {
		t.Error("the log says nothing")
	}
	if text := g.Admin.Exposition(); !strings.Contains(text, "countersign_audit_rewound 2") {
		t.Error("no figure says so")
	}
	if p := g.person(t, "ada@example.com", "VIEWER").Open("/"); !strings.Contains(p.Text, "audit_rewound: the audit log is not what one.example, two.example cosigned.") {
		t.Errorf("the console says nothing: %d %s", p.Status, p.Text)
	}
	run := g.run(t, step("note", "note", doc{"text": "another story"})) // it stops nothing
	g.reaches(t, run, "COMPLETED")
	g.judge(t, 1, receiptOf(t, g.Admin, run), g.asking...).Is(t, "section", "audit")
	g.judge(t, 0, honest, g.asking...) // who has an earlier receipt has what was cosigned
	g.audits(t, 1, g.asking...)
	if harness.OnDatabase == nil {
		if r := harness.Run(t, nil, "audit", "epoch", "--reason", "again", "--store", g.Settings()["SVC_PLATFORM_STORE"]); r.Status != 2 || !strings.Contains(r.Err, "stop it first") {
			t.Errorf("an epoch of a store in use: %+v", r)
		}
	}
	g.Stop()
	g.doctor(t, 1, "audit_rewound: since ")
}

// beginsAnew begins a new epoch, which verifiers say first, and take if it is named.
func (g *guarded) beginsAnew(t *testing.T, honest string) {
	t.Helper()
	store := g.Settings()["SVC_PLATFORM_STORE"]
	if r := harness.Run(t, nil, "audit", "epoch", "--reason", " ", "--store", store); r.Status != 2 || !strings.Contains(r.Err, "--reason is empty: say why a new epoch begins") {
		t.Errorf("%+v", r)
	}
	r := harness.Run(t, nil, "audit", "epoch", "--reason", "the disk was lost", "--store", store, "-o", "json")
	begun, err := harness.Parse([]byte(r.Out))
	if r.Status != 0 || err != nil {
		t.Fatalf("%+v", r)
	}
	begun.Is(t, "epoch", 1)
	var keys []string
	for _, l := range begun.At("logs").Items() {
		keys = append(keys, l.At("logKey").Text())
	}
	g.one.knows(t, keys...)
	g.two.knows(t, keys...)
	g.Restart(g.setting)
	record := g.Admin.Get("/audit?action=audit.epoch").OK(t).At("items.0")
	record.Is(t, "reason", "the disk was lost").Is(t, "actor", "system")
	if after := record.At("after").Text(); !strings.HasSuffix(after, "/1") || after != record.At("before").Text()+"/1" || record.At("subject").Text() != "log/"+after {
		t.Errorf("%s", record)
	}
	run := g.run(t, step("note", "note", doc{"text": "anew"}))
	g.reaches(t, run, "COMPLETED")
	text := g.cosignedReceipt(t, run)
	g.judge(t, 1, text, g.asking...).Is(t, "section", "audit")
	g.judge(t, 0, text, append(g.asking, "--epoch", "1")...).Is(t, "cosigned.epoch", 1)
	g.judge(t, 0, honest, append(g.asking, "--epoch", "1")...).Is(t, "cosigned.epoch", 0)
	if r := g.audits(t, 1, g.asking...); !strings.HasPrefix(r.Out, "epoch ") || !strings.Contains(r.Err, "is of epoch 1 of its log") {
		t.Errorf("%+v", r)
	}
	g.audits(t, 0, append(g.asking, "--epoch", "1")...)
	if got := g.Admin.Get("/health").OK(t); got.At("auditRewound").Exists() {
		t.Errorf("%s", got)
	}
	g.Admin.Get("/audit/checkpoint").OK(t).Is(t, "epoch", 1)
}
