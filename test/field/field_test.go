// Package field plays what the field has shown: receivers as they behave, API documents as vendors write them, requests as
// clients send them, and reports of faults. Each case is a file, which says what is set up, what is done, and what must hold by
// the specification and the contract; one runner plays them all against the binary. How to add one stands in CONTRIBUTING.md.
package field

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var report = flag.Bool("report", false, "print what each case is about, and whether it held")

func TestMain(m *testing.M) { harness.Main(m) }

// results are what the report prints.
var results struct {
	sync.Mutex
	lines []string
}

// TestTheFieldIsMetAsSpecified plays every case; in -short all but those that wait for a timeout of the service.
func TestTheFieldIsMetAsSpecified(t *testing.T) {
	if *report {
		t.Cleanup(printReport)
	}
	eachCase(t, []stimulus{asWritten}, func(t *testing.T, c *fieldCase, play func(stimulus) played) {
		p, verdict := play(asWritten), "held"
		for _, wrong := range p.wrong {
			t.Error(wrong)
			verdict = "FAILED"
		}
		for _, blind := range p.blind {
			t.Errorf("it can't fail: %s", blind)
		}
		results.Lock()
		defer results.Unlock()
		results.lines = append(results.lines, fmt.Sprintf("%-6s  %-48s  %s (%s)", verdict, c.name, c.About, strings.Join(c.Demands, "; ")))
	})
}

func printReport() {
	slices.SortFunc(results.lines, func(a, b string) int { return strings.Compare(a[8:], b[8:]) })
	for _, line := range results.lines {
		fmt.Println(line)
	}
	failed := 0
	for _, line := range results.lines {
		if strings.HasPrefix(line, "FAILED") {
			failed++
		}
	}
	fmt.Printf("%d cases, %d of them failed\n", len(results.lines), failed)
}

// TestEachCaseCanFail plays every case with another stimulus: a receiver that answers well or hangs up, requests and documents
// that ask for nothing of the kind. A case that holds with both is about nothing.
func TestEachCaseCanFail(t *testing.T) {
	eachCase(t, []stimulus{tame, rough}, func(t *testing.T, c *fieldCase, play func(stimulus) played) {
		if len(play(tame).wrong) == 0 && len(play(rough).wrong) == 0 {
			t.Error("it holds whatever happens")
		}
	})
}

// stimulus says whether a case is played as it is written.
type stimulus string

const (
	asWritten stimulus = "as written"
	tame      stimulus = "tame"
	rough     stimulus = "rough"
)

// eachCase gives each case what plays it with these stimuli, those of a kind on one server.
func eachCase(t *testing.T, hows []stimulus, then func(t *testing.T, c *fieldCase, play func(stimulus) played)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cases := chosen(t, kind, hows)
			server, places := open(t, len(hows)*len(cases), nil)
			for i, c := range cases {
				t.Run(strings.TrimPrefix(c.name, kind+"/"), func(t *testing.T) {
					t.Parallel()
					then(t, c, func(how stimulus) played {
						on, place := server, places[len(hows)*i+slices.Index(hows, how)]
						if c.Settings != nil {
							own, one := open(t, 1, c.Settings)
							on, place = own, one[0]
						}
						w, err := newWorld(t, how.of(c), on, place)
						if err != nil {
							t.Fatal(err)
						}
						return w.play()
					})
				})
			}
			t.Cleanup(func() { // also of places that no play took
				for _, p := range places {
					_ = p.listener.Close()
				}
			})
		})
	}
}

func chosen(t *testing.T, kind string, hows []stimulus) (out []*fieldCase) {
	t.Helper()
	all, err := readCases(kind)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if !c.Slow || !testing.Short() || hows[0] != asWritten {
			out = append(out, c)
		}
	}
	return out
}

// of is the case with this stimulus.
func (how stimulus) of(c *fieldCase) *fieldCase {
	if how == asWritten {
		return c
	}
	other := *c
	other.Play = slices.Clone(c.Play)
	instead := request{Path: "/v1/health"}
	document := "openapi: 3.0.3\ninfo: {title: T, version: '1'}\nservers: [{url: 'https://tame.example.com'}]\npaths: {/tame: {get: {operationId: tame, responses: {'204': {description: done}}}}}\n"
	if how == rough {
		instead, document = request{Path: "/v1/nowhere"}, "nonsense"
	}
	if c.Receiver != nil {
		other.Receiver = []answer{good}
		if how == rough {
			other.Receiver = []answer{{Then: "close"}}
		}
	}
	for i := range other.Play {
		other.Play[i] = how.step(other.Play[i], instead, document, c.Receiver != nil)
	}
	return &other
}

func (how stimulus) step(s step, instead request, document string, scripted bool) step {
	switch {
	case s.Request != nil && s.Expect != nil:
		s.As, s.Request = "nobody", &instead
	case s.Wire != nil:
		s.Wire = &wire{Send: text{{Of: "GET " + instead.Path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", Times: 1}}}
	case s.RPC != nil && s.Expect != nil:
		s.As, s.RPC, s.Request = "nobody", nil, &instead
	case s.Import != nil:
		s.Import = &reading{Document: text{{Of: document, Times: 1}}}
	case s.Call != nil && !scripted:
		s.Call = &call{Capability: map[stimulus]string{tame: "read", rough: "none"}[how]}
	}
	return s
}

// TestEachCaseSaysItsOwn: two cases about the same thing are one too many, and what a case is about is a sentence that a report
// can print.
func TestEachCaseSaysItsOwn(t *testing.T) {
	const atLeast = 250
	told := map[string]string{}
	for _, kind := range kinds {
		cases, err := readCases(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if other := told[c.About]; other != "" {
				t.Errorf("%s and %s are about the same: %s", other, c.name, c.About)
			}
			if told[c.About] = c.name; strings.Contains(c.About, "\n") || strings.HasSuffix(c.About, ".") {
				t.Errorf("%s: what it is about is no single sentence without its period: %q", c.name, c.About)
			}
		}
	}
	if len(told) < atLeast {
		t.Errorf("of %d cases %d are left", atLeast, len(told))
	}
}
