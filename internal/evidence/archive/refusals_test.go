package archive_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/evidence/archive"
)

// TestAFileThatIsNotWholeSaysWhatIsWrong reads each message.
func TestAFileThatIsNotWholeSaysWhatIsWrong(t *testing.T) {
	whole := unpacked(t, encoded(t))
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	last := len(lines) - 1
	miscounted := strings.Replace(lines[0], `"runs":`, `"runs":1`, 1)
	hash := sha256.Sum256([]byte(miscounted + strings.Join(lines[1:last], "")))
	end := regexp.MustCompile("[0-9a-f]{64}").ReplaceAllString(lines[last], hex.EncodeToString(hash[:]))
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"no gzip", []byte("hello, this is no archive"), "it is no archive: gzip: invalid header"},
		{"another text", packed(t, `{"archive":"other"}`+"\n"), `line 1: it begins with "other", and not with "countersign-runs/1"`},
		{"a long first line", packed(t, strings.Repeat("x", 1<<17)), "it is no archive: its first line is longer than 65536 bytes"},
		{"cut off", packed(t, strings.Join(lines[:last], "")), "it was cut off: its last line is missing"},
		{"behind the end", packed(t, whole+lines[0]), "line 6: it comes behind the end"},
		{"an unknown line", packed(t, lines[0]+"{}\n"), "line 2: it is of no known kind"},
		{"a changed line", packed(t, lines[0]+lines[last]), "line 2: the lines before come to 2553f62bd1328e026c77b5dd561ecb82c980914a0b30113534710d44272d3cfc, and not to ccf1df2b87ccb7547959c76bc38c665c0d022c032ae51571c9209141df926fc0: they are not what was written"},
		{"another number of runs", packed(t, miscounted+strings.Join(lines[1:last], "")+end), "it has 2 runs and says that they are 12"},
		{"damage", encoded(t)[:200], "it is damaged: line 3: unexpected EOF"},
	} {
		_, err := archive.Read(bytes.NewReader(test.file), func(archive.Entry) error { return nil })
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\n got %v\nwant %s", test.name, err, test.want)
		}
	}
}
