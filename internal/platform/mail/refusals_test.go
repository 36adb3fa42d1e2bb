package mail_test

import (
	"testing"

	"github.com/countersign/countersign/internal/platform/mail"
)

// TestAnAddressOfAMailServerThatIsNoneSaysWhatOneIs reads each message. None has the address,
// which holds a password.
func TestAnAddressOfAMailServerThatIsNoneSaysWhatOneIs(t *testing.T) {
	for address, want := range map[string]string{
		"mail.example.com":                                              "it is no address such as smtp://user:password@mail.example.com:587; in user and password write @ : / ? # % as %40 %3A %2F %3F %23 %25",
		"http://mail.example.com":                                       "it must begin with smtp:// or smtps://",
		"smtp://mail.example.com/x":                                     "it must end after the host and port, with ?from=… at most",
		"smtp://mail.example.com:70000":                                 "its port is no number from 1 to 65535",
		"smtp://user@mail.example.com":                                  "a user and a password go together",
		"smtp://mail.example.com?a=%2":                                  "what follows the ? can't be read",
		"smtp://mail.example.com?to=a":                                  "the only parameter that it may have is from",
		"smtp://mail.example.com?from=a@example.com&from=b@example.com": "it has several from parameters",
		"smtp://mail.example.com?from=a":                                "its from parameter is no e-mail address",
		"smtp://mail.example.com":                                       "say who mails come from: add ?from=countersign@example.com",
	} {
		if _, err := mail.Parse(address, ""); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nnot %s", address, err, want)
		}
	}
}
