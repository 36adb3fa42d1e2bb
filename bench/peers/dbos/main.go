// Command dbos does the canonical workload with DBOS Transact for Go: workflows of sequential
// steps, each a POST. It reads orders from standard input, one per line: `4 8s` means to keep
// 4 workflows in progress for 8 s. It answers each with a line of JSON. As for every
// contender, the receiver measures the calls, above all the time between two calls of a
// workflow.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

// call is the request that each step sends.
var call struct {
	url, body string
	steps     int
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute}}

func main() {
	database := flag.String("database", "", "URL of the PostgreSQL database")
	flag.StringVar(&call.url, "url", "", "where the steps are sent")
	flag.StringVar(&call.body, "body", "{}", "what they send")
	flag.IntVar(&call.steps, "steps", 10, "steps a workflow")
	flag.Parse()
	if err := serve(*database); err != nil {
		fmt.Fprintln(os.Stderr, "dbos:", err)
		os.Exit(1)
	}
}

func serve(database string) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	ctx, err := dbos.NewContext(context.Background(), dbos.Config{DatabaseURL: database, AppName: "bench", Logger: log})
	if err != nil {
		return err
	}
	dbos.RegisterWorkflow(ctx, workflow)
	if err := dbos.Launch(ctx); err != nil {
		return err
	}
	defer dbos.Shutdown(ctx, 10*time.Second)
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := answer(ctx, lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answer(ctx dbos.Context, line string) error {
	var conc int
	var length string
	if _, err := fmt.Sscan(line, &conc, &length); err != nil {
		return err
	}
	d, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	starts, err := drive(ctx, conc, d)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"starts": starts})
}

// workflow is one run: sequential steps, each recorded by DBOS.
func workflow(ctx dbos.Context, run string) (string, error) {
	var last string
	for range call.steps {
		id, err := dbos.RunAsStep(ctx, func(c context.Context) (string, error) { return step(c, run) })
		if err != nil {
			return "", err
		}
		last = id
	}
	return last, nil
}

// step sends one call and checks the field ok of the answer, which the product verifies too.
func step(ctx context.Context, run string) (string, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, call.url, bytes.NewReader([]byte(call.body)))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-Runtime-Run-Id", run)
	resp, err := client.Do(q)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	doc, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var got struct {
		OK bool   `json:"ok"`
		ID string `json:"id"`
	}
	if err := json.Unmarshal(doc, &got); err != nil || !got.OK {
		return "", errors.Join(err, fmt.Errorf("answered %q", doc))
	}
	return got.ID, nil
}
