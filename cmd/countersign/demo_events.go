package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
)

// watch follows a run by its events and calls see with its present state and each
// change, until see has seen enough. A stream that ends before is opened again: it
// begins with the present state, so nothing is missed.
func (c caller) watch(ctx context.Context, runID string, see func(countersign.Run) (enough bool, err error)) error {
	for {
		seen := 0
		enough := false
		err := c.stream(ctx, runID, func(r countersign.Run) (bool, error) {
			seen++
			var err error
			enough, err = see(r)
			return enough, err
		})
		if enough || err != nil {
			return err
		}
		if seen == 0 {
			return fmt.Errorf("the events of run %s ended before the first", runID)
		}
	}
}

// stream reads one stream of events; it ends without an error when the service
// ends it.
func (c caller) stream(ctx context.Context, runID string, see func(countersign.Run) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx) // gives up the stream when enough was seen
	defer cancel()
	r, err := c.request(ctx, "GET", "/runs/"+runID+"/events", nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", r.URL.Path, res.StatusCode)
	}
	events := bufio.NewScanner(res.Body)
	events.Buffer(nil, countersign.MaxBodyBytes)
	for events.Scan() {
		data, isData := strings.CutPrefix(events.Text(), "data: ")
		if !isData {
			continue // an event's name and id, a comment, the line between two
		}
		var run countersign.Run
		if err := json.Unmarshal([]byte(data), &run); err != nil {
			return err
		}
		if enough, err := see(run); enough || err != nil {
			return err
		}
	}
	if err := events.Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil // cut off in the middle of an event: the next stream has it
}
