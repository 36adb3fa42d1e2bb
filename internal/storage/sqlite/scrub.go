package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	codes "modernc.org/sqlite/lib"
)

// A start reads every page of a store of up to wholeAtStart bytes. Of a larger store it
// reads only what it needs, so that it takes no longer for a long history, and a scrub
// reads the pages while the store is in use. In both cases no damaged page is used: its
// checksum is verified at each read.
const wholeAtStart = 256 << 20

// A scrub reads some 10 MB a second, to leave the disk and the processor to others.
const (
	scrubPages = 256
	scrubPause = 100 * time.Millisecond
)

// checkAtStart refuses a store in which it finds damage, and reports whether it has read
// every page.
func checkAtStart(ctx context.Context, db *sql.DB, bound int64) (whole bool, err error) {
	pages, err := pageCount(ctx, db)
	switch {
	case err != nil:
		return false, unreadable(err)
	case bound == 0 || pages*pageSize <= bound:
		return true, checkPages(ctx, db)
	}
	for _, page := range []int64{1, pages} { // a truncated file lacks the last page
		if err := readPages(ctx, db, page, page); err != nil {
			return false, unreadable(err)
		}
	}
	return false, nil
}

func pageCount(ctx context.Context, db *sql.DB) (n int64, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&n)
	return n, err
}

// readPages reads pages; its error says why the first unreadable one can't be read.
func readPages(ctx context.Context, db *sql.DB, first, last int64) error {
	var bytes sql.NullInt64
	return db.QueryRowContext(ctx, "SELECT SUM(length(data)) FROM sqlite_dbpage WHERE pgno BETWEEN ?1 AND ?2", first, last).Scan(&bytes)
}

// scrubber reads all pages once.
type scrubber struct {
	db    *sql.DB // its own: it would drive out what others' caches hold
	pause time.Duration
	end   context.CancelFunc
	ended chan struct{}
}

// scrub starts to read all pages of a store whose start did not. It calls damaged if a
// page is damaged.
func (s settings) scrub(path string, damaged func(error)) (*scrubber, error) {
	db, err := s.readerPool(path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	ctx, end := context.WithCancel(context.Background())
	c := &scrubber{db: db, pause: s.scrubPause, end: end, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		if err := c.read(ctx); isDamage(err) {
			damaged(fmt.Errorf("is damaged: restore it from a backup: %w", err))
		}
	}()
	return c, nil
}

// read stops at the first page that can't be read. An I/O error is not reported: Views and
// Updates meet it themselves.
func (s *scrubber) read(ctx context.Context) error {
	pages, err := pageCount(ctx, s.db)
	for first := int64(1); err == nil && first <= pages; first += scrubPages {
		t := time.NewTimer(s.pause)
		select {
		case <-t.C:
			err = readPages(ctx, s.db, first, min(first+scrubPages-1, pages))
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
	return err
}

func (s *scrubber) close() error {
	if s == nil {
		return nil
	}
	s.end()
	<-s.ended
	return s.db.Close()
}

func isDamage(err error) bool {
	c := code(err)
	return c == codes.SQLITE_IOERR_DATA || c&0xff == codes.SQLITE_CORRUPT || c&0xff == codes.SQLITE_NOTADB
}
