package test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestFiguresTellA2xxFromWhatWasAskedFor: each capability has metrics of the quality of its answers.
func TestFiguresTellA2xxFromWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("GET", "/orders/none", harness.Answering(404, `{}`))
	w.shop.On("POST", "/effect", harness.Answering(500, `{}`))
	w.reaches(t, w.run(t, expecting(step("a", "note", nil), "ok", true), step("b", "note", nil)), "COMPLETED")
	w.reaches(t, w.run(t, expecting(step("a", "note", nil), "ok", false)), "FAILED")
	w.reaches(t, w.run(t, step("a", "lookup", doc{"resourceId": "none"})), "FAILED")
	for _, resolution := range []string{"CONFIRMED_COMPLETED", "CONFIRMED_COMPLETED", "ABANDON"} {
		run := w.run(t, step("a", "effect", nil))
		w.reaches(t, run, "RECOVERY_REQUIRED")
		w.approver.Post("/runs/"+run+"/reconcile", doc{"resolution": resolution, "evidence": "seen"}).OK(t)
	}
	refund := w.run(t, step("a", "refund", doc{"orderId": "o-1"}))
	w.approve(t, refund)
	w.reaches(t, refund, "COMPLETED")

	got := w.tenantAdmin.Figures(t)
	for figure, want := range map[string]map[string]int{
		"sent":         {"note": 3, "lookup": 1, "effect": 3, "refund": 1},
		"answered_2xx": {"note": 3, "lookup": 0, "effect": 0, "refund": 1},
		"verified":     {"note": 1, "effect": 0},
		"unverified":   {"note": 1, "refund": 1},
		"wrong":        {"note": 1, "lookup": 0, "refund": 0},
		"refused":      {"lookup": 1, "note": 0},
		"uncertain":    {"effect": 3, "note": 0},
		"not_sent":     {"effect": 0, "note": 0},
	} {
		for capability, n := range want {
			got.Is(t, "countersign_capability_"+figure+"_total."+capability+"."+shop, n)
		}
	}
	got.Is(t, "countersign_capability_reconciled_total.effect."+shop, doc{"done": 2, "not_done": 0, "abandoned": 1})
	got.Is(t, "countersign_capability_approval_wait_seconds.refund."+shop+".count", 1)
	got.Is(t, "countersign_capability_unknown_seconds.reviewer.effect."+shop+".count", 3)
	got.Is(t, "countersign_capability_approval_wait_seconds.note."+shop+".p95", nil)
}

// TestFiguresOfOneTenantSayNothingOfAnother: another tenant changes none of a tenant's metrics.
func TestFiguresOfOneTenantSayNothingOfAnother(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	acme, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	figures := func() string { return acme.Get("/metrics", harness.Header("Accept: text/plain")).Raw }
	before := figures()
	w.reaches(t, w.run(t, step("a", "note", nil)), "COMPLETED")
	if after := figures(); after != before || strings.Contains(after, shop) || !strings.Contains(after, "countersign_runs") {
		t.Errorf("before another tenant's run:\n%s\nafter it:\n%s", before, after)
	}
	for _, name := range exposed(before) {
		if !strings.HasPrefix(name, "countersign_") || strings.Contains(name, "http") || strings.Contains(name, "store") || strings.Contains(name, "build") {
			t.Errorf("a tenant's administrator sees %s, which is the process's", name)
		}
	}
}

var family = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)

// exposed are the names of the metrics in an exposition.
func exposed(text string) (names []string) {
	for _, m := range family.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestDashboardAndAlertsNameFiguresThatExist: dashboard and alerts use existing metrics, and every counter has a counter's name.
func TestDashboardAndAlertsNameFiguresThatExist(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.reaches(t, w.run(t, step("a", "note", nil)), "COMPLETED")
	text := w.Admin.Exposition() // a capability's figures are those of the process that called it
	known := map[string]bool{}
	for _, m := range family.FindAllStringSubmatch(text, -1) {
		known[m[1]] = true
		if strings.HasPrefix(m[1], "countersign_") && strings.HasSuffix(m[1], "_total") != (m[2] == "counter") {
			t.Errorf("%s is a %s", m[1], m[2])
		}
		if m[2] == "histogram" {
			known[m[1]+"_bucket"], known[m[1]+"_count"], known[m[1]+"_sum"] = true, true, true
		}
	}
	const ofDirectories = "countersign_store_lag_bytes" // a database has no journal of ours
	if onDatabase := harness.OnDatabase != nil; known[ofDirectories] == onDatabase {
		t.Errorf("%s is there: %t, on a database: %t", ofDirectories, known[ofDirectories], onDatabase)
	}
	known[ofDirectories] = true
	for _, name := range witnessFigures { // which TestAnOperatorRewindsAndIsSeen sees
		known[name] = true
	}
	asked := map[string]bool{}
	for _, file := range []string{"../deploy/grafana/countersign.json", "../deploy/prometheus/alerts.yaml", playedAlerts, "../docs/operations.md"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(countersign|process|go)_[a-z0-9_]+[a-z0-9]`).FindAllString(string(content), -1) {
			if asked[name] = true; !known[name] && name != "countersign_writer" { // a table
				t.Errorf("%s names %s: /metrics has no such figure", file, name)
			}
		}
	}
	alertsReadWhatIsGiven(t, text)
	for name := range known {
		if strings.HasPrefix(name, "countersign_capability_") && strings.HasSuffix(name, "_total") && !asked[name] {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

const playedAlerts = "../deploy/prometheus/alerts.test.yaml"

var (
	playedSeries = regexp.MustCompile(`series: '([a-z0-9_]+)\{([^}]*)\}'`)
	labelName    = regexp.MustCompile(`([a-z_]+)=`)
)

// alertsReadWhatIsGiven sees that the figures by which the alerts are tested have the labels that the
// service gives them.
func alertsReadWhatIsGiven(t *testing.T, text string) {
	t.Helper()
	content, err := os.ReadFile(playedAlerts)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range playedSeries.FindAllStringSubmatch(string(content), -1) {
		given := samplesOf(text, m[1])
		if len(given) == 0 {
			continue // a figure that is there later, whose name is known
		}
		compared++
		if !slices.ContainsFunc(given, func(sample string) bool { return hasLabels(sample, m[2]) }) {
			t.Errorf("the alerts are tested with %s, and the service gives %v", m[0], given)
		}
	}
	if compared < 10 {
		t.Errorf("only %d series of the alerts' tests could be compared", compared)
	}
}

// samplesOf are the labels of a metric's samples.
func samplesOf(text, metric string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^`+metric+`(?:\{([^}]*)\})? `).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// hasLabels reports whether a sample has these labels; job and instance are Prometheus's own.
func hasLabels(sample, labels string) bool {
	for _, m := range labelName.FindAllStringSubmatch(labels, -1) {
		if m[1] != "job" && m[1] != "instance" && !strings.Contains(sample, m[1]+"=") {
			return false
		}
	}
	return true
}
