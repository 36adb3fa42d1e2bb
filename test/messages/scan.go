// Package messages finds the texts of errors and refusals in product code, and those that no
// test reads.
package messages

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Message is a text of an error or refusal. Lines of the log are none.
type Message struct{ File, Text string }

// Sources are the messages of product code, and all texts of tests.
type Sources struct {
	Messages []Message
	tests    strings.Builder
}

// largest is a file of tests that is looked at; larger ones are data.
const largest = 4 << 20

// Scan reads a tree of sources.
func Scan(tree fs.FS) (*Sources, error) {
	s := &Sources{}
	return s, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := d.Name(); {
		case d.IsDir() && (base == ".git" || base == "node_modules" || base == "dist" || base == "bin" || name == "test/planted" || name == "test/messages"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		isTest, isGo := ofTests(name), strings.HasSuffix(name, ".go")
		if !isTest && (!isGo || !ofProduct(name)) {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > largest {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		switch {
		case err != nil:
			return err
		case !isTest:
			return s.addMessages(name, text)
		case isGo:
			s.addStrings(text)
		default:
			s.addText(string(text))
		}
		return nil
	})
}

func ofTests(name string) bool {
	within := "/" + name
	return strings.HasSuffix(name, "_test.go") || strings.Contains(within, "/testdata/") || strings.Contains(within, "/test/") || strings.Contains(within, "/tests/") || strings.HasPrefix(name, "internal/testing/")
}

func ofProduct(name string) bool {
	return strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || path.Dir(name) == "."
}

func (s *Sources) addText(text string) {
	s.tests.WriteString(text)
	s.tests.WriteByte('\n')
}

// addStrings adds the string literals of a test: what stands in a comment reads nothing.
func (s *Sources) addStrings(source []byte) {
	var scan scanner.Scanner
	files := token.NewFileSet()
	scan.Init(files.AddFile("", files.Base(), len(source)), source, nil, 0)
	for {
		_, kind, literal := scan.Scan()
		if kind == token.EOF {
			return
		}
		if text, err := strconv.Unquote(literal); kind == token.STRING && err == nil {
			s.addText(text)
		}
	}
}

func (s *Sources) addMessages(name string, source []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			if refuses(x) {
				for _, a := range x.Args {
					s.addMessage(name, a)
				}
			}
		case *ast.KeyValueExpr:
			if key, ok := x.Key.(*ast.Ident); ok && key.Name == "Message" {
				s.addMessage(name, x.Value)
			}
		}
		return true
	})
	return nil
}

// shortest is the length of a fragment that is told from others.
const shortest = 10

func (s *Sources) addMessage(name string, e ast.Expr) {
	if text, ok := literal(e); ok && strings.Contains(text, " ") && len(fragment(text)) >= shortest {
		s.Messages = append(s.Messages, Message{name, text})
	}
}

// making is what functions that make an error or refusal have in their names.
var making = regexp.MustCompile(`(?i)err|invalid|refus|problem|conflict|bad|wrong`)

// refuses reports a call that makes an error or refusal from a text.
func refuses(call *ast.CallExpr) bool {
	name, of := "", ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
	case *ast.Ident:
		name = f.Name
	}
	switch name {
	case "Error", "ErrorContext": // of a logger
		return of == "http"
	case "New":
		return of == "errors"
	case "add":
		return len(call.Args) > 1
	}
	return making.MatchString(name)
}

// literal is the text of an expression, with %s for each part that isn't literal.
func literal(e ast.Expr) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, x.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return literal(x.X)
	case *ast.BinaryExpr:
		a, left := literal(x.X)
		b, right := literal(x.Y)
		if !left {
			a = "%s"
		}
		if !right {
			b = "%s"
		}
		return a + b, left || right
	}
	return "", false
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.*]*(\[[0-9]+\])?[a-zA-Z]|%%`)

// fragment is the longest part of a message that is the same in each.
func fragment(text string) (longest string) {
	for _, part := range verb.Split(text, -1) {
		if part = strings.Trim(part, " \n\"'`:;,.()"); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// run is how many words of a message a test must have, one after the other, to have read it.
const run = 4

// Read reports that a test has the message's fragment, or four words of it.
func (s *Sources) Read(text string) bool {
	whole := fragment(text)
	if strings.Contains(s.tests.String(), whole) {
		return true
	}
	words := strings.Fields(whole)
	for i := 0; i+run <= len(words); i++ {
		if strings.Contains(s.tests.String(), strings.Join(words[i:i+run], " ")) {
			return true
		}
	}
	return false
}
