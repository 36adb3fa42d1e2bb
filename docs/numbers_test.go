package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// stated are numbers that pages repeat in their sentences, each by the words around it, and what
// they are: a limit as it is compiled, or a figure of the page of measurements.
var stated = []struct {
	thing, words string
	is           any
}{
	{"the life of a token in days", `(?i)(?:tokens? (?:lives|is good for)|ends by itself after|it lives) (\d+) days at most`, countersign.MaxTokenDays},
	{"the life of a sign-in link in minutes", `(?i)good for (\d+) minutes (?:by default|unless)`, countersign.LinkMinutes},
	{"the longest life of a sign-in link in hours", `(?i)minutes by default, (\d+) hours at most`, countersign.MaxLinkMinutes / 60},
	{"instances of an agent", `(?i)at most ([\d,]+) instances`, countersign.MaxInstances},
	{"days after which an instance is dropped", `(?i)unheard for (\d+) days`, int(countersign.InstanceLife.Hours() / 24)},
	{"seconds between heartbeats", `(?i)(?:heartbeat\*{0,2}|lives)[^.|\n]{0,20} (?:about )?every (\d+) s`, int(countersign.HeartbeatCadence.Seconds())},
	{"heartbeats' seconds between heartbeats", `(?i)says every (\d+) seconds that it lives`, int(countersign.HeartbeatCadence.Seconds())},
	{"seconds that a heartbeat's clock may be away", `(?i)a clock more than (\d+) s away`, int(countersign.HeartbeatWindow.Seconds())},
	{"minutes that a call's clock may be away", `(?i)(?:timestamp that is|clocks are) more than (\d+) minutes`, int(countersign.SignatureWindow.Minutes())},
	{"runs of an agent that wait for approval", `(?i)\[?at most (\d+)\]?\S* LIVE runs of an agent`, countersign.MaxAskingRuns},
	{"hours in which a call finds its ended run", `(?i)(\d+) hours after its end`, int(countersign.RepeatedCall.Hours())},
	{"seconds that a call over MCP waits", "`waitSeconds` \\(0 to (\\d+)\\)", int(countersign.MaxCallWait.Seconds())},
	{"budgets of a capability", `(?i)budgets[^|\n]*\. Up to (\d+) each`, countersign.MaxBudgets},
	{"approvals that a rule asks for", "\\| `approvals` \\| how many different deciders must approve, 1 to (\\d+)", countersign.MaxApprovals},
	{"runs at once", "`SVC_PLATFORM_MAX_ACTIVE_RUNS` is (\\d+) by default", countersign.MaxActiveRuns},
	{"gigabytes of a million runs", `(?i)a million (?:finished )?runs[^.|\n]*?(\d+) GB`, 3},
	{"gigabytes of a million runs, as measured", `(?i)The store has (\d+)\.\d GB`, 3},
}

// TestPagesSayOneNumberOfOneThing: of what several pages name, each says what is so.
func TestPagesSayOneNumberOfOneThing(t *testing.T) {
	texts := markdown(t)
	delete(texts, "CHANGELOG.md") // it says what was so
	for _, s := range stated {
		words, said := regexp.MustCompile(s.words), 0
		for page, text := range texts {
			for _, m := range words.FindAllStringSubmatch(text, -1) {
				if said++; strings.ReplaceAll(m[1], ",", "") != fmt.Sprint(s.is) {
					t.Errorf("%s says %q: %s is %v", page, m[0], s.thing, s.is)
				}
			}
		}
		if said == 0 {
			t.Errorf("no page says %s in these words any more", s.thing)
		}
	}
}

// TestSentencesQuoteMeasurementsAsTheyStand: steps a second that other pages write out are rows of
// the page of measurements.
func TestSentencesQuoteMeasurementsAsTheyStand(t *testing.T) {
	measurements := page(t, "performance.md")
	quoted := regexp.MustCompile(`((?:[\d,]+, )+[\d,]+ and [\d,]+|[\d,]+, [\d,]+ and [\d,]+) (?:steps a second|with \d+ ms between)`)
	found := quoted.FindAllStringSubmatch(page(t, "how-to/choose-a-store.md"), -1)
	if len(found) < 2 {
		t.Fatalf("%d quotations are found", len(found))
	}
	for _, m := range found {
		for _, number := range regexp.MustCompile(`\d+(?:,\d{3})*`).FindAllString(m[1], -1) {
			if !strings.Contains(measurements, "| "+strings.ReplaceAll(number, ",", "")+" ") {
				t.Errorf("no row of the measurements has %s, which choose-a-store quotes", number)
			}
		}
	}
}
