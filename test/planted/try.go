package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// What became of a bug.
const (
	caught   = "caught"
	survived = "SURVIVED"
	failed   = "ERROR" // nothing is known: the list or the tests are wrong
)

// result is what became of one bug, by what, and after how long.
type result struct {
	bug     *bug
	is      string
	by      string
	seconds float64
}

// try plants a bug, runs the tests until one fails, and puts the tree back.
func (t tree) try(ctx context.Context, b *bug, buildOnly bool) result {
	start := time.Now()
	is, by := t.tryPlanted(ctx, b, buildOnly)
	return result{bug: b, is: is, by: by, seconds: time.Since(start).Seconds()}
}

func (t tree) tryPlanted(ctx context.Context, b *bug, buildOnly bool) (is, by string) {
	found, steady, err := t.withBug(ctx, b, buildOnly)
	switch {
	case err != nil:
		return failed, err.Error()
	case found == nil:
		return survived, ""
	}
	if is, by = t.confirm(ctx, found); is == caught && !steady {
		by += ", but not each time"
	}
	return is, by
}

// withBug runs the tests with the bug in the tree, and puts the tree back.
func (t tree) withBug(ctx context.Context, b *bug, buildOnly bool) (found *failure, steady bool, err error) {
	restore, err := t.plant(b)
	defer func() { err = errors.Join(err, restore()) }()
	if err != nil {
		return nil, false, err
	}
	if err := t.build(ctx, near(b)...); err != nil || buildOnly {
		return nil, false, err
	}
	found, err = t.firstFailure(ctx, b)
	return found, found != nil && t.failsAgain(ctx, found), err
}

// firstFailure runs the tests from fast to slow.
func (t tree) firstFailure(ctx context.Context, b *bug) (*failure, error) {
	stages, err := t.stages(b)
	if err != nil {
		return nil, err
	}
	for _, packages := range stages {
		if found, err := t.test(ctx, packages...); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// stages are the packages beside the bug, all the rooms, the smaller tests of
// the whole, the simulation, and the program from outside.
func (t tree) stages(b *bug) ([][]string, error) {
	folders, err := t.testFolders()
	stages := [][]string{near(b), {"./internal/..."}}
	for _, folder := range folders {
		if folder != simulation {
			stages = append(stages, []string{folder})
		}
	}
	if slices.Contains(folders, simulation) {
		stages = append(stages, []string{simulation})
	}
	return append(stages, []string{"./test", "./cmd/..."}), err
}

const simulation = "./test/simulation"

// testFolders are the packages of tests below test, without this one: its own
// test sees that a bug is planted.
func (t tree) testFolders() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(t.dir, "test", "*", "*_test.go"))
	var out []string
	for _, f := range files {
		if folder := "./test/" + filepath.Base(filepath.Dir(f)); folder != "./test/planted" && !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	return out, err
}

// near are the packages that a bug's files are in, and those below them.
func near(b *bug) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range b.edits {
		pattern := "./" + path.Dir(e.file) + "/..."
		if path.Dir(e.file) == "." {
			pattern = "."
		}
		if !seen[pattern] {
			out = append(out, pattern)
		}
		seen[pattern] = true
	}
	return out
}

// failsAgain runs the test that failed once more: one that fails now and then may
// have caught the bug by luck, or failed for another reason. What was out of time
// is not waited for a second time.
func (t tree) failsAgain(ctx context.Context, found *failure) bool {
	if found.timeout {
		return true
	}
	again, err := t.test(ctx, append(found.arguments(), "-count=1")...)
	return again != nil || err != nil
}

// confirm runs the test that failed without the bug: one that fails by itself has
// caught nothing, and would seem to catch every bug.
func (t tree) confirm(ctx context.Context, found *failure) (is, by string) {
	again, err := t.test(ctx, found.arguments()...)
	switch {
	case err != nil:
		return failed, err.Error()
	case again != nil:
		return failed, fmt.Sprintf("%s fails without the bug, too", again)
	}
	return caught, found.String()
}
