package main

import (
	"context"
	"os"
)

// checkArchive checks that runs can be archived, if that is asked for. The directory need not
// be there yet: it is made with the first file.
func checkArchive(_ context.Context, cfg config) []finding {
	if cfg.Retention == 0 {
		return nil
	}
	dir := existing(cfg.ArchiveDir)
	at, err := os.Stat(dir)
	if err == nil && at.IsDir() {
		err = mayWriteIn(dir)
	}
	const do = "name a directory that the service may write with " + prefix + "ARCHIVE_DIR: until then ended runs stay in the store"
	switch {
	case err != nil:
		return []finding{bad("archive", do, "%s: %v", dir, err)}
	case !at.IsDir():
		return []finding{bad("archive", do, "%s is no directory", dir)}
	}
	return []finding{fine("archive", "runs that ended %s ago are moved to %s", cfg.Retention, cfg.ArchiveDir)}
}
