// Command assure runs the campaigns that check the service's invariants, one after the other, and prints a table
// of figure, goal, violations and commit. `make assure` runs it; -only selects some, -share makes all of them smaller
// (0.1: a tenth).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "names of the campaigns to play, comma-separated; default all")
	share := flag.Float64("share", 1, "which part of each figure to play")
	logs := flag.String("logs", "", "where the output of each goes; default a temporary directory")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := assure(ctx, *only, *share, *logs)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "assure:", err)
		os.Exit(1)
	}
}

func assure(ctx context.Context, only string, share float64, logs string) error {
	if logs == "" {
		made, err := os.MkdirTemp("", "countersign-assure-")
		if err != nil {
			return err
		}
		logs = made
	}
	state := commit(ctx)
	fmt.Printf("Output of each campaign: %s\n\n| Campaign | Figure | Goal | Violations | Commit | Time |\n|---|---|---|---|---|---|\n", logs)
	failed := 0
	for _, c := range campaigns {
		if only != "" && !strings.Contains(","+only+",", ","+c.name+",") {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := c.play(ctx, share, filepath.Join(logs, c.name+".log"))
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", c.what, r.figure, c.goal(), r.violations, state, r.took.Round(time.Second))
		if r.violations != "0" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d campaigns found something; see their output", failed)
	}
	return nil
}

// commit names the state that is played: a figure is of one commit.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=8").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
