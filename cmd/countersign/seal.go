package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/tools/cli"
)

// backupFile is a backup as it is kept, and where it can be read: the same file, or
// what it was decrypted to.
type backupFile struct{ path, plain string }

// recipients are the public keys that any of which' holder may open a backup.
func recipients(keys []string) (to []age.Recipient, err error) {
	for _, key := range keys {
		parsed, err := age.ParseRecipients(strings.NewReader(key))
		if err != nil {
			return nil, cli.Unusablef("--recipient: %q is no public key of age, which begins with age1", key)
		}
		to = append(to, parsed...)
	}
	return to, nil
}

// apart gives fn the path of a file that isn't there yet, in a folder that only this
// user reads and that is gone afterwards.
func apart(fn func(file string) error) error {
	dir, err := os.MkdirTemp("", "countersign-backup-")
	if err != nil {
		return err
	}
	return errors.Join(fn(filepath.Join(dir, "plain")), os.RemoveAll(dir))
}

// seal encrypts a file into a new one, which is there whole or not at all.
func seal(plain, file string, to []age.Recipient) error {
	return atomicfile.Create(file, func(w io.Writer) error {
		in, err := os.Open(plain)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }() // only read
		sealing, err := age.Encrypt(w, to...)
		if err != nil {
			return err
		}
		_, err = io.Copy(sealing, in)
		return errors.Join(err, sealing.Close())
	})
}

// opened gives fn a backup that can be read: as it is, or decrypted with the key in
// the file that identity names.
func opened(file, identity string, fn func(backupFile) error) error {
	sealed, err := isSealed(file)
	switch {
	case err != nil:
		return err
	case !sealed:
		return fn(backupFile{path: file, plain: file})
	case identity == "":
		return cli.Unusablef("%s is encrypted: --identity names the file with the key to it", file)
	}
	keys, err := identities(identity)
	if err != nil {
		return err
	}
	return apart(func(plain string) error {
		if err := unseal(file, plain, keys); err != nil {
			return fmt.Errorf("%s can't be decrypted: %w", file, err)
		}
		return fn(backupFile{path: file, plain: plain})
	})
}

// heading is what every file of age begins with.
var heading = []byte("age-encryption.org/")

func isSealed(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // only read
	begins, err := bufio.NewReader(f).Peek(len(heading))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.Equal(begins, heading), err
}

// identities reads the secret keys in a file as age-keygen writes it.
func identities(file string) ([]age.Identity, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	keys, err := age.ParseIdentities(f)
	if err != nil { // what age says may show a part of the key
		return nil, cli.Unusablef("--identity: %s holds no secret key of age, which begins with AGE-SECRET-KEY-", file)
	}
	return keys, nil
}

// unseal decrypts a file. Nothing of it counts unless all of it is sound.
func unseal(file, plain string, keys []age.Identity) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	from, err := age.Decrypt(in, keys...)
	if err != nil {
		return err
	}
	return atomicfile.Create(plain, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
