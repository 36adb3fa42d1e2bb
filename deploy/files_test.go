package deploy

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ofTheClone are files that only whoever has the repository uses.
var ofTheClone = []string{"Dockerfile", "Dockerfile.dockerignore", "action/setup.sh", "package/postinst", "package/prerm", "prometheus/alerts.test.yaml"}

// TestEachFileIsHandedOut by a name that says what it is for, but for those of the clone.
func TestEachFileIsHandedOut(t *testing.T) {
	listed := map[string]int{}
	for _, p := range Purposes {
		names := Names(p.Name)
		if len(names) == 0 || p.For == "" || strings.HasSuffix(p.Name, "/") == slices.Contains(names, p.Name) {
			t.Errorf("%s is for %q, and %v", p.Name, p.For, names)
		}
		for _, name := range names {
			listed[name]++
		}
	}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".go") {
			return err
		}
		switch clone := slices.Contains(ofTheClone, name); {
		case clone && listed[name] != 0, !clone && listed[name] != 1:
			t.Errorf("%s is listed %d times, and is of the clone: %t", name, listed[name], clone)
		case !clone:
			if text, err := Read(name); err != nil || string(text) != mustRead(t, name) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var figure = regexp.MustCompile(`\b(?:countersign|process|go)_[a-z0-9_]+[a-z0-9]|\bup\b`)

// TestEachAlertIsSeenToFire: the tests that promtool plays (make alerts-check) give each alert the
// figures that it reads, and see it fire.
func TestEachAlertIsSeenToFire(t *testing.T) {
	rules := mustParse[struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}](t, "prometheus/alerts.yaml")
	played := mustParse[struct {
		Tests []struct {
			Series []struct{ Series string } `yaml:"input_series"`
			Alerts []struct {
				Name  string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}](t, "prometheus/alerts.test.yaml")
	given, fires := map[string][]string{}, map[string]bool{}
	for _, test := range played.Tests {
		for _, a := range test.Alerts {
			fires[a.Name] = fires[a.Name] || len(a.Fires) > 0
			for _, s := range test.Series {
				given[a.Name] = append(given[a.Name], figure.FindString(s.Series))
			}
		}
	}
	alerts := 0
	for _, group := range rules.Groups {
		for _, r := range group.Rules {
			alerts++
			if !fires[r.Alert] {
				t.Errorf("no test has %s fire", r.Alert)
			}
			read := figure.FindAllString(r.Expr, -1)
			for _, name := range given[r.Alert] {
				if !slices.Contains(read, name) {
					t.Errorf("the test of %s gives %s, which the alert doesn't read", r.Alert, name)
				}
			}
			for _, name := range read {
				if !slices.Contains(given[r.Alert], name) && !strings.HasPrefix(name, "process_") {
					t.Errorf("%s reads %s, which its test doesn't give", r.Alert, name)
				}
			}
		}
	}
	if alerts != len(fires) || alerts == 0 {
		t.Errorf("%d alerts, %d are played", alerts, len(fires))
	}
}
