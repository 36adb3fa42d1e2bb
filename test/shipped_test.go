package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/test/harness"
)

// shipped is a folder with the files that the program hands out, and the secrets that their script makes.
func shipped(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	if r := harness.Run(t, nil, "files", "--out", dir); r.Status != 0 || !strings.HasPrefix(r.Out, "wrote ") {
		t.Fatalf("%+v", r)
	}
	script := exec.Command("./secrets.sh")
	script.Dir = dir
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

var chosen = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

// environmentOf is what a service of a compose file gets, with secrets from the folder.
func environmentOf(t *testing.T, dir, file, service string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Services map[string]struct{ Environment map[string]string }
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, value := range c.Services[service].Environment {
		out[name] = strings.ReplaceAll(chosen.ReplaceAllString(value, "$1"), "/run/secrets/", filepath.Join(dir, "secrets")+"/")
	}
	if len(out) == 0 {
		t.Fatalf("%s has no service %s with an environment", file, service)
	}
	return out
}

// TestTheSettingsOfTheComposeFilesAreServed: the service starts with exactly what each of them gives a
// container, but for where it listens and what it keeps; its first token and a project's secret are read
// from the files that the script made.
func TestTheSettingsOfTheComposeFilesAreServed(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t)
	for file, service := range map[string]string{"compose.embedded.yaml": "countersign", "compose.yaml": "replica-2"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			dir := shipped(t)
			s := harness.Start(t, func(settings map[string]string) {
				own := map[string]string{"SVC_PLATFORM_LISTEN": settings["SVC_PLATFORM_LISTEN"], "SVC_PLATFORM_STORE": settings["SVC_PLATFORM_STORE"], "SVC_PLATFORM_CONNECTION_ORIGINS": "https://api.example"}
				clear(settings)
				for name, value := range environmentOf(t, dir, file, service) {
					settings[name] = value
				}
				if path := settings["SVC_PLATFORM_STORE_FILE"]; path != "" { // PostgreSQL's address: the same setting with a directory
					writeSecret(t, path, own["SVC_PLATFORM_STORE"])
					delete(own, "SVC_PLATFORM_STORE")
				}
				for name, value := range own {
					settings[name] = value
				}
			})
			s.Admin = s.As(readSecret(t, filepath.Join(dir, "secrets", "bootstrap_token")))
			s.Keep(readSecret(t, filepath.Join(dir, "secrets", "shop_secret")))
			s.Admin.Put("/projects/default-shop", doc{
				"name": "Shop", "adapter": "HTTP_JSON", "baseUrl": "https://api.example", "auth": doc{"type": "HMAC", "credentialEnv": "SHOP_SECRET"},
				"capabilities": []doc{{"name": "note", "method": "POST", "path": "/notes"}},
			}).OK(t).Is(t, "secretConfigured", true)
		})
	}
}

func readSecret(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeSecret(t *testing.T, path, text string) {
	t.Helper()
	err := os.Remove(path)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTheShippedAdapterFileIsTaken with the secrets that compose.adapter.yaml gives it, without a warning.
func TestTheShippedAdapterFileIsTaken(t *testing.T) {
	t.Parallel()
	dir := shipped(t)
	r := harness.Run(t, environmentOf(t, dir, "compose.adapter.yaml", "adapter"), "adapter", "check", filepath.Join(dir, "adapter.yaml"))
	if r.Status != 0 || r.Err != "" || r.Out != "pay: 2 operations of https://api.pay.example, at /http/pay\n" {
		t.Errorf("%+v", r)
	}
}

// TestFilesAreListedPrintedAndWrittenOnce.
func TestFilesAreListedPrintedAndWrittenOnce(t *testing.T) {
	t.Parallel()
	prints(t, harness.Run(t, nil, "files").Out, "compose.yaml", "two replicas on one PostgreSQL", "helm/", "secrets.sh")
	prints(t, harness.Run(t, nil, "files", "-o", "json").Out, `"name": "nginx.conf"`)
	text, err := os.ReadFile("../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	if r := harness.Run(t, nil, "files", "nginx.conf"); r.Status != 0 || r.Out != string(text) {
		t.Errorf("%+v", r)
	}
	dir := filepath.Join(t.TempDir(), "new")
	prints(t, harness.Run(t, nil, "files", "systemd/", "--out", dir).Out, "wrote 3 files into "+dir)
	for args, says := range map[string]string{
		"passwords.txt":         `there is no file "passwords.txt"; countersign files lists them`,
		"../go.mod":             `there is no file "../go.mod"`,
		"systemd/":              "systemd/ is a folder: give --out, or one of systemd/countersign",
		"systemd/ --out " + dir: "systemd/countersign-adapter.service: it is there already, and not overwritten: name another folder",
	} {
		if r := harness.Run(t, nil, append([]string{"files"}, strings.Fields(args)...)...); r.Status != 2 || r.Out != "" || !strings.Contains(r.Err, says) {
			t.Errorf("files %s: %+v", args, r)
		}
	}
}
