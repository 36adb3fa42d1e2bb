package crash

import (
	"fmt"
	"strings"
)

// checkRecords compares the state of all records with the audit log, also for requests without an answer: each change
// exists with its audit record, or neither does.
func (l *life) checkRecords() {
	told := map[string]json{} // the latest audit record, by subject and kind of change
	count := map[string]int{}
	for _, r := range l.picture.log.records {
		if r.At("outcome").Text() != "done" {
			continue
		}
		action, subject := r.At("action").Text(), r.At("subject").Text()
		count[action]++
		count[action+" "+subject+"."+r.At("step").Text()]++
		switch {
		case action == "runs.start" || strings.HasPrefix(action, "run."):
			told["status of "+subject] = r
		case action == "projects.toggle":
			told["enabled of "+subject] = r
		case action == "projects.conformance":
			told["receiver of "+subject] = r
		case action != "projects.health_check":
			told["revision of "+subject] = r
		}
	}
	l.checkHeads(told)
	l.checkMoves(told, count)
	l.checkMade(count)
}

// checkHeads: revision, suspension, admission and enabling.
func (l *life) checkHeads(told map[string]json) {
	for _, kind := range []string{"model", "project", "agent", "team"} {
		for _, head := range l.all("/" + kind + "s") {
			subject := kind + "/" + head.At("id").Text()
			is := fmt.Sprintf("revision %s", head.At("revision"))
			if head.At("suspended").String() == "true" {
				is += ", suspended"
			}
			if kind == "agent" {
				is += ", " + head.At("status").Text()
			}
			if says := told["revision of "+subject].At("after").Text(); says != is {
				l.fault("A2: %s is at %s; its audit log says %s", subject, is, says)
			}
			if kind == "project" {
				l.checkReceiver(told, head, subject)
			}
			enabled := head.At("enabled").String() == "true"
			if says := told["enabled of "+subject]; kind == "project" && enabled != (says.At("after").Text() == "enabled") && l.sinceEdit(told, subject) {
				l.fault("A2: %s is enabled %t; its audit log says %s", subject, enabled, says)
			}
		}
	}
}

// checkReceiver checks the last conformance verdict, if no edit came after it.
func (l *life) checkReceiver(told map[string]json, head json, subject string) {
	r := told["receiver of "+subject]
	is := ""
	for _, c := range head.At("conformance").Items() {
		is = c.At("capability").Text() + map[string]string{"true": " proven", "false": " declared"}[c.At("proven").String()]
	}
	says := r.At("after").Text()
	if r.At("seq").Int() < told["revision of "+subject].At("seq").Int() {
		says = ""
	}
	if is != says {
		l.fault("A2: of %s's receivers it is known %q; its audit log says %q", subject, is, says)
	}
}

// sinceEdit reports whether a project's latest toggle came after its latest edit, which disables it without a separate
// audit record.
func (l *life) sinceEdit(told map[string]json, subject string) bool {
	toggle := told["enabled of "+subject]
	return toggle.Exists() && toggle.At("seq").Int() > told["revision of "+subject].At("seq").Int()
}

// checkMoves: a run's status, its attempts and its approvals.
func (l *life) checkMoves(told map[string]json, count map[string]int) {
	asked := map[string]int{}
	decided := map[string]int{}
	for _, a := range l.picture.approvals {
		step := "run/" + a.At("runId").Text() + "." + a.At("stepId").Text()
		asked[step]++
		if a.At("status").Text() != "PENDING" {
			decided[step]++
		}
	}
	for id, run := range l.picture.runs {
		subject := "run/" + id
		if says := told["status of "+subject].At("after").Text(); says != run.At("status").Text() {
			l.fault("A2: run %s is %s; its audit log says %s", id, run.At("status"), says)
		}
		for _, s := range run.At("steps").Items() {
			step := subject + "." + s.At("id").Text()
			if sent := count["step.send "+step]; sent != s.At("attempt").Int() {
				l.fault("A2: %s was sent %s times; its audit log says %d", step, s.At("attempt"), sent)
			}
			if n := count["approval.request "+step]; n != asked[step] {
				l.fault("A2: %s has %d approvals; its audit log says %d", step, asked[step], n)
			}
			if n := count["approvals.decide "+step] + count["approval.close "+step]; n != decided[step] {
				l.fault("A2: %s has %d approvals decided; its audit log says %d", step, decided[step], n)
			}
		}
	}
}

// checkMade: there are as many plans, runs and tokens as the log says were created. An agent or team run also creates a
// plan.
func (l *life) checkMade(count map[string]int) {
	crews := 0
	for _, run := range l.picture.runs {
		if run.At("agentId").Exists() || run.At("teamId").Exists() {
			crews++
		}
	}
	for path, want := range map[string]int{
		"/plans":  count["plans.create"] + count["plans.compile"] + crews,
		"/runs":   count["runs.start"],
		"/tokens": count["tokens.create"],
	} {
		if total := l.Admin.Get(path + "?limit=1").OK(l.t).At("total").Int(); total != want {
			l.fault("A2: %s lists %d; the audit log says %d", path, total, want)
		}
	}
}

// all lists a whole collection.
func (l *life) all(path string) (items []json) {
	l.t.Helper()
	for {
		page := l.Admin.Get(fmt.Sprintf("%s?limit=200&offset=%d", path, len(items))).OK(l.t)
		items = append(items, page.At("items").Items()...)
		if page.At("nextOffset").Int() == 0 {
			return items
		}
	}
}
