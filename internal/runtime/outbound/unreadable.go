package outbound

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strings"
	"unicode/utf16"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// markUTF8 is a byte order mark, which RFC 8259 lets a parser ignore.
var markUTF8 = []byte("\uFEFF")

// space is the white space of JSON.
const space = " \t\r\n"

// content is the JSON of a body: without a byte order mark, and nothing where there is
// white space only.
func content(body []byte) []byte {
	body = bytes.TrimPrefix(body, markUTF8)
	if len(bytes.Trim(body, space)) == 0 {
		return nil
	}
	return body
}

// unreadable says why a body is not acceptable JSON, "" where it is. A word of the body is
// quoted unless the body holds a credential, which a quotation could cut in two.
func unreadable(a answer, json []byte, secrets masker) string {
	flaw, flawed := exactjson.FlawOf(json)
	if !flawed {
		return ""
	}
	why := flaw.Words
	switch text := legible(a.body); {
	case a.compressed:
		why = "it is compressed, and identity was asked for"
	case bytes.HasPrefix(a.body, []byte{0x1f, 0x8b}):
		why = "it is compressed by gzip, which its headers don't say"
	case otherwiseEncoded(a.body) != "":
		why = otherwiseEncoded(a.body)
	case isMarkup(json) != "":
		why = isMarkup(json)
	case secrets.without(text, true) != text:
		why = flaw.Kind
	}
	return countersign.AnswerUnreadable + why
}

// marks are the byte order marks of other encodings, longer ones first.
var marks = []struct {
	mark, name string
	order      binary.ByteOrder // of UTF-16; nil: another encoding
}{
	{"\xff\xfe\x00\x00", "UTF-32", nil},
	{"\x00\x00\xfe\xff", "UTF-32", nil},
	{"\xff\xfe", "UTF-16", binary.LittleEndian},
	{"\xfe\xff", "UTF-16", binary.BigEndian},
}

func otherwiseEncoded(body []byte) string {
	for _, m := range marks {
		if bytes.HasPrefix(body, []byte(m.mark)) {
			return "it begins with a byte order mark of " + m.name
		}
	}
	if len(body) > 1 && (body[0] == 0 || body[1] == 0) {
		return "it is not UTF-8 but, by its zero bytes, UTF-16 or UTF-32"
	}
	return ""
}

// isMarkup says of a body that begins like one what kind of markup it is; "" of any other.
func isMarkup(body []byte) string {
	text := strings.TrimLeft(string(body[:min(len(body), 1024)]), space)
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	if text = strings.ToLower(text); strings.Contains(text, "<html") || strings.HasPrefix(text, "<!doctype html") {
		return "it is HTML, not JSON"
	}
	return "it is XML or other markup, not JSON"
}

// legible is a body as text.
func legible(body []byte) string {
	for _, m := range marks {
		if m.order != nil && bytes.HasPrefix(body, []byte(m.mark)) && !bytes.HasPrefix(body, []byte(marks[0].mark)) {
			units := make([]uint16, 0, len(body)/2)
			for rest := body[len(m.mark):]; len(rest) > 1; rest = rest[2:] {
				units = append(units, m.order.Uint16(rest))
			}
			return string(utf16.Decode(units))
		}
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(body, markUTF8)), "\uFFFD")
}

// isCompressed reports a coding of the body other than none.
func isCompressed(h http.Header) bool {
	for _, coding := range h.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(strings.TrimSpace(coding), "identity") {
			return true
		}
	}
	return false
}
