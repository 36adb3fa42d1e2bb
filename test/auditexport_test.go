package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExportIsTheWholeLogAndVerifiesWithoutTheService: verification finds records that were changed, removed or moved in the
// file.
func TestExportIsTheWholeLogAndVerifiesWithoutTheService(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	for i := range 450 { // several batches
		s.Admin.Put(fmt.Sprintf("/users/user-%03d@marlow.example", i), doc{"roles": []string{"VIEWER"}}).OK(t)
	}
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	s.command(t, 0, "audit", "export", "-o", file, "--profile", "admin")
	text := readText(t, file)
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	kept := s.asked(t, "audit", "verify", "--profile", "admin")
	total := kept.At("records").Int()
	if len(lines) != total+1 || !strings.Contains(lines[total], kept.At("head").Text()) {
		t.Fatalf("%d lines of %d records, the last is %s", len(lines), total, lines[len(lines)-1])
	}
	for i, line := range lines[:total] {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"seq":%d,`, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
	s.refusesWhatIsThere(t, file)
	s.tampersWith(t, lines)

	verify := func(status int, args ...string) string {
		r := s.offline(t, status, append([]string{"audit", "verify", file}, args...)...)
		return r
	}
	s.provesNothingFiltered(t, lines)
	prints(t, verify(0), "intact        yes", kept.At("head").Text())
	prints(t, verify(0, "--head", kept.At("head").Text(), "--records", fmt.Sprint(total)), "yes")
	prints(t, verify(1, "--head", kept.At("head").Text(), "--records", fmt.Sprint(total-1)), "not the one that was kept")
}

// refusesWhatIsThere: an export never replaces a file, and creates no directory.
func (s *shell) refusesWhatIsThere(t *testing.T, file string) {
	t.Helper()
	prints(t, s.command(t, 2, "audit", "export", "-o", file, "--profile", "admin").Err, "exists")
	prints(t, s.command(t, 2, "audit", "export", "-o", file+".folder/log.jsonl", "--profile", "admin").Err, "no such file or directory")
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v beside the export, %v", entries, err)
	}
}

func (s *shell) tampersWith(t *testing.T, lines []string) {
	t.Helper()
	whole := func(part ...string) string { return strings.Join(part, "") }
	n := len(lines) - 1
	for name, c := range map[string]struct{ text, says string }{
		"a word changed":        {strings.Replace(whole(lines...), `"outcome":"done"`, `"outcome":"gone"`, 1), "line 1"},
		"a record left out":     {whole(append(append([]string{}, lines[:7]...), lines[8:]...)...), "the last line says"},
		"two records exchanged": {whole(append([]string{lines[1], lines[0]}, lines[2:]...)...), "record 0 follows record 1"},
		"a record twice":        {whole(append([]string{lines[0]}, lines...)...), "follows record"},
		"broken off":            {whole(lines[:n]...), "broke off"},
		"half a line":           {whole(lines[:n]...)[:300], "it is no audit record"},
		"another log's end":     {whole(append(append([]string{}, lines[:n]...), strings.Replace(lines[n], `"head":"`, `"head":"0`, 1))...), "have the head"},
		"something behind":      {whole(lines...) + "\n{}\n", "behind the last line"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if said := s.offline(t, 1, "audit", "verify", path); !strings.Contains(said, c.says) || !strings.Contains(said, "intact        no") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// provesNothingFiltered: an attacker who marks a whole export as filtered can remove records and rewrite others, each with a
// matching hash.
func (s *shell) provesNothingFiltered(t *testing.T, lines []string) {
	t.Helper()
	end := strings.Replace(lines[len(lines)-1], `"filtered":false`, `"filtered":true`, 1)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-1], "")+end), 0o600); err != nil {
		t.Fatal(err)
	}
	said := s.offline(t, 6, "audit", "verify", path, "-o", "json")
	if !strings.Contains(said, `"intact": null`) || !strings.Contains(said, `"notProven": "`) {
		t.Errorf("a whole export that says it is filtered: %s", said)
	}
}

// TestFilteredExportHasWhatTheListHas, and is marked as filtered.
func TestFilteredExportHasWhatTheListHas(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	for i := range 260 {
		s.Admin.Put(fmt.Sprintf("/users/user-%03d@marlow.example", i%2), doc{"roles": []string{"VIEWER"}}).OK(t)
	}
	for _, filter := range [][]string{
		{"--action", "users.write"}, {"--subject", "user/user-001@marlow.example"}, {"--since", "1h"}, {"--action", "users.write", "--since", "1h"}, {"--subject", "none"}, {"--realm"},
	} {
		args := slices.Concat(filter, []string{"--profile", "admin"})
		listed := s.asked(t, append([]string{"audit", "list", "--all"}, args...)...).At("items").Items()
		out := strings.TrimSuffix(s.command(t, 0, append([]string{"audit", "export"}, args...)...).Out, "\n")
		lines := strings.Split(out, "\n")
		if len(lines) != len(listed)+1 {
			t.Errorf("%v: %d lines for %d records", filter, len(lines), len(listed))
			continue
		}
		for i, r := range listed { // the newest comes first
			if want := r.At("hash").Text(); !strings.Contains(lines[len(listed)-1-i], want) {
				t.Errorf("%v: record %d is not in its place", filter, i)
			}
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(out+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if filter[0] == "--realm" {
			prints(t, s.offline(t, 0, "audit", "verify", path), "intact        yes")
			continue
		}
		prints(t, s.offline(t, 6, "audit", "verify", path), "intact        not proven", "left some out", "each record against its own hash")
		prints(t, s.offline(t, 2, "audit", "verify", path, "--head", strings.Repeat("0", 64), "--records", "1"), "a filtered export can't be compared with a head")
	}
}

// offline runs a command without a reachable service.
func (s *shell) offline(t *testing.T, status int, args ...string) string {
	t.Helper()
	r := s.command(t, status, append(args, "--url", "http://127.0.0.1:1")...)
	return r.Out + r.Err
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestACollectorGoesOnWhereItStopped: no record is missing or repeated.
func TestACollectorGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := ownShell(t)
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s.Admin.Put(fmt.Sprintf("/users/user-%03d@marlow.example", i), doc{"roles": []string{"VIEWER"}}).OK(t)
		}
	}
	took := 0
	collect := func(query string) (last int) {
		t.Helper()
		lines := strings.Split(strings.TrimSpace(s.Admin.Do("GET", "/audit/export"+query, nil, "Accept: application/x-ndjson").Raw), "\n")
		for _, line := range lines[:len(lines)-1] {
			if !strings.HasPrefix(line, fmt.Sprintf(`{"seq":%d,`, took)) {
				t.Fatalf("record %d is %s", took, line)
			}
			took++
		}
		if query != "" && !strings.Contains(lines[len(lines)-1], `"filtered":true`) {
			t.Errorf("the last line is %s", lines[len(lines)-1])
		}
		return took - 1
	}
	last := collect("")
	add(0, 5)
	last = collect(fmt.Sprintf("?after=%d", last))
	if again := collect(fmt.Sprintf("?after=%d", last)); again != last {
		t.Errorf("without anything new it is %d after %d", again, last)
	}
	add(5, 240) // more than a batch
	last = collect(fmt.Sprintf("?after=%d", last))
	if total := s.Admin.Get("/audit").OK(t).At("total").Int(); total != took || last != took-1 {
		t.Errorf("%d of %d records were collected", took, total)
	}
	s.Admin.Get(fmt.Sprintf("/audit/export?after=%d", last+1)).Refused(t, "state_conflict", "after")
	for _, bad := range []string{"-1", "x", "1.0", "", "99999999999999999999"} {
		s.Admin.Get("/audit/export?after="+bad).Refused(t, "invalid_request", "after")
	}
	s.Admin.Get("/audit?after=1").Refused(t, "invalid_request", "after")
	one := s.command(t, 0, "audit", "export", "--after", fmt.Sprint(last-1), "--profile", "admin").Out
	if strings.Count(one, "\n") != 2 || !strings.HasPrefix(one, fmt.Sprintf(`{"seq":%d,`, last)) {
		t.Errorf("the command wrote %s", one)
	}
}
