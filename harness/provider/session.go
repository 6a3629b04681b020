package provider

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A SessionRule says what a session id looks like.
type SessionRule struct {
	Alphabet string `yaml:"alphabet,omitempty"` // characters in use
	Length   int    `yaml:"length,omitempty"`   // of the ids that NewSessionID makes
	Min      int    `yaml:"min,omitempty"`      // shortest that the provider takes; zero means Length
	Max      int    `yaml:"max,omitempty"`      // longest that the provider takes; zero means Length
}

func (s SessionRule) validate(used bool) error {
	switch {
	case !used && s == SessionRule{}:
		return nil
	case used && (s.Alphabet == "" || s.Length <= 0):
		return errors.New("session: the grammar writes sessions, so alphabet and length are needed")
	case len(s.Alphabet) > 256:
		return errors.New("session: alphabet has more than 256 characters")
	case s.Length < s.Min || s.Max > 0 && s.Length > s.Max:
		return fmt.Errorf("session: length %d is not between %d and %d", s.Length, s.Min, s.Max)
	}
	return nil
}

// check says why id cannot be a session of this provider; nil if it can.
func (s SessionRule) check(id string) error {
	least, most := s.Min, s.Max
	if least == 0 {
		least = s.Length
	}
	if most == 0 {
		most = s.Length
	}
	if len(id) < least || len(id) > most {
		return fmt.Errorf("it has %d characters and the provider takes %d to %d", len(id), least, most)
	}
	if strings.Trim(id, s.Alphabet) != "" {
		return fmt.Errorf("it has characters outside %q", s.Alphabet)
	}
	return nil
}

// mint draws an id of Length characters, all equally likely.
func (s SessionRule) mint(r io.Reader) (string, error) {
	if s.Length == 0 {
		return "", errors.New("this product has no sessions")
	}
	if r == nil {
		r = rand.Reader
	}
	id := make([]byte, 0, s.Length)
	usable := 256 - 256%len(s.Alphabet) // bytes from here on would favour the first characters
	buf := make([]byte, s.Length)
	for len(id) < s.Length {
		if _, err := io.ReadFull(r, buf); err != nil {
			return "", fmt.Errorf("draw a session id: %w", err)
		}
		for _, b := range buf {
			if int(b) < usable && len(id) < s.Length {
				id = append(id, s.Alphabet[int(b)%len(s.Alphabet)])
			}
		}
	}
	return string(id), nil
}
