package oidc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// claims are the claims of an ID token that are checked here. The library checks issuer,
// audience, signature and expiry.
type claims struct {
	Email      string `json:"email"`
	Verified   yes    `json:"email_verified"`
	Authorized string `json:"azp"`
}

// yes is a boolean claim that some providers write as a string. Anything but true is false.
type yes bool

// UnmarshalJSON never fails: an unreadable claim is false.
func (y *yes) UnmarshalJSON(raw []byte) error {
	*y = yes(string(raw) == "true" || string(raw) == `"true"`)
	return nil
}

// minRSA is the minimal size in bits of an RSA key that may sign a token.
const minRSA = 2048

// weak reports whether a token was signed with a smaller RSA key. An RSA signature is as
// long as its key. raw has been verified.
func weak(raw string) bool {
	head, rest, _ := strings.Cut(raw, ".")
	_, signature, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var header struct {
		Algorithm string `json:"alg"`
	}
	if err != nil || json.Unmarshal(text, &header) != nil {
		return true
	}
	rsa := strings.HasPrefix(header.Algorithm, "RS") || strings.HasPrefix(header.Algorithm, "PS")
	return rsa && base64.RawURLEncoding.DecodedLen(len(signature)) < minRSA/8
}

// maxTexts bounds how many strings of an ID token's claims are read.
const maxTexts = 1000

// textsOf reads the claims that are strings or lists of strings.
func textsOf(all map[string]any) map[string][]string {
	out, n := map[string][]string{}, 0
	for name, v := range all {
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, item := range list {
			if text, ok := item.(string); ok && n < maxTexts {
				out[name] = append(out[name], text)
				n++
			}
		}
	}
	return out
}

// identityOf returns the verified e-mail address of a token, and its claims that are strings.
func (p *Provider) identityOf(ctx context.Context, found *oidc.Provider, token *oauth2.Token, f flow) (string, map[string][]string, error) {
	email, id, err := p.emailOf(ctx, found, token, f)
	if err != nil {
		return "", nil, err
	}
	var all map[string]any
	if err := id.Claims(&all); err != nil {
		return "", nil, fmt.Errorf("the ID token's claims: %w", err)
	}
	return email, textsOf(all), nil
}

// emailOf returns the verified e-mail address of a token, and the token.
func (p *Provider) emailOf(ctx context.Context, found *oidc.Provider, token *oauth2.Token, f flow) (string, *oidc.IDToken, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return "", nil, errors.New("the provider gave no ID token")
	}
	id, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID, Now: p.cfg.Now}).Verify(ctx, raw)
	if err != nil {
		return "", nil, fmt.Errorf("the ID token: %w", clipped(err))
	}
	if weak(raw) {
		return "", nil, fmt.Errorf("the ID token is signed with an RSA key under %d bits", minRSA)
	}
	if !same(id.Nonce, f.nonce) {
		return "", nil, errors.New("the ID token was made for another sign-in")
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return "", nil, fmt.Errorf("the ID token's claims: %w", err)
	}
	if c.Authorized != p.cfg.ClientID && (c.Authorized != "" || len(id.Audience) > 1) {
		return "", nil, errors.New("the ID token was made for another client too")
	}
	if c.Email == "" {
		email, err := p.emailAsked(ctx, found, token, id.Subject)
		return email, id, err
	}
	email, err := verified(c.Email, bool(c.Verified))
	return email, id, err
}

// emailAsked gets the e-mail address from the provider's userinfo endpoint, for providers
// whose ID tokens have none.
func (p *Provider) emailAsked(ctx context.Context, found *oidc.Provider, token *oauth2.Token, subject string) (string, error) {
	if found.UserInfoEndpoint() == "" {
		return "", ErrUnverified
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return "", fmt.Errorf("the userinfo answer: %w", clipped(err))
	}
	if info.Subject != subject {
		return "", errors.New("the userinfo answer is about another user")
	}
	return verified(info.Email, info.EmailVerified)
}

func verified(email string, is bool) (string, error) {
	if email == "" || !is {
		return "", ErrUnverified
	}
	return email, nil
}
