package faultreceiver

import (
	"strconv"
	"strings"
)

// Unreadable are complete bodies of a 200 that are no acceptable JSON, as receivers send them. Each is a fault too, by
// "unreadable-" and its name.
var Unreadable = []struct{ Name, Body string }{
	{"html", "<!DOCTYPE html>\n<title>Welcome</title>"},
	{"html-page", "\n<?xml version=\"1.0\"?><html><body>OK</body></html>"},
	{"xml", "<ok/>"},
	{"text", "OK"},
	{"form", "ok=true"},
	{"event-stream", "data: {}\n\n"},
	{"utf-16", "\xff\xfe{\x00}\x00"},
	{"utf-16-big", "\xfe\xff\x00{\x00}"},
	{"utf-16-unmarked", "{\x00}\x00"},
	{"utf-32", "\xff\xfe\x00\x00{\x00\x00\x00}\x00\x00\x00"},
	{"latin-1", "{\"name\":\"Jos\xe9\"}"},
	{"two-marks", "\uFEFF\uFEFF{}"},
	{"double-key", `{"status":"paid","status":"open"}`},
	{"double-key-escaped", `{"order":{"id":1,"\u0069d":2}}`},
	{"nan", `{"n":NaN}`},
	{"infinity", `{"n":-Infinity}`},
	{"undefined", `{"n":undefined}`},
	{"python", `{"ok":True}`},
	{"single-quotes", `{'ok':true}`},
	{"bare-key", `{ok:true}`},
	{"comma-object", `{"ok":true,}`},
	{"comma-array", `[1,2,]`},
	{"no-comma", `{"a":1 "b":2}`},
	{"comment", `{} // done`},
	{"two-documents", `{}{}`},
	{"lines", "{\"n\":1}\n{\"n\":2}\n"},
	{"surrogate", `{"s":"\ud800"}`},
	{"too-deep", Deep(65)},
	{"control", "{\"s\":\"a\tb\"}"},
	{"zero", `{"s":1}` + "\x00"},
	{"leading-zero", `{"n":007}`},
	{"plus", `{"n":+1}`},
	{"hexadecimal", `{"n":0x1F}`},
	{"exponent", `1e` + strings.Repeat("9", 40)},
	{"cut", `{"ok":tr`},
	{"jsonp", `done({"ok":true})`},
	{"guarded", ")]}',\n{}"},
	{"gzip-unsaid", "\x1f\x8b\x08\x00\x00"},
}

func unreadable() (all []Fault) {
	for _, u := range Unreadable {
		all = append(all, Answering("unreadable-"+u.Name, JSON(200, u.Body)))
	}
	return all
}

// openEnded are bodies of a 200 whose end only the end of the connection shows. Each is a fault in HTTP/1.1 and in 1.0.
func openEnded() (all []Fault) {
	for _, minor := range []int{0, 1} {
		for name, body := range map[string]string{
			"object": `{"ok":true}`, "array": "\n[1]", "empty": "", "white-space": " \r\n", "number": "12", "text": `"ab"`, "true": "true", "null": "null", "cut-object": `{"ok"`,
		} {
			all = append(all, Closing("until-close-1."+strconv.Itoa(minor)+"-"+name, "HTTP/1."+strconv.Itoa(minor)+" 200 OK\r\n\r\n"+body))
		}
	}
	return all
}
