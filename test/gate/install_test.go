package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installed plays .ci/install on a machine that has curl alone, where postgresql wants a newer perl-base. It returns what
// was said, and the calls of apt-get that change something.
func installed(t *testing.T, setting string, packages ...string) (said, calls string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"id":         `echo 0`,
		"dpkg-query": `case "$*" in *" curl") echo -n installed;; *) exit 1;; esac`,
		"apt-get": `case "$*" in
*" -s "*postgresql) echo "Inst perl-base [5.36] (5.40)"; echo "Inst postgresql (15)";;
*" -s "*) echo "Inst more (1)";;
*) echo "$*" >>"$(dirname "$0")/calls";;
esac`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("../../.ci/install", packages...)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "INSTALL="+setting)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	done, _ := os.ReadFile(filepath.Join(dir, "calls")) // none if nothing was called
	return string(out), string(done)
}

func TestOnlyWhatIsMissingIsInstalledAndItIsSaidFirst(t *testing.T) {
	said, calls := installed(t, "1", "curl", "strace")
	if !strings.HasPrefix(said, "Installing what tests want and this machine lacks: strace (INSTALL=0 leaves it)\n") {
		t.Errorf("it says first: %s", said)
	}
	const want = "update -qq\ninstall -y -qq --no-install-recommends --no-remove --no-upgrade strace\n"
	if calls != want {
		t.Errorf("apt-get was called with\n%swant\n%s", calls, want)
	}
}

func TestNothingThatIsThereIsUpgraded(t *testing.T) {
	said, calls := installed(t, "1", "postgresql", "strace")
	if !strings.Contains(said, "NOT INSTALLED: postgresql wants newer: perl-base (INSTALL=upgrade upgrades them)") {
		t.Errorf("it says: %s", said)
	}
	if strings.Contains(calls, "postgresql") || !strings.Contains(calls, "strace") {
		t.Errorf("apt-get was called with\n%s", calls)
	}
	if _, calls := installed(t, "upgrade", "postgresql"); !strings.Contains(calls, "postgresql") {
		t.Errorf("with INSTALL=upgrade apt-get was called with\n%s", calls)
	}
}

func TestNothingIsInstalledWhereNothingIsMissingOrWanted(t *testing.T) {
	for setting, packages := range map[string][]string{"0": {"strace"}, "1": {"curl"}} {
		if said, calls := installed(t, setting, packages...); said != "" || calls != "" {
			t.Errorf("INSTALL=%s %v: %q, %q", setting, packages, said, calls)
		}
	}
}
