package ctl

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
)

// Sizes of a secret's text. Each character stands for five bits.
const (
	minSecret = 26  // 130 bits
	newSecret = 32  // 160 bits
	maxSecret = 512 // more would not be stronger
)

// minVariety is how many different characters a secret has at least. Of a
// drawn one of 26 characters not one in 10^10 has fewer; what has is a
// placeholder.
const minVariety = 8

// secretAlphabet is Crockford's base 32: no letter in it is taken for a
// digit, or for another letter.
const secretAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// SecretEnv is the environment variable that LoadSecret reads.
const SecretEnv = "NETDELTA_SECRET"

// ErrNoSecret: there is neither a file nor a variable with a secret.
var ErrNoSecret = errors.New("no secret")

// Secret is what both ends of a control connection know and nobody else. It
// prints as a word that gives nothing away; Reveal has the text. The zero
// value is no secret.
type Secret struct {
	// A pointer, so that no way of printing what holds a Secret shows it.
	text *string
}

// NewSecret draws a secret of 160 bits.
func NewSecret() Secret {
	random := make([]byte, newSecret)
	rand.Read(random) // crypto/rand's never fails
	for i, b := range random {
		random[i] = secretAlphabet[b%32] // 256 is a multiple of 32: no bias
	}
	text := string(random)
	return Secret{&text}
}

// ParseSecret reads a secret's text. Case does not matter, nor do blanks and
// hyphens; o is read as 0, i and l as 1. Errors do not show what was read.
func ParseSecret(s string) (Secret, error) {
	if len(s) > 2*maxSecret {
		return Secret{}, fmt.Errorf("the secret has more than %d characters: make one with netdelta secret", maxSecret)
	}
	var text strings.Builder
	seen := map[rune]bool{}
	for i, r := range strings.ToLower(s) {
		switch r {
		case ' ', '\t', '\r', '\n', '-':
			continue
		case 'o':
			r = '0'
		case 'i', 'l':
			r = '1'
		}
		if !strings.ContainsRune(secretAlphabet, r) {
			return Secret{}, fmt.Errorf("the secret has a character (at %d) that is none of the digits or of the letters other than u: make one with netdelta secret", i+1)
		}
		seen[r] = true
		text.WriteRune(r)
	}
	switch n := text.Len(); {
	case n == 0:
		return Secret{}, errors.New("the secret is empty: make one with netdelta secret")
	case n < minSecret:
		return Secret{}, fmt.Errorf("the secret has %d characters (%d bits), at least %d (128 bits) are needed: make one with netdelta secret", n, 5*n, minSecret)
	case n > maxSecret:
		return Secret{}, fmt.Errorf("the secret has %d characters, at most %d are taken: make one with netdelta secret", n, maxSecret)
	case len(seen) < minVariety:
		return Secret{}, fmt.Errorf("the secret has only %d different characters and could be guessed: make one with netdelta secret", len(seen))
	}
	plain := text.String()
	return Secret{&plain}, nil
}

// IsZero says that there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// Reveal is the secret's text in its one canonical form; "" if there is none.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String tells only whether there is a secret.
func (s Secret) String() string {
	if s.text == nil {
		return "no secret"
	}
	return "a secret"
}
