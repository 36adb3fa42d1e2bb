package sqlite

import (
	"context"
	"errors"
	"path/filepath"
)

// Check reads pages of the store in a directory, which a service may use meanwhile, and
// refuses a damaged one as a start would. It changes nothing. As a start, it reads a
// large store whole only where all are wanted; whole says whether it did.
func Check(ctx context.Context, dir string, all bool) (whole bool, err error) {
	s := defaults()
	if all {
		s.wholeAtStart = 0
	}
	return s.check(ctx, dir)
}

func (s settings) check(ctx context.Context, dir string) (whole bool, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	leave, _, err := visit(dir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	db, err := s.readerPool(filepath.Join(dir, databaseFile))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	known, err := knownMigration(db)
	if err != nil {
		return false, err
	}
	if whole, err = checkAtStart(ctx, db, s.wholeAtStart); err != nil {
		return whole, err
	}
	if err := checkRelease(ctx, db, known); err != nil {
		return whole, err
	}
	_, err = readAhead(ctx, dir)
	return whole, err
}
