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

// backupFile is the path of a backup, and the path of its plaintext: the same file, or a decrypted
// copy.
type backupFile struct{ path, plain string }

// recipients are the public keys; the holder of any of their secret keys can open the backup.
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

// inPrivateDir calls fn with the path of a new file in a temporary directory that only this user
// may read, and removes the directory afterwards.
func inPrivateDir(fn func(file string) error) error {
	dir, err := os.MkdirTemp("", "countersign-backup-")
	if err != nil {
		return err
	}
	return errors.Join(fn(filepath.Join(dir, "plain")), os.RemoveAll(dir))
}

// seal encrypts a file into a new one, which is written completely or not at all.
func seal(plain, file string, to []age.Recipient) error {
	return atomicfile.Create(file, func(w io.Writer) error {
		in, err := os.Open(plain)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }() // nothing was written
		sealing, err := age.Encrypt(w, to...)
		if err != nil {
			return err
		}
		_, err = io.Copy(sealing, in)
		return errors.Join(err, sealing.Close())
	})
}

// opened calls fn with a readable backup: the file itself, or a copy decrypted with the key in the
// file identity.
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
	return inPrivateDir(func(plain string) error {
		if err := unseal(file, plain, keys); err != nil {
			return fmt.Errorf("%s can't be decrypted: %w", file, err)
		}
		return fn(backupFile{path: file, plain: plain})
	})
}

// heading is the beginning of every age file.
var heading = []byte("age-encryption.org/")

func isSealed(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	begins, err := bufio.NewReader(f).Peek(len(heading))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.Equal(begins, heading), err
}

// identities reads the secret keys from a file that age-keygen wrote.
func identities(file string) ([]age.Identity, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	keys, err := age.ParseIdentities(f)
	if err != nil { // the error of age may contain a part of the key
		return nil, cli.Unusablef("--identity: %s holds no secret key of age, which begins with AGE-SECRET-KEY-", file)
	}
	return keys, nil
}

// unseal decrypts a file. After an error the plaintext must not be used.
func unseal(file, plain string, keys []age.Identity) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing was written
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
