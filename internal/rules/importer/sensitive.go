package importer

import (
	"slices"
	"strings"
	"unicode"
)

// secret marks a field as sensitive, hidden from viewers, if its format or its name says so.
func (d *draft) secret(name string, byFormat bool) {
	if usableName(name) && (byFormat || secretName(name)) {
		d.sensitive[name] = true
	}
}

// secretField is secret of a field whose types are known: a number is a secret only by the
// words that stand for digits, and a boolean never; max_tokens is a count.
func (d *draft) secretField(name string, f field) {
	switch text := slices.ContainsFunc(f.kinds, func(t string) bool { return t != "number" && t != "boolean" }); {
	case text || len(f.kinds) == 0:
		d.secret(name, f.secret)
	case slices.Contains(f.kinds, "number") && slices.ContainsFunc(wordsOf(name), func(w string) bool { return digits[w] }):
		d.secret(name, false)
	}
}

// digits are secrets that are written in digits.
var digits = map[string]bool{"pin": true, "cvc": true, "cvv": true, "cvc2": true, "cvv2": true, "ssn": true, "otp": true, "pan": true, "cardnumber": true, "accountnumber": true, "number": true}

// tellers end names of what is said of a secret and isn't one.
var tellers = map[string]bool{"name": true, "timestamp": true, "at": true, "count": true, "scanning": true, "type": true, "status": true}

// secretWords are words, and pairs of words, that occur only in names of secrets and of
// account data.
var secretWords = map[string]bool{
	"password": true, "passwd": true, "pwd": true, "passphrase": true, "passcode": true, "secret": true, "secrets": true,
	"token": true, "tokens": true, "apikey": true, "credential": true, "credentials": true, "authorization": true,
	"cvc": true, "cvv": true, "cvc2": true, "cvv2": true, "iban": true, "pin": true, "ssn": true, "otp": true, "pan": true,
	"cardnumber": true, "accountnumber": true,
	"api key": true, "private key": true, "access key": true, "signing key": true, "card number": true, "account number": true,
	"security code": true, "routing number": true, "tax id": true,
}

// secretName splits cardNumber, card_number and CARD-NUMBER into the same words.
func secretName(name string) bool {
	words := wordsOf(name)
	if len(words) > 1 && tellers[words[len(words)-1]] {
		return false
	}
	for i, w := range words {
		if secretWords[w] || i > 0 && secretWords[words[i-1]+" "+w] {
			return true
		}
	}
	return false
}

func wordsOf(name string) []string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
			continue
		case i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
