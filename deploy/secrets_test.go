package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var composeFiles = []string{"compose.yaml", "compose.embedded.yaml", "compose.adapter.yaml"}

// secretive are names of variables that hold a secret, or the path of one.
var secretive = regexp.MustCompile(`(SECRET|TOKEN|PASSWORD|KEY|STORE)(_FILE)?$`)

// TestNoSecretStandsInAComposeFile: each is a file that the container gets, and no other does.
func TestNoSecretStandsInAComposeFile(t *testing.T) {
	for _, name := range composeFiles {
		c := mustParse[compose](t, name)
		used := map[string]bool{}
		for service, s := range c.Services {
			read := map[string]bool{}
			for variable, value := range s.Environment {
				switch path, inFile := strings.CutPrefix(value, "/run/secrets/"); {
				case !secretive.MatchString(variable):
				case strings.HasSuffix(variable, "_FILE") && inFile && slices.Contains(s.Secrets, path):
					read[path] = true
				case variable != "SVC_PLATFORM_STORE" || value != "/data/store":
					t.Errorf("%s: %s has %s: %s", name, service, variable, value)
				}
			}
			for _, secret := range s.Secrets {
				if used[secret] = true; !read[secret] || c.Secrets[secret].File != "./secrets/"+secret {
					t.Errorf("%s: %s has the secret %s from %q, and reads it: %t", name, service, secret, c.Secrets[secret].File, read[secret])
				}
			}
		}
		if len(used) != len(c.Secrets) || len(used) == 0 {
			t.Errorf("%s has %d secrets, of which %d are used", name, len(c.Secrets), len(used))
		}
	}
}

// TestTheScriptMakesEachSecretOnce: those that the compose files name, for whoever gets one of them
// alone, in a folder that others can't enter.
func TestTheScriptMakesEachSecretOnce(t *testing.T) {
	script, err := filepath.Abs("secrets.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	play := func() map[string]string {
		cmd := exec.Command("sh", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		made := map[string]string{}
		list, err := os.ReadDir(filepath.Join(dir, "secrets"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			info, err := file.Info()
			if err != nil || info.Mode() != 0o444 {
				t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
			}
			made[file.Name()] = mustRead(t, filepath.Join(dir, "secrets", file.Name()))
		}
		return made
	}
	made := play()
	if info, err := os.Stat(filepath.Join(dir, "secrets")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	wanted := map[string]bool{}
	for _, name := range composeFiles {
		for secret := range mustParse[compose](t, name).Secrets {
			wanted[secret] = true
		}
	}
	plain := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for name, text := range made {
		if !wanted[name] || name != "store" && !plain.MatchString(text) {
			t.Errorf("%s: %q, named by a compose file: %t", name, text, wanted[name])
		}
	}
	if len(made) != len(wanted) || !strings.Contains(made["store"], ":"+made["postgres_password"]+"@postgres:") {
		t.Errorf("%v were made of %v", made, wanted)
	}
	for name, text := range play() {
		if text != made[name] {
			t.Errorf("the second play makes %s anew", name)
		}
	}
}

// TestTheUnitsHideTheSameThings, and the adapter's gives it the secrets that its file names.
func TestTheUnitsHideTheSameThings(t *testing.T) {
	hidden := func(name string) (lines []string) {
		_, part, found := strings.Cut(mustRead(t, "systemd/"+name), "\nNoNewPrivileges=")
		part, _, end := strings.Cut(part, "\n[Install]")
		if !found || !end {
			t.Fatalf("%s has no such part", name)
		}
		for line := range strings.Lines(part) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	if service, adapter := hidden("countersign.service"), hidden("countersign-adapter.service"); !slices.Equal(service, adapter) {
		t.Errorf("the service's: %v\nthe adapter's: %v", service, adapter)
	}
	unit := mustRead(t, "systemd/countersign-adapter.service")
	given := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^LoadCredential=([a-z-]+):/etc/countersign/([a-z-]+)\nEnvironment=([A-Z_]+)_FILE=%d/([a-z-]+)$`).FindAllStringSubmatch(unit, -1) {
		if given[m[3]] = true; m[1] != m[2] || m[1] != m[4] || m[3] != strings.ToUpper(strings.ReplaceAll(m[1], "-", "_")) {
			t.Errorf("%s", m[0])
		}
	}
	named := regexp.MustCompile(`(?:secretEnv|credentialEnv): ([A-Z_]+)`).FindAllStringSubmatch(mustRead(t, "adapter.yaml"), -1)
	beside := mustParse[compose](t, "compose.adapter.yaml").Services["adapter"]
	for _, m := range named {
		if !given[m[1]] || beside.Environment[m[1]+"_FILE"] == "" {
			t.Errorf("adapter.yaml names %s: the unit gives it: %t, and the container gets %v", m[1], given[m[1]], beside.Environment)
		}
	}
	if len(named) != len(given) || len(given) == 0 {
		t.Errorf("adapter.yaml names %d secrets, the unit gives %d", len(named), len(given))
	}
}

// TestNobodyElseReachesTheAdapter: it is in the network of the service, where it listens on loopback, and
// has no more privileges than it.
func TestNobodyElseReachesTheAdapter(t *testing.T) {
	s := mustParse[compose](t, "compose.adapter.yaml").Services["adapter"]
	file := mustParse[struct{ Listen string }](t, "adapter.yaml")
	if s.Network != "service:countersign" || file.Listen != "127.0.0.1:8090" || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) {
		t.Errorf("it listens at %s in %s, may write into its image: %t, keeps capabilities but %v", file.Listen, s.Network, !s.ReadOnly, s.CapDrop)
	}
}
