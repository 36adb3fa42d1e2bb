package messages_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/countersign/countersign/test/messages"
)

// excused is how many texts unread.txt has, so that the list can't grow unnoticed.
const excused = 80

// TestEveryMessageIsReadByATest: what a user, operator or client is refused with stands in a
// test, or in unread.txt with the reason why not. What isn't there any more, or is read now,
// leaves that list.
func TestEveryMessageIsReadByATest(t *testing.T) {
	s, err := messages.Scan(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	list := excuses(t)
	if len(list) != excused {
		t.Errorf("unread.txt has %d texts, and excused says %d", len(list), excused)
	}
	here := map[messages.Message]bool{}
	for _, m := range s.Messages {
		here[m] = true
		if !list[m] && !s.Read(m.Text) {
			t.Errorf("no test reads %s %q", m.File, m.Text)
		}
	}
	for m := range list {
		switch {
		case !here[m]:
			t.Errorf("unread.txt: %s has no message %q", m.File, m.Text)
		case s.Read(m.Text):
			t.Errorf("unread.txt: a test reads %s %q now", m.File, m.Text)
		}
	}
}

// excuses reads unread.txt: a reason after #, and the file and text of each message below it.
func excuses(t *testing.T) map[messages.Message]bool {
	t.Helper()
	text, err := os.ReadFile("unread.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, reason := map[messages.Message]bool{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if why, is := strings.CutPrefix(line, "# "); is || line == "" {
			reason = why
			continue
		}
		file, quoted, _ := strings.Cut(line, " ")
		words, err := strconv.Unquote(quoted)
		if err != nil || reason == "" || list[messages.Message{File: file, Text: words}] {
			t.Fatalf("unread.txt: %s: %v, reason %q", line, err, reason)
		}
		list[messages.Message{File: file, Text: words}] = true
	}
	return list
}

// TestAMessageThatNoTestReadsIsFound, and one that stands in a comment alone, or in the log,
// is not read.
func TestAMessageThatNoTestReadsIsFound(t *testing.T) {
	s, err := messages.Scan(fstest.MapFS{
		"internal/a/a.go":      {Data: []byte("package a\n\nvar A = errors.New(\"the first is wrong\")\nvar B = fmt.Errorf(\"%s: the second \"+\"is wrong\", x)\nvar C = Problem{Message: name + \" is named twice\"}\nfunc d() { log.Error(\"the log says so\") }\n")},
		"internal/a/a_test.go": {Data: []byte("package a\n\n// the second is wrong\nconst a = \"a: the first is wrong\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, m := range s.Messages {
		read[m.Text] = s.Read(m.Text)
	}
	want := map[string]bool{"the first is wrong": true, "%s: the second is wrong": false, "%s is named twice": false}
	if len(read) != len(want) {
		t.Errorf("%v", read)
	}
	for text, is := range want {
		if got, there := read[text]; !there || got != is {
			t.Errorf("%q is read: %v, found: %v", text, got, there)
		}
	}
}
