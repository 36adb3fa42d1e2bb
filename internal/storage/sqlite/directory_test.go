package sqlite

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "store with ?#% é")
	s := mustOpen(t, dir)
	mustPutPair(t, s, 1)
	for _, path := range []string{dir, filepath.Dir(dir)} {
		if mode := mustStat(t, path).Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %o", path, mode)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if mode := mustStat(t, filepath.Join(dir, e.Name())).Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", e.Name(), mode)
		}
	}
	want := []string{databaseFile, databaseFile + "-shm", databaseFile + "-wal", journalFile, journalFile + "-shm", journalFile + "-wal", lockFile, reserveFile, markerFile}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files:\n%s", diff)
	}
}

func TestStoreKeepsItsContentWhenOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 3; n++ {
		s := mustOpen(t, dir)
		wantPair(t, s, n-1)
		mustPutPair(t, s, n)
		mustClose(t, s)
		mustClose(t, s)
		if _, err := os.Stat(filepath.Join(dir, databaseFile+"-wal")); !os.IsNotExist(err) {
			t.Errorf("a closed store has a log: %v", err)
		}
	}
}

func TestSecondOpenerIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := open(context.Background(), dir, awaiting(1<<20)) // it writes nothing by itself meanwhile
	mustDo(t, err)
	mustPutPair(t, s, 1)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	for _, path := range []string{dir, link, dir + "/../" + filepath.Base(dir)} {
		_ = wantRefused(t, path, "another process uses the store at "+dir)
		out, err := child(t, "open", path).CombinedOutput()
		if err == nil || string(out) != "another process uses the store at "+dir+"\n" {
			t.Errorf("another process at %s: %v, %q", path, err, out)
		}
	}
	wantUnchanged(t, dir, before)
	mustPutPair(t, s, 2)
	mustClose(t, s)
	if out, err := child(t, "open", dir).CombinedOutput(); err != nil {
		t.Errorf("another process after Close: %v, %s", err, out)
	}
}

func TestDirectoryMayBeALink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, link)
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	mustPutPair(t, s, 1)
	mustClose(t, s)
	wantPair(t, mustOpen(t, dir), 1)
}

func TestLinksAndOddFilesInTheDirectoryAreRefused(t *testing.T) {
	for _, name := range ownNames() {
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		if err := os.WriteFile(elsewhere, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		for kind, make := range map[string]func(path string) error{
			"link":      func(path string) error { return os.Symlink(elsewhere, path) },
			"dead link": func(path string) error { return os.Symlink(elsewhere+"-not", path) },
			"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		} {
			dir := t.TempDir()
			if err := make(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, dir)
			if err := wantRefused(t, dir, "not a regular file"); err == nil {
				t.Errorf("%s as a %s was taken", name, kind)
			}
			wantUnchanged(t, dir, before)
			if b, err := os.ReadFile(elsewhere); string(b) != "mine" || err != nil {
				t.Errorf("%s as a %s: the file elsewhere is now %q", name, kind, b)
			}
		}
	}
}

func TestFileAsDirectoryIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = wantRefused(t, path, "not a directory")
	_ = wantRefused(t, filepath.Join(path, "below"), "not a directory")
}

// wantRefused expects an error of one line.
func wantRefused(t *testing.T, dir, contains string) error {
	t.Helper()
	s, err := Open(context.Background(), dir)
	switch {
	case err == nil:
		_ = s.Close()
		t.Errorf("Open of %s was not refused", dir)
	case !strings.Contains(err.Error(), contains) || strings.Contains(err.Error(), "\n"):
		t.Errorf("Open was refused with %q, want %q in one line", err, contains)
	}
	return err
}

// snapshot is every file's content, by name.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			files[path] = entry.Type().String()
			return err
		}
		b, err := os.ReadFile(path)
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func wantUnchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	after := snapshot(t, dir)
	for path, content := range after {
		if was, ok := before[path]; !ok || was != content {
			t.Errorf("%s was changed", path)
		}
		delete(before, path)
	}
	for path := range before {
		t.Errorf("%s was removed", path)
	}
}

func mustStat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
