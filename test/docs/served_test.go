package docs

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// address matches a link of a page, or a resource that it loads.
var address = regexp.MustCompile(`(?:href|src)="(/[^"]*)"`)

// TestEveryAddressOfTheManualAnswers: every link in the manual, followed without a session, leads to an existing page,
// picture and section.
func TestEveryAddressOfTheManualAnswers(t *testing.T) {
	s := harness.Start(t)
	pages, ahead := map[string]string{}, []string{"/docs/", "/llms.txt"}
	for len(ahead) > 0 {
		path := ahead[0]
		ahead = ahead[1:]
		if _, seen := pages[path]; seen {
			continue
		}
		pages[path] = fetch(t, s.URL+path)
		if !strings.HasPrefix(path, "/docs") {
			continue // the console's own pages
		}
		for _, m := range address.FindAllStringSubmatch(pages[path], -1) {
			to, section, _ := strings.Cut(strings.ReplaceAll(m[1], "&amp;", "&"), "#")
			ahead = append(ahead, to)
			if section != "" && strings.HasPrefix(to, "/docs") && !strings.Contains(fetch(t, s.URL+to), `id="`+section+`"`) {
				t.Errorf("%s leads to %s, which has no such section", path, m[1])
			}
		}
	}
	if len(pages) < 40 {
		t.Errorf("only %d addresses were found", len(pages))
	}
}

func TestTheReferenceHasEveryOperationOfTheDocument(t *testing.T) {
	s := harness.Start(t)
	index := fetch(t, s.URL+"/docs/api")
	for _, o := range s.Document().Operations {
		m := regexp.MustCompile(`href="(/docs/api/[a-z]+)#` + o.ID + `"`).FindStringSubmatch(index)
		if m == nil {
			t.Errorf("the index has no %s", o.ID)
			continue
		}
		if page := fetch(t, s.URL+m[1]); !strings.Contains(page, `id="`+o.ID+`"`) || !strings.Contains(page, o.Path) {
			t.Errorf("%s has no %s %s", m[1], o.Method, o.Path)
		}
	}
}

// fetched caches the answers.
var fetched = map[string]string{}

func fetch(t *testing.T, url string) string {
	t.Helper()
	if text, known := fetched[url]; known {
		return text
	}
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %d, %v", url, answer.StatusCode, err)
	}
	fetched[url] = string(text)
	return fetched[url]
}
