package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// checked has what the check at the end counted.
type checked struct {
	completed, rejected, archived, calls int
	records                              float64
	verified                             time.Duration
}

// check decides what still waits, has the runs end, and compares what the API and the archive
// say of each run with what the receiver got.
func (h *hour) check() (c checked) {
	for _, do := range []func(*checked) error{h.drain, h.listed, h.archived, h.missed, h.delivered, h.audited, h.logged} {
		if err := do(&c); err != nil {
			h.wrong(err)
		}
	}
	return c
}

// drainTime is how long the runs may take to end.
const drainTime = 5 * time.Minute

func (h *hour) drain(*checked) error {
	admin := &product{base: h.p.base, token: bootstrap}
	made, err := admin.must("POST", "/tokens", object{"name": "last", "roles": []string{"APPROVER"}})
	if err != nil {
		return err
	}
	last := &product{base: h.p.base, token: made["token"].(string)}
	for end := time.Now().Add(drainTime); ; time.Sleep(time.Second) {
		page, err := last.must("GET", "/approvals?status=PENDING&limit=200", nil)
		if err != nil {
			return err
		}
		for _, item := range page["items"].([]any) {
			if _, err := last.must("POST", "/approvals/"+item.(object)["id"].(string)+"/decision", object{"decision": "APPROVED", "reason": "the end"}); err != nil {
				return err
			}
		}
		left := page["total"].(float64)
		for _, status := range []string{"READY", "RUNNING", "WAITING_APPROVAL"} {
			page, err := last.must("GET", "/runs?limit=1&status="+status, nil)
			if err != nil {
				return err
			}
			left += page["total"].(float64)
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%.0f runs or approvals have not ended after %s", left, drainTime)
		}
	}
}

// listed checks the runs in the store, the newest first: what is archived meanwhile is mostly at
// the other end of the list, and in a file.
func (h *hour) listed(c *checked) error {
	for path := "/runs?limit=200"; ; {
		var page struct {
			Items      []struct{ ID, Status string }
			NextOffset *int
		}
		if status, err := h.p.exchange(context.Background(), "GET", path, nil, "", &page); err != nil || status != 200 {
			return errors.Join(err, fmt.Errorf("GET %s: %d", path, status))
		}
		for _, r := range page.Items {
			h.is(c, r.ID, r.Status)
		}
		if page.NextOffset == nil {
			return nil
		}
		path = fmt.Sprintf("/runs?limit=200&offset=%d", *page.NextOffset)
	}
}

// is compares a run with what was expected of it and what the receiver got.
func (h *hour) is(c *checked, run, status string) {
	if h.earlier[run] {
		return
	}
	h.log.mu.Lock()
	d := h.log.runs[run]
	var err error
	if d == nil || d.kind == nil {
		err = fmt.Errorf("run %s is in the store, and nobody started it", run)
	} else if !d.seen {
		d.seen = true
		if err = d.judge(status); err != nil {
			err = fmt.Errorf("run %s: %w", run, err)
		}
		if status == "COMPLETED" {
			c.completed++
		} else {
			c.rejected++
		}
	}
	h.log.mu.Unlock()
	if err != nil {
		h.wrong(err)
	}
}

// judge says what is wrong with a run that ended with a status; nil if nothing is.
func (d *delivered) judge(status string) error {
	want := d.kind.all()
	switch {
	case status == "COMPLETED" && !d.reject:
	case status == "FAILED" && (d.reject || d.unsure):
		want = 1<<d.kind.before - 1
	default:
		return fmt.Errorf("it is %s, rejected: %t", status, d.reject)
	}
	if d.steps != want || d.twice != 0 {
		return fmt.Errorf("it is %s, and its steps were delivered as %b instead of %b, %d of them again", status, d.steps, want, d.twice)
	}
	return nil
}

// archived checks the runs in the archive's files, each of which must be whole and known to the
// audit log by its digest.
func (h *hour) archived(c *checked) error {
	names, err := filepath.Glob(filepath.Join(h.p.dir, "archive", "*", "*.gz"))
	if err != nil {
		return err
	}
	c.archived = 0
	unknown := map[string]string{} // files by digest
	for _, name := range names {
		digest, err := h.file(c, name)
		if err != nil {
			h.wrong(fmt.Errorf("%s: %w", name, err))
			continue
		}
		unknown[digest] = name
	}
	for end := time.Now().Add(recordTime); ; time.Sleep(time.Second) {
		digests, err := h.archiveDigests()
		if err != nil {
			return err
		}
		maps.DeleteFunc(unknown, func(digest, _ string) bool { return digests[digest] })
		if len(unknown) == 0 {
			return nil
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, name := range unknown {
		h.wrong(fmt.Errorf("%s: the audit log doesn't know its digest", name))
	}
	return nil
}

// missed asks for each run that was found neither in the list nor in a file. Of runs that began
// together those that ended late are archived later; if the others are archived while the list
// is read, they move to pages that were read already.
func (h *hour) missed(c *checked) error {
	archived := false
	for _, id := range h.log.unseen(h.earlier) {
		var run struct{ Status string }
		switch status, err := h.p.exchange(context.Background(), "GET", "/runs/"+id, nil, "", &run); {
		case err != nil:
			return err
		case status == http.StatusOK:
			h.is(c, id, run.Status)
		case status == http.StatusNotFound:
			archived = true
		default:
			return fmt.Errorf("GET /runs/%s: %d", id, status)
		}
	}
	if archived {
		return h.archived(c)
	}
	return nil
}

// recordTime is how long a file of the archive may wait for its record: it is written first,
// and the service goes on archiving meanwhile.
const recordTime = 30 * time.Second

// archiveDigests are those in the audit log.
func (h *hour) archiveDigests() (map[string]bool, error) {
	admin := &product{base: h.p.base, token: bootstrap}
	resp, err := admin.send(context.Background(), "GET", "/audit/export?action=runs.archive", nil, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	all := map[string]bool{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if digest := member(lines.Bytes(), "digest"); digest != "" {
			all[digest] = true
		}
	}
	return all, lines.Err()
}

func (h *hour) file(c *checked, name string) (digest string, err error) {
	doc, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(doc)
	z, err := gzip.NewReader(bytes.NewReader(doc))
	if err != nil {
		return "", err
	}
	lines, whole, text := bufio.NewReader(z), false, sha256.New()
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil {
			return "", err
		}
		switch {
		case bytes.HasPrefix(line, []byte(`{"run":`)):
			c.archived++
			h.is(c, member(line, "id"), member(line, "status"))
		case bytes.HasPrefix(line, []byte(`{"sha256":`)):
			whole = member(line, "sha256") == hex.EncodeToString(text.Sum(nil))
		}
		text.Write(line)
	}
	if !whole {
		err = errors.New("the file isn't whole")
	}
	return hex.EncodeToString(sum[:]), err
}

// delivered checks that every run that was started, or that a call came of, was found.
func (h *hour) delivered(c *checked) error {
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	var errs []error
	missing := 0
	for id, d := range h.log.runs {
		for bits := d.steps; bits != 0; bits &= bits - 1 {
			c.calls++
		}
		if !d.seen && !h.earlier[id] {
			if missing++; missing <= wrongShown {
				errs = append(errs, fmt.Errorf("run %s, started: %t, is neither in the store nor in the archive", id, d.kind != nil))
			}
		}
	}
	if missing > wrongShown {
		errs = append(errs, fmt.Errorf("and %d more", missing-wrongShown))
	}
	return errors.Join(errs...)
}

func (h *hour) audited(c *checked) error {
	admin := &product{base: h.p.base, token: bootstrap}
	begin := time.Now()
	out, err := admin.must("GET", "/audit/verify", nil)
	if err != nil {
		return err
	}
	c.verified = time.Since(begin)
	c.records, _ = out["records"].(float64)
	if out["intact"] != true || c.records == 0 {
		return fmt.Errorf("the audit log doesn't verify: %v", out)
	}
	return nil
}

// logged stops the service and shows the errors in its log.
func (h *hour) logged(*checked) error {
	if err := h.p.stop(); err != nil {
		return fmt.Errorf("the stop: %w", err)
	}
	doc, err := os.Open(h.service.Name())
	if err != nil {
		return err
	}
	defer func() { _ = doc.Close() }()
	lines := bufio.NewScanner(doc)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"level":"ERROR"`) {
			h.wrong(errors.New("the service's log: " + lines.Text()))
		}
	}
	return lines.Err()
}
