package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

const (
	buildTime = 30 * time.Minute
	aloneTime = 10 * time.Minute // timeout of a single test
	spareTime = 30 * time.Minute // additional time to build the tests of a call
	stopTime  = 10 * time.Second // time to end after a signal
)

const module = "github.com/countersign/countersign"

// goCommand prepares a call of the go command in the tree. When ctx ends, the command and all processes that
// it has started are killed: a test that hangs must not run beside the next ones.
func (t tree) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = t.dir, t.environment(), stopTime
	gotest.EndTogether(cmd, syscall.SIGKILL)
	return cmd
}

// build checks that the tree builds, and vets the given packages.
func (t tree) build(ctx context.Context, vetted ...string) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	commands := [][]string{{"build", "./..."}}
	if len(vetted) > 0 {
		commands = append(commands, append([]string{"vet"}, vetted...))
	}
	for _, args := range commands {
		if out, err := t.goCommand(ctx, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// call is one call of `go test`.
type call struct {
	tier     tier
	packages []string
	tests    []string // empty: all tests
	skipped  []string
	alone    bool // the call is of one test and has a shorter timeout
	toTheEnd bool // continue after the first failure
}

func (c call) timeout() time.Duration {
	if c.alone {
		return aloneTime
	}
	return c.tier.timeout
}

func (c call) arguments() []string {
	// A cached result of go test doesn't depend on an overlay that a test's own call of the go
	// command has read.
	args := append([]string{"test", "-json", "-count=1", "-vet=off", "-timeout", c.timeout().String()}, c.tier.flags...)
	if len(c.tests) > 0 {
		args = append(args, "-run", "^("+strings.Join(c.tests, "|")+")$")
	}
	if len(c.skipped) > 0 {
		args = append(args, "-skip", "^("+strings.Join(c.skipped, "|")+")$")
	}
	return append(args, c.packages...)
}

// without excludes a test, or a package that failed as a whole.
func (c call) without(gone check) call {
	if gone.Test != "" {
		c.skipped = append(slices.Clone(c.skipped), gone.Test)
		return c
	}
	c.packages = slices.DeleteFunc(slices.Clone(c.packages), func(p string) bool { return p == "./"+gone.Package })
	return c
}

// test runs tests. An error means that there is no result, for example because the tests didn't build.
func (t tree) test(ctx context.Context, c call) (outcome, error) {
	args := c.arguments()
	ctx, cancel := context.WithTimeout(ctx, c.timeout()*time.Duration(len(c.packages))+spareTime)
	defer cancel()
	cmd := t.goCommand(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return outcome{}, err
	}
	if err := cmd.Start(); err != nil {
		return outcome{}, err
	}
	found, unread := watch(out, c.toTheEnd)
	if found.failed != nil && !c.toTheEnd || unread != nil {
		cancel() // the remaining tests are not needed
	}
	err = cmd.Wait()
	switch {
	case found.failed != nil || unread != nil:
		return found, unread
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return found, fmt.Errorf("go %s: out of time", strings.Join(args, " "))
	case err != nil:
		return found, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return found, nil
}
