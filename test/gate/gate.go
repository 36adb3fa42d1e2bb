package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/countersign/countersign/test/gotest"
)

const module = "github.com/countersign/countersign"

// gate runs parts and counts the results.
type gate struct {
	out      io.Writer
	began    time.Time
	passed   *gotest.Record[bool] // parts that passed on the present tree
	packages map[string][]string  // by part, in the order of execution

	mu      sync.Mutex
	count   map[string]int // number of tests and checks by result
	running []string       // parts
	ended   int            // number of ended packages and commands
	planned int
	unready map[string]bool // parts whose preparation failed
	repeats []string        // the command that repeats each failure alone
}

func newGate(passed *gotest.Record[bool]) *gate {
	return &gate{out: os.Stdout, began: time.Now(), passed: passed, packages: map[string][]string{}, count: map[string]int{}, unready: map[string]bool{}}
}

// runAll runs the parts, atOnce of them concurrently. It runs all of them even if one fails.
func (g *gate) runAll(ctx context.Context, parts []part, atOnce int) error {
	if err := g.plan(ctx, parts); err != nil {
		return err
	}
	stop := g.printProgress()
	var prepared sync.WaitGroup
	prepared.Go(func() { g.prepare(ctx, parts) })
	err := g.build(ctx, parts)
	prepared.Wait()
	if err != nil {
		stop()
		return err
	}
	queue := make(chan part)
	var work sync.WaitGroup
	for range min(atOnce, len(parts)) {
		work.Go(func() {
			for p := range queue {
				g.runPart(ctx, p)
			}
		})
	}
	for _, p := range parts {
		queue <- p
	}
	close(queue)
	work.Wait()
	stop()
	return g.verdict(ctx)
}

// plan counts the packages and commands to run.
func (g *gate) plan(ctx context.Context, parts []part) error {
	for _, p := range parts {
		g.planned += len(p.commands)
		for _, line := range []string{p.prepare, p.compiles} {
			if line != "" {
				g.planned++
			}
		}
		if p.packages == "" {
			continue
		}
		packages, err := p.list(ctx)
		if err != nil {
			return err
		}
		g.packages[p.name] = packages
		g.planned += len(packages)
	}
	return nil
}

// list returns the packages of a part in the order of execution: those that take long first, then those of the first
// pattern, and without those of patterns that begin with "-".
func (p part) list(ctx context.Context) ([]string, error) {
	out, err := p.listed(ctx)
	if err != nil {
		return nil, err
	}
	long := strings.Fields(p.long)
	for _, name := range long {
		if !slices.Contains(out, name) {
			return nil, fmt.Errorf("part %s has no package %s, which is said to take long", p.name, name)
		}
	}
	return append(long, slices.DeleteFunc(out, func(name string) bool { return slices.Contains(long, name) })...), nil
}

func (p part) listed(ctx context.Context) ([]string, error) {
	var out []string
	for patterns := strings.Fields(p.packages); len(patterns) > 0; {
		without := strings.HasPrefix(patterns[0], "-")
		n := slices.IndexFunc(patterns, func(p string) bool { return strings.HasPrefix(p, "-") != without })
		if n < 0 {
			n = len(patterns)
		}
		found, err := goList(ctx, patterns[:n])
		if err != nil {
			return nil, err
		}
		patterns = patterns[n:]
		if without {
			out = slices.DeleteFunc(out, func(name string) bool { return slices.Contains(found, name) })
			continue
		}
		for _, name := range found {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// goList returns the packages with tests that match some patterns. It ignores a "-" before a pattern.
func goList(ctx context.Context, patterns []string) (out []string, err error) {
	args := []string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}
	for _, pattern := range patterns {
		args = append(args, strings.TrimPrefix(pattern, "-"))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", strings.Join(patterns, " "), err)
	}
	for _, found := range strings.Fields(string(text)) {
		out = append(out, "."+strings.TrimPrefix(found, module))
	}
	return out, nil
}

// prepare runs the preparations of parts. If one fails, its part fails and the others run.
func (g *gate) prepare(ctx context.Context, parts []part) {
	for _, p := range parts {
		if p.prepare != "" {
			g.get(ctx, p, p.prepare)
		}
	}
}

func (g *gate) runPart(ctx context.Context, p part) {
	g.begin(p.name)
	failed := g.unready[p.name]
	if p.packages != "" && !failed {
		failed = !g.runTests(ctx, p)
	}
	for _, c := range p.commands {
		if failed {
			break // each command depends on the previous ones
		}
		failed = !g.runCommand(ctx, p, c)
	}
	g.end(p.name, !failed && ctx.Err() == nil)
}

// runTests runs the tests of a part and reports whether all passed.
func (g *gate) runTests(ctx context.Context, p part) bool {
	packages := g.packages[p.name]
	kept, err := os.Create(filepath.Join(outputs, p.name+".json")) // shows which tests were slow
	if err != nil {
		g.report(p, outcome{action: "fail", output: err.Error()})
		return false
	}
	defer func() { _ = kept.Close() }() // only people read the file
	env, err := p.environment()
	if err != nil {
		g.report(p, outcome{action: "fail", output: err.Error()})
		return false
	}
	words := p.goTest(packages, "-json")
	cmd := command(ctx, words[0], words[1:]...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = env, &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.report(p, outcome{action: "fail", output: err.Error()})
		return false
	}
	failed := false
	unread := newReader(func(o outcome) {
		failed = failed || o.action == "fail"
		g.report(p, o)
	}).read(io.TeeReader(out, kept))
	err = errors.Join(unread, cmd.Wait())
	if ctx.Err() != nil {
		gotest.KillGroup(cmd)
	}
	if err != nil && !failed {
		g.report(p, outcome{action: "fail", output: stderr.String() + err.Error()})
		return false
	}
	return !failed
}

// command makes a command that is interrupted when ctx ends, so that tests can stop what they started, and
// is killed a minute later.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	gotest.EndTogether(cmd, syscall.SIGINT)
	cmd.WaitDelay = time.Minute
	return cmd
}

// runCommand runs a command and reports whether it ended with 0. It shows the output only after a failure.
func (g *gate) runCommand(ctx context.Context, p part, line string) bool {
	var out []byte
	env, err := p.environment()
	if err == nil {
		cmd := command(ctx, "bash", "-euo", "pipefail", "-c", line)
		cmd.Env = env
		out, err = cmd.CombinedOutput()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended++
	if err == nil {
		g.count["pass"]++
		return true
	}
	g.count["fail"]++
	g.repeats = append(g.repeats, line)
	fmt.Fprintf(g.out, "FAILED: %s\n%s\n%v\n", line, bytes.TrimSpace(out), err)
	return false
}

// report counts an outcome, and prints a failure at once.
func (g *gate) report(p part, o outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.Test == "" && o.Package != "" {
		g.ended++
	}
	if o.Test != "" && (o.action == "fail" || o.action == "skip") || o.action == "fail" && o.output != "" {
		g.count[o.action]++
	}
	switch {
	case o.action == "pass" && o.Test != "":
		g.count["pass"]++
	case o.action == "skip" && o.Test != "":
		fmt.Fprintf(g.out, "SKIPPED: %s %s\n", o.Package, o.Test)
	case o.action == "fail" && (o.Test != "" || o.output != ""):
		again := p.repeat(o)
		g.repeats = append(g.repeats, again)
		fmt.Fprintf(g.out, "FAILED: %s %s\n%s\n", strings.TrimPrefix(o.Package, module+"/"), o.Test, strings.TrimSpace(o.output))
	}
}

// verdict prints how to repeat each failure, and the final line with the counts.
func (g *gate) verdict(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, again := range g.repeats {
		fmt.Fprintln(g.out, "To repeat it alone:", again)
	}
	fmt.Fprintf(g.out, "%d passed, %d failed, %d skipped in %s\n", g.count["pass"], g.count["fail"], g.count["skip"], elapsed(g.began))
	if err := g.passed.Write(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stopped before the end: %w", err)
	}
	if g.count["fail"] > 0 {
		return errFailed
	}
	return nil
}

// elapsed is the time since since, in minutes and seconds.
func elapsed(since time.Time) string {
	s := int(time.Since(since).Seconds())
	return fmt.Sprintf("%d min %02d s", s/60, s%60)
}
