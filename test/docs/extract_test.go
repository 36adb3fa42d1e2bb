package docs

import (
	"strings"
	"testing"
)

func TestABlockIsWhatTheCommentBeforeItSays(t *testing.T) {
	page := "# P\n\n```sh\necho a\n```\n\n<!-- expect -->\n```text\na\n```\n\n<!-- file: a/b.json -->\n```json\n{}\n```\n\n<!-- no-run: it opens a browser -->\n```sh\nopen x\n```\n\n```text\nfree\n```\n"
	all, err := blocks(page)
	if err != nil {
		t.Fatal(err)
	}
	want := []kind{run, expect, write, skip, shown}
	for i, b := range all {
		if b.kind != want[i] {
			t.Errorf("block %d at line %d is %d, not %d", i, b.line, b.kind, want[i])
		}
	}
	if len(all) != len(want) || all[2].name != "a/b.json" || all[2].text != "{}\n" || all[3].name != "it opens a browser" {
		t.Errorf("the blocks are %+v", all)
	}
}

func TestASnippetThatNobodyTriesIsRefused(t *testing.T) {
	for _, page := range []string{"```json\n{}\n```\n", "<!-- file: x -->\n\nwords between\n\n```go\npackage x\n```\n", "```sh\nnever ends\n"} {
		if _, err := blocks(page); err == nil {
			t.Errorf("%q is taken", page)
		}
	}
}

func TestExpectedLinesOccurInOrder(t *testing.T) {
	out := "one  1\ntwo   abc 2\nthree\n"
	for want, missed := range map[string]string{
		"one 1\nthree\n": "", "two … 2\n": "", "…\ntwo\n": "", "three\none\n": "one", "two … 3\n": "two … 3", "four\n": "four",
	} {
		if got := missing(want, out); got != missed {
			t.Errorf("%q: %q is missed, want %q", want, got, missed)
		}
	}
}

func TestAPageThatFailsIsSeen(t *testing.T) {
	if !ready(t) {
		return
	}
	all, err := blocks("```sh\necho begun\nfalse\necho never\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell(t, t.TempDir(), "127.0.0.1:0", script(all, strings.NewReplacer()))
	if err == nil || strings.Contains(out, "never") || !strings.Contains(out, "begun") {
		t.Errorf("error %v, output %q", err, out)
	}
}

func TestCommandsFindWhatWasWrittenBeforeThem(t *testing.T) {
	if !ready(t) {
		return
	}
	all, err := blocks("<!-- file: a/b.txt -->\n```text\n$HOME 'x'\n```\n\n```sh\ncat a/b.txt\ncountersign version\nsleep 60 &\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell(t, t.TempDir(), "127.0.0.1:0", script(all, strings.NewReplacer()))
	if said := outputs(out, len(all))[1]; err != nil || missing("$HOME 'x'\n0.1.0-dev\n", said) != "" {
		t.Errorf("error %v, output %q", err, out)
	}
}
