package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// measured finds the rows of a table whose cells are figures that a benchmark printed.
var measured = regexp.MustCompile(`(?m)^\| (?:Directory|PostgreSQL, .*?) \| \d+ \| ([\d,]+) \| (\d+ MiB) \|$`)

// TestFiguresOfStepsAreThoseOfThePerformancePage: a page that repeats a figure says what the page
// of measurements says, whose tables are what the benchmarks print.
func TestFiguresOfStepsAreThoseOfThePerformancePage(t *testing.T) {
	all := markdown(t)
	rows := measured.FindAllStringSubmatch(all["docs/how-to/choose-a-store.md"], -1)
	if len(rows) != 5 {
		t.Fatalf("%d rows of figures were found, not 5", len(rows))
	}
	printed := strings.Split(all["docs/performance.md"], "\n")
	for _, row := range rows {
		steps := strings.ReplaceAll(row[1], ",", "")
		found := false
		for _, line := range printed {
			found = found || strings.HasPrefix(line, "| Countersign") && strings.Contains(line, "| "+steps+" (") && strings.Contains(line, "| "+row[2]+" |")
		}
		if !found {
			t.Errorf("no row of the performance page has %s steps and %s: %s", steps, row[2], row[0])
		}
	}
}

// settled are questions on which pages have contradicted each other: what no page may say of
// them any more, and which page has the answer.
var settled = []struct{ question, untrue, answer string }{
	{"replicas and throughput", `(?i)(gives?|is|are) no (more|way to more) throughput\.|not throughput|don't add to these figures|each on a machine of its own, two make`, "how-to/choose-a-store.md, What each does a second"},
	{"what was measured of replicas", `(?i)replicas[^.\n]*\b(each )?on (a machine|machines) of (its|their) own`, "performance.md, Replicas with processors of their own"},
	{"how much a million runs take", `a million (finished )?runs[^.\n]*(about|some) 6 GB`, "performance.md, A million runs in the store"},
	{"on which machine figures were made", `(?i)all tables were made on a machine that did nothing else`, "performance.md"},
	{"who the second prefix is for", `(?i)for older SDKs`, "api.md"},
	{"what is sent again", `(?i)there is no retry\b`, "what-it-does-not-do.md, Calls"},
	{"what warns of plain HTTP", `(?i)without TLS prints a warning\.`, "what-it-does-not-do.md, TLS"},
	{"what is released", `(?i)(since|with|in) the release 0\.1\b|\b0\.1 was released`, "how-to/install.md, What a release has"},
	{"what speaks OAuth 2", `(?i)\bno OAuth( 2)?\b`, "adapter.md, OAuth 2"},
	{"what is deleted", `(?i)nothing is ever deleted`, "how-to/archive-runs.md"},
	{"the first receipt after a start", `(?i)reads the (tenant's )?whole audit log, about`, "performance.md, A million runs in the store"},
	{"how much has been tried", `some hundred thousand runs`, "performance.md, A million runs in the store"},
	{"which runs have receipts", `(?i)every run ends in a signed receipt`, "reference/receipt.md"},
	{"who approves", `(?i)a second person approves`, "how-to/approve.md"},
	{"which events there are", `(?i)\bthree events\b`, "how-to/get-notified.md"},
	{"packages, of which none is published", `pip install countersign\b|npm install @countersign|go get github\.com/countersign`, "how-to/install.md, From a clone"},
	{"which commands tests run", `(?i)every command on them is run by a test\b`, "README.md"},
}

// TestNoPageContradictsWhereTheAnswerStands names the page and the sentence.
func TestNoPageContradictsWhereTheAnswerStands(t *testing.T) {
	texts := markdown(t)
	delete(texts, "CHANGELOG.md") // it says what was so
	for _, s := range settled {
		untrue := regexp.MustCompile(s.untrue)
		for page, text := range texts {
			if found := untrue.FindString(text); found != "" {
				t.Errorf("%s says %q of %s; the answer stands in %s", page, found, s.question, s.answer)
			}
		}
	}
}

// riddles are words of ours that readers had to read twice, and those that they know.
var riddles = []struct{ ours, known string }{
	{`(?i)\blets? (it |them )?out\b`, "releases"},
	{`(?i)\b(a|the|its) yes\b`, "an approval"},
	{`(?i)what stands where`, "where things are"},
	{`(?i)whose four eyes`, "who may approve"},
	{`(?i)two tenants shall`, "are to"},
	{`(?i)does not spare people`, "doesn't save people work"},
	{`(?i)count with the throughput`, "expect"},
	{`(?i)what is said to be so by default`, "marked 'by default'"},
	{`(?i)two runs are two keys`, "each run has its own key"},
	{`(?i)whose each credential variable is\W*and`, "which tenant owns it"},
}

// TestPagesUseWordsThatReadersKnow; the table of moves, which the code prints, apart, and the pages of
// attacks and incidents.
func TestPagesUseWordsThatReadersKnow(t *testing.T) {
	texts := markdown(t)
	for _, apart := range []string{"CHANGELOG.md", "docs/threat-model.md", "docs/incidents.md", "docs/assurance.md"} {
		delete(texts, apart)
	}
	for _, r := range riddles {
		ours := regexp.MustCompile(r.ours)
		for page, text := range texts {
			if found := ours.FindString(strings.ReplaceAll(text, "probe let out", "")); found != "" {
				t.Errorf("%s says %q: say %s", page, found, r.known)
			}
		}
	}
}
