package project

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// answerKeyPrefix begins an answer key; its 64 lowercase hex digits follow.
const answerKeyPrefix = "ed25519:"

// CheckAnswerKeys says what is wrong with the keys by which a receiver signs.
func CheckAnswerKeys(keys []string) (out []countersign.Problem) {
	if len(keys) > countersign.MaxAnswerKeys {
		out = append(out, problem("answerKeys", fmt.Sprintf("there may be %d, while a key changes; these are %d", countersign.MaxAnswerKeys, len(keys))))
	}
	for i, text := range keys {
		path := fmt.Sprintf("answerKeys[%d]", i)
		digits, prefixed := strings.CutPrefix(text, answerKeyPrefix)
		key, err := hex.DecodeString(digits)
		switch {
		case !prefixed || err != nil || len(digits) != 64 || digits != strings.ToLower(digits):
			out = append(out, problem(path, "it must be "+answerKeyPrefix+" and 64 lowercase hex digits, an Ed25519 public key"))
		case countersign.CheckEd25519(key) != nil:
			out = append(out, problem(path, countersign.CheckEd25519(key).Error()))
		case slices.Contains(keys[:i], text):
			out = append(out, problem(path, "it stands there already"))
		}
	}
	return out
}

// CheckAnswerKeysOf says what is wrong with new answer keys of a project.
func CheckAnswerKeysOf(p *countersign.Project, keys []string) error {
	problems := CheckAnswerKeys(keys)
	if len(keys) == 0 && p.Settlement != nil {
		problems = append(problems, problem("answerKeys", "the project's settlement rests on them: it needs one at least"))
	}
	if len(problems) == 0 {
		return nil
	}
	return &countersign.Error{Code: countersign.CodeInvalidRequest, Message: countersign.JoinProblems(problems)}
}

// settlement must be a path of the project's own, whose answers are known to be the receiver's.
func settlement(p *countersign.Project) (out []countersign.Problem) {
	if p.Settlement == nil {
		return nil
	}
	s := p.Settlement
	at := countersign.Capability{Name: "settlement", Method: "GET", Path: s.Path}
	for _, found := range request.CheckCapability(nil, &at) {
		out = append(out, problem("settlement.path", found.Message))
	}
	if strings.ContainsAny(s.Path, "{}?#") || strings.HasSuffix(s.Path, "/") || s.Path == "" {
		out = append(out, problem("settlement.path", "it takes no placeholder, query or slash at its end"))
	}
	if len(p.AnswerKeys) == 0 {
		out = append(out, problem("settlement", "it needs answerKeys: what the receiver says is known to be its own by its signature"))
	}
	if !slices.ContainsFunc(p.EffectiveAuths(), func(a countersign.Auth) bool { return a.Type == countersign.AuthHMAC }) {
		out = append(out, problem("settlement", "it needs HMAC: only a signed question may withdraw a key"))
	}
	for i, c := range p.Capabilities {
		if reaches(c.Path, s.Path) {
			out = append(out, problem(fmt.Sprintf("capabilities[%d].path", i), "it lies at or below settlement.path, where a call would ask about keys, or withdraw them"))
		}
	}
	return out
}

// reaches reports a capability's path that may lie at or below another path, whatever its
// placeholders are filled with.
func reaches(path, below string) bool {
	path, _, _ = strings.Cut(path, "?")
	parts, under := strings.Split(path, "/"), strings.Split(below, "/")
	if len(parts) < len(under) {
		return false
	}
	for i, part := range under {
		if strings.Contains(parts[i], "{") {
			continue
		}
		if decoded(parts[i]) != decoded(part) {
			return false
		}
	}
	return true
}

func decoded(part string) string {
	if text, err := url.PathUnescape(part); err == nil {
		return text
	}
	return part
}

// WeakerKeys reports answer keys that are changed or removed; first ones weaken nothing.
func WeakerKeys(was, now []string) bool { return len(was) > 0 && !slices.Equal(was, now) }

// weakerSettlement reports a settlement that is changed, removed or AUTOMATIC; another first one
// weakens nothing.
func weakerSettlement(was, now *countersign.Settlement) bool {
	if was == nil {
		return now.Automatic()
	}
	return now == nil || was.Path != now.Path || was.Automatic() != now.Automatic()
}
