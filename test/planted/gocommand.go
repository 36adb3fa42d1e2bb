package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

const (
	buildTime = 10 * time.Minute
	testTime  = 15 * time.Minute // of one test binary; `go test` itself ends it
	stageTime = 25 * time.Minute // of one command: building the tests included
	stopTime  = 10 * time.Second // for what was told to end
)

// goCommand prepares a call of the go command in the tree. It ends with ctx, and
// with it everything that it has started: a test that hangs must not go on
// beside the next ones.
func (t tree) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.WaitDelay = t.dir, stopTime
	endTogether(cmd)
	return cmd
}

// build says whether the tree builds, and vets the packages.
func (t tree) build(ctx context.Context, vetted ...string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	for _, args := range [][]string{{"build", "./..."}, append([]string{"vet"}, vetted...)} {
		if out, err := t.goCommand(ctx, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// failure is the first test that failed. Test is "" where a package failed as a
// whole.
type failure struct {
	Package, Test string
	timeout       bool
}

func (f failure) String() string {
	by := strings.TrimPrefix(f.Package, module+"/")
	if f.Test != "" {
		by += " " + f.Test
	}
	if f.timeout {
		by += " (timeout)"
	}
	return by
}

// arguments are what `go test` needs to run only that again.
func (f failure) arguments() []string {
	args := strings.Fields(f.Package) // several where a command was out of time
	if top, _, _ := strings.Cut(f.Test, "/"); top != "" {
		args = append(args, "-run", "^"+top+"$")
	}
	return args
}

const module = "github.com/countersign/countersign"

// test runs tests until the first one fails, nil when none does. An error means
// that nothing is known: the tests didn't build, say.
func (t tree) test(ctx context.Context, args ...string) (*failure, error) {
	ctx, cancel := context.WithTimeout(ctx, stageTime)
	defer cancel()
	cmd := t.goCommand(ctx, append([]string{"test", "-json", "-timeout", testTime.String()}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	found, unread := watch(out)
	if found != nil || unread != nil {
		cancel() // what would come now is of no interest
	}
	err = cmd.Wait()
	switch {
	case found != nil || unread != nil:
		return found, unread
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &failure{Package: strings.Join(args, " "), timeout: true}, nil
	case err != nil:
		return nil, fmt.Errorf("go test %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil, nil
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// longestLine bounds what is read of one event: a test can print much at once.
const longestLine = 16 << 20

// watch reads the events of a `go test` until something has failed. An error
// means that they don't say how the tests ended.
func watch(out io.Reader) (*failure, error) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, longestLine)
	timeout := false
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // what a program printed in between
		}
		switch {
		case strings.HasPrefix(e.Output, "panic: test timed out after"):
			timeout = true
		case e.Action == "build-fail" || e.FailedBuild != "":
			return nil, fmt.Errorf("tests do not build: %s", cmp.Or(e.Package, e.FailedBuild))
		case e.Action == "fail":
			return &failure{Package: e.Package, Test: e.Test, timeout: timeout}, nil
		}
	}
	return nil, lines.Err()
}
