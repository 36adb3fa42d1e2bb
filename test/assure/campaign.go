package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// campaign is one row of the table: a command whose figure can be made smaller, and how to read the figure that
// was reached from its output.
type campaign struct {
	name    string
	what    string
	command string // %d is the figure
	figure  int    // 0: the command has none
	unit    string
	counted string // a pattern with one group for the output; "": the requested figure
}

func (c campaign) goal() string {
	if c.figure == 0 {
		return "all " + c.unit
	}
	return fmt.Sprintf("%s %s", thousands(c.figure), c.unit)
}

type result struct {
	figure     string
	violations string
	took       time.Duration
}

// timeout bounds a campaign, so that it can't hang.
const timeout = 6 * time.Hour

func (c campaign) play(ctx context.Context, share float64, log string) result {
	n := max(1, int(float64(c.figure)*share))
	command := c.command
	if c.figure > 0 {
		command = fmt.Sprintf(command, n)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	words := strings.Fields(command)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	out, err := cmd.CombinedOutput()
	r := result{took: time.Since(began), figure: c.reached(string(out), n), violations: "0"}
	if writeErr := os.WriteFile(log, out, 0o600); writeErr != nil {
		err = writeErr
	}
	if err != nil {
		r.violations = fmt.Sprintf("FAILED (%v): %s", err, log)
	}
	return r
}

// reached is the figure in the output.
func (c campaign) reached(out string, asked int) string {
	if c.counted == "" {
		if c.figure == 0 {
			return "all " + c.unit
		}
		return thousands(asked) + " " + c.unit
	}
	total := 0
	for _, found := range regexp.MustCompile(c.counted).FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		if found[1] == "" { // the matches are counted
			n, err = 1, nil
		}
		if err == nil {
			total += n
		}
	}
	return thousands(total) + " " + c.unit
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
