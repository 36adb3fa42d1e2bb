package receipt

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// resendAt gives the record of a sending another time, in a log of its own.
func resendAt(f *Facts, at string) {
	sent := regexp.MustCompile(`"at":"[^"]*"`)
	var leaves []tlog.Hash
	for i, r := range f.Log.Records {
		r.Text = regexp.MustCompile(`^\{"seq":[0-9]+`).ReplaceAllString(r.Text, `{"seq":`+strconv.Itoa(i))
		if strings.Contains(r.Text, `"action":"step.send"`) {
			r.Text = sent.ReplaceAllString(r.Text, `"at":"`+at+`"`)
		}
		f.Log.Records[i].Text = r.Text
		leaves = append(leaves, tlog.RecordHash([]byte(r.Text)))
	}
	relog(f, leaves)
}

// relog proves the records of a log that begins with them.
func relog(f *Facts, leaves []tlog.Hash) tlog.HashReader {
	var stored []tlog.Hash
	read := tlog.HashReaderFunc(func(at []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(at))
		for i, x := range at {
			out[i] = stored[x]
		}
		return out, nil
	})
	for i := range leaves {
		more, err := tlog.StoredHashesForRecordHash(int64(i), leaves[i], read)
		if err != nil {
			panic(err)
		}
		stored = append(stored, more...)
	}
	root, err := tlog.TreeHash(int64(len(leaves)), read)
	if err != nil {
		panic(err)
	}
	f.Log.Size, f.Log.Root = int64(len(leaves)), fmt.Sprintf("%x", root[:])
	for i := range f.Log.Records {
		proof, err := tlog.ProveRecord(f.Log.Size, int64(i), read)
		if err != nil {
			panic(err)
		}
		f.Log.Records[i].Proof = []string{}
		for _, h := range proof {
			f.Log.Records[i].Proof = append(f.Log.Records[i].Proof, fmt.Sprintf("%x", h[:]))
		}
	}
	return read
}

// signedOnly are the members that docs/reference/receipt.md says only the signature
// proves, as they stand there: `approvals[].title`, or with all that is in it `run.x.*`.
func signedOnly(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "receipt.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(text), "<!-- only signed -->")
	list, _, ended := strings.Cut(list, "<!-- end -->")
	if !found || !ended {
		t.Fatal("the specification has no list of what is only signed")
	}
	out := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z]+[a-zA-Z.\\[\\]*]*)`").FindAllStringSubmatch(list, -1) {
		out[m[1]] = true
	}
	return out
}

// isSignedOnly looks for a path, or for one that it is in.
func isSignedOnly(list map[string]bool, path string) bool {
	if list[path] {
		return true
	}
	for at := len(path); at > 0; at = strings.LastIndexAny(path[:at], ".[") {
		if list[path[:at]+".*"] {
			return true
		}
	}
	return false
}

// alteration is one member made another.
type alteration struct {
	path string // without the numbers of elements
	how  string
	make func() // in the parsed section
	undo func()
}

// alterations are all of a value, each member in it one by one.
func alterations(path string, v any, set func(any)) (out []alteration) {
	other := func(how string, made any) {
		out = append(out, alteration{path, how, func() { set(made) }, func() { set(v) }})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			out = append(out, alterations(path+"."+name, member, func(made any) { v[name] = made })...)
			if !isNothing(member) {
				out = append(out, alteration{path + "." + name, "left out", func() { delete(v, name) }, func() { v[name] = member }})
			}
		}
	case []any:
		for i := range v {
			out = append(out, alterations(path+"[]", v[i], func(made any) { v[i] = made })...)
		}
		if len(v) > 0 {
			other("its last element left out", v[:len(v)-1])
			other("its last element again", append(slices.Clone(v), v[len(v)-1]))
		}
	case string:
		other("other text", v+"x")
		if timeForm.MatchString(v) {
			other("another time", "2020"+v[4:])
		}
	case json.Number:
		other("another number", json.Number("7"+strings.TrimLeft(v.String(), "-")))
	case bool:
		other("the contrary", !v)
	}
	return out
}

// isNothing reports what reads as if it were not there.
func isNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, member := range v {
			if member != nil {
				return false
			}
		}
		return true
	}
	return false
}

// forgedMembers are receipts with one member altered, signed anew.
func forgedMembers(t *testing.T, file []byte, judge func(path, how string, seal func() []byte)) {
	t.Helper()
	sections := sectionsOf(file)
	for _, name := range Sections {
		whole := parse(sections[name]).v
		for _, a := range alterations(name, whole, func(made any) { whole = made }) {
			judge(a.path, a.how, func() []byte {
				a.make()
				defer a.undo()
				text, err := json.Marshal(whole)
				if err != nil {
					t.Fatal(err)
				}
				altered := maps.Clone(sections)
				altered[name] = countersign.RawValue(string(text)).Canonical()
				return Seal(formatOf(file), altered, keyOf(1))
			})
		}
	}
}

// unmaskedRuns are the receipts whose members are altered, one by one: of runs that were
// approved, rejected, reconciled, rehearsed and cancelled.
func unmaskedRuns(t *testing.T) (out [][]byte) {
	t.Helper()
	seen := map[string]bool{}
	for seed := range uint64(400) {
		f := draw(t, seed)
		kind := string(f.Run.Status) + f.Run.Mode
		for _, s := range f.Run.Steps {
			if s.Reconciliation != nil {
				kind += "reconciled"
			}
		}
		for _, a := range f.Approvals {
			kind += string(a.Status) + a.DecisionAssertion
		}
		if f.Masked || len(f.Run.Steps) != 1 || seen[kind] {
			continue
		}
		seen[kind] = true
		out = append(out, built(t, f, keyOf(1)))
	}
	return out
}

// TestTimesAreOfOneForm: the same for both verifiers.
func TestTimesAreOfOneForm(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "times.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if got := (node{value}).moment() != ""; kind != "#" && got != (kind == "good") {
			t.Errorf("%q: taken %t, %s expected", value, got, kind)
		}
	}
}

// mayBeAskedByBudget reports a receipt with a step that has a budget, or an agent who may
// have one, and whose rules let it out: what was used of a budget stands in no receipt.
func mayBeAskedByBudget(file []byte) bool {
	sections := sectionsOf(file)
	c := &claims{plan: parse(sections[Plan]), run: parse(sections[Run]), statement: parse(sections[Statement])}
	return slices.ContainsFunc(c.steps(), func(s node) bool {
		v, _ := c.verdict(s)
		return v.Then == countersign.RuleAllow && mayHaveBudget(s, c.capability(s))
	})
}

var membersSeed = flag.Uint64("members-seed", 0, "draws the members that the short form leaves out; 0: others each time")

// TestAMemberThatTheSpecificationCallsProvenCantBeAltered: in no receipt, by who has the
// key. The short form alters those of three kinds of run, and of the others leaves out a
// drawn third.
func TestAMemberThatTheSpecificationCallsProvenCantBeAltered(t *testing.T) {
	t.Parallel()
	list := signedOnly(t)
	seed := *membersSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with -members-seed %d", seed)
	drawn := newRand(seed)
	for i, file := range unmaskedRuns(t) {
		forgedMembers(t, file, func(path, how string, seal func() []byte) {
			if testing.Short() && i >= 3 && (!strings.HasSuffix(how, "left out") || drawn.IntN(3) > 0) || isSignedOnly(list, path) {
				return
			}
			if path == "run.steps[].approvalRequired" && mayBeAskedByBudget(file) {
				return
			}
			if Verify(seal(), public(keyOf(1))).OK {
				t.Errorf("%s, %s: it verifies, and the specification doesn't say that only the signature proves it", path, how)
			}
		})
	}
}
