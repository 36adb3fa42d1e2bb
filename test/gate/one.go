package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// one runs the tests of some packages as the part of the fast tier does that has them: with its flags, so that both
// share the build cache, and with its binary of the service. The output is the go command's.
func one(ctx context.Context, patterns, run string, args []string) error {
	wanted, err := goList(ctx, strings.Fields(patterns))
	if err != nil {
		return err
	}
	ran := false
	for _, p := range fast {
		if p.packages == "" || p.args != "" {
			continue
		}
		packages, err := p.list(ctx)
		if err != nil {
			return err
		}
		packages = slices.DeleteFunc(packages, func(name string) bool { return !slices.Contains(wanted, name) })
		if len(packages) == 0 {
			continue
		}
		ran = true
		if err := p.runOnly(ctx, packages, run, args); err != nil {
			return err
		}
	}
	if !ran {
		return fmt.Errorf("no package with tests is %q; P=./internal/rules/gate, for example", patterns)
	}
	return nil
}

// runOnly runs the tests of these packages of the part, and shows what they print.
func (p part) runOnly(ctx context.Context, packages []string, run string, args []string) error {
	if slices.ContainsFunc(packages, func(name string) bool { return strings.HasPrefix(name, "./test") }) {
		if err := newGate(nil).buildOnce(ctx, []part{p}, p.raced()); err != nil {
			return err
		}
	}
	env, err := p.environment()
	if err != nil {
		return err
	}
	var more []string
	if run != "" {
		more = []string{"-run", run}
	}
	p.args = strings.Join(args, " ")
	words := p.goTest(packages, more...)
	fmt.Println(quotedAll(words))
	cmd := command(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	if cmd.Run() != nil {
		return errors.Join(errFailed, ctx.Err())
	}
	return nil
}
