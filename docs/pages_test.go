package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/docs"
	"github.com/countersign/countersign/internal/server/manual"
)

// markdown is every page of the repository, by its path from the root.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			text, err := os.ReadFile(filepath.Join("..", name))
			all[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	code     = regexp.MustCompile("(?ms)^```.*?^```")
	inline   = regexp.MustCompile("`[^`\n]*`")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
)

// links are where a page's links lead, code apart.
func links(text string) []string {
	var out []string
	for _, m := range linked.FindAllStringSubmatch(inline.ReplaceAllString(code.ReplaceAllString(text, ""), ""), -1) {
		out = append(out, m[1])
	}
	return out
}

// anchors are the ids of a page's headings.
func anchors(text string) []string {
	var out []string
	for _, m := range headings.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		out = append(out, manual.Slug(m[1]))
	}
	return out
}

// repository is how a page names a file that isn't beside it where it is read.
var repository = regexp.MustCompile(`^https://github\.com/countersign/countersign/(?:blob|tree)/main/`)

// elsewhere are links that a file can't show to be right. Those to the API's
// reference, which the binary makes, are followed by test/docs.
func elsewhere(link string) bool {
	return strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") || strings.HasPrefix(link, "/docs/api")
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	pages := markdown(t)
	for name, text := range pages {
		for _, link := range links(text) {
			ours := repository.FindString(link)
			if ours == "" && elsewhere(link) {
				continue
			}
			file, anchor, _ := strings.Cut(strings.TrimPrefix(link, ours), "#")
			target := name
			switch {
			case ours != "":
				target = path.Clean(file)
			case file != "":
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join("..", target)); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, link)
			} else if anchor != "" && !slices.Contains(anchors(pages[target]), anchor) {
				t.Errorf("%s leads to %s, and %s has no such heading", name, link, target)
			}
		}
	}
}

// The service serves docs/ as Markdown too, and npm the SDK's page: a relative link
// that leaves them leads nowhere there.
func TestPagesThatTravelNameOtherFilesByTheirAddress(t *testing.T) {
	for name, text := range markdown(t) {
		home, _, _ := strings.Cut(name, "/")
		if home != "docs" && home != "sdk" {
			continue
		}
		for _, link := range links(text) {
			file, _, _ := strings.Cut(link, "#")
			target := path.Join(path.Dir(name), file)
			if file != "" && !elsewhere(link) && (home == "sdk" || !strings.HasPrefix(target, "docs/")) {
				t.Errorf("%s leads to %s: write the address in the repository", name, link)
			}
		}
	}
}

// The index is the navigation: what it doesn't name, nobody finds.
func TestTheIndexLeadsToEveryPage(t *testing.T) {
	index, err := fs.ReadFile(docs.Files, docs.Index)
	if err != nil {
		t.Fatal(err)
	}
	led := links(string(index))
	err = fs.WalkDir(docs.Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") && name != docs.Index && !slices.Contains(led, name) {
			t.Errorf("%s does not lead to %s", docs.Index, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every page says in its first sentence what it is for: the index for programs
// shows it.
func TestEveryPageBeginsWithWhatItIsFor(t *testing.T) {
	for name, text := range markdown(t) {
		if !strings.HasPrefix(name, "docs/") {
			continue
		}
		lines := strings.SplitN(text, "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[0], "# ") || lines[1] != "" || lines[2] == "" || strings.ContainsAny(lines[2][:1], "#|<!`") {
			t.Errorf("%s doesn't begin with a title and a sentence", name)
		}
	}
}

func TestNoPageNamesAMachine(t *testing.T) {
	for name, text := range markdown(t) {
		for _, path := range []string{"/tmp/", "/work/", "/root/", "/home/"} {
			if strings.Contains(text, path) {
				t.Errorf("%s names a path of a machine: %s", name, path)
			}
		}
	}
}
