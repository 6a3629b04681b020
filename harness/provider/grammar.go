package provider

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Field is something that an Ask can demand.
type Field string

// The fields.
const (
	FieldCountry Field = "country"
	FieldRegion  Field = "region"
	FieldCity    Field = "city"
	FieldASN     Field = "asn"
	FieldSession Field = "session"
	FieldTTL     Field = "ttl"
)

// A Carrier is the part of the credential that the grammar extends.
type Carrier string

// The carriers.
const (
	InUsername Carrier = "username"
	InPassword Carrier = "password"
)

// A Grammar writes an Ask into a credential. Without pieces the credential is sent as it is.
type Grammar struct {
	Carrier   Carrier `yaml:"carrier,omitempty"`   // empty means InUsername
	Separator string  `yaml:"separator,omitempty"` // between pieces
	Pieces    []Piece `yaml:"pieces,omitempty"`    // in the order in which they are written
}

// A Piece is one part of a rendered credential. Exactly one of Literal, Credential and Field is set.
type Piece struct {
	// Literal is written as it is; with When, only if that field is asked for.
	Literal string `yaml:"literal,omitempty"`
	When    Field  `yaml:"when,omitempty"`
	// Credential is the user's own name (or password). Literals in front of it are not repeated if it already
	// begins with them: dashboards show it both ways.
	Credential bool `yaml:"credential,omitempty"`
	// Field is written as Key, Join and value, only if it is asked for.
	Field Field  `yaml:"field,omitempty"`
	Key   string `yaml:"key,omitempty"`
	Join  string `yaml:"join,omitempty"` // empty means the grammar's Separator
	// Encode are applied in order: lower, upper, underscore, plus, nospace, country_prefix.
	Encode []string `yaml:"encode,omitempty"`
	// Unit is how a ttl is written: minutes or seconds, rounded up.
	Unit string `yaml:"unit,omitempty"`
	// Requires and Excludes name fields that must, or must not, be asked for together with this one.
	Requires []Field `yaml:"requires,omitempty"`
	Excludes []Field `yaml:"excludes,omitempty"`
	// Strict marks the piece that makes a session fail when its exit is gone.
	Strict bool `yaml:"strict,omitempty"`
}

func (g Grammar) has(f Field) bool {
	return slices.ContainsFunc(g.Pieces, func(p Piece) bool { return p.Field == f })
}

func (g Grammar) validate() error {
	if len(g.Pieces) == 0 {
		return nil
	}
	var faults []error
	if c := g.carrier(); c != InUsername && c != InPassword {
		faults = append(faults, fmt.Errorf("carrier %q: want %s or %s", c, InUsername, InPassword))
	}
	credentials := 0
	for i, p := range g.Pieces {
		if p.Credential {
			credentials++
		}
		if err := p.validate(); err != nil {
			faults = append(faults, fmt.Errorf("piece %d: %w", i+1, err))
		}
	}
	if credentials != 1 {
		faults = append(faults, fmt.Errorf("%d pieces hold the credential, want 1", credentials))
	}
	return errors.Join(faults...)
}

func (p Piece) validate() error {
	kinds := 0
	for _, set := range []bool{p.Literal != "", p.Credential, p.Field != ""} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("want exactly one of literal, credential and field")
	}
	for _, e := range p.Encode {
		if !slices.Contains([]string{"lower", "upper", "underscore", "plus", "nospace", "country_prefix"}, e) {
			return fmt.Errorf("unknown encoder %q", e)
		}
	}
	switch p.Field {
	case "", FieldCountry, FieldRegion, FieldCity, FieldASN, FieldSession:
	case FieldTTL:
		if p.Unit != "minutes" && p.Unit != "seconds" {
			return fmt.Errorf("unit %q: want minutes or seconds", p.Unit)
		}
	default:
		return fmt.Errorf("unknown field %q", p.Field)
	}
	return nil
}

func (g Grammar) carrier() Carrier {
	if g.Carrier == "" {
		return InUsername
	}
	return g.Carrier
}

// render writes ask around own, the user's part. The caller has checked that every demanded field has a piece.
func (g Grammar) render(own string, ask Ask) (string, error) {
	if len(g.Pieces) == 0 {
		return own, nil
	}
	var out []string
	for _, p := range g.Pieces {
		switch {
		case p.Credential:
			lead := strings.Join(out, g.Separator) + g.Separator
			if len(out) > 0 && strings.HasPrefix(own, lead) {
				out = out[:0]
			}
			out = append(out, own)
		case p.Literal != "":
			if p.When == "" || ask.has(p.When) {
				out = append(out, p.Literal)
			}
		case ask.has(p.Field):
			text, err := g.pair(p, ask)
			if err != nil {
				return "", err
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, g.Separator), nil
}

// pair writes one field as key, join and value.
func (g Grammar) pair(p Piece, ask Ask) (string, error) {
	for _, f := range p.Requires {
		if !ask.has(f) {
			return "", &UnsupportedError{Field: p.Field, Why: fmt.Sprintf("the provider takes it only together with %s", f)}
		}
	}
	for _, f := range p.Excludes {
		if ask.has(f) {
			return "", &UnsupportedError{Field: p.Field, Why: fmt.Sprintf("the provider does not take it together with %s", f)}
		}
	}
	join := p.Join
	if join == "" {
		join = g.Separator
	}
	value := p.encode(ask)
	// A value with a separator in it would be read as another demand, or as none.
	if bad := strings.IndexFunc(value, unsafeInValue); bad >= 0 || value == "" ||
		p.Field != FieldSession && (strings.Contains(value, g.Separator) || strings.Contains(value, join)) {
		return "", &UnsupportedError{Field: p.Field, Value: ask.value(p.Field), Why: "the provider's grammar has no way to write it"}
	}
	if p.Key == "" {
		return value, nil
	}
	return p.Key + join + value, nil
}

// unsafeInValue is anything but what providers' examples show in values.
func unsafeInValue(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("_+.~", r)
}

func (p Piece) encode(ask Ask) string {
	if p.Field == FieldTTL {
		unit := time.Minute
		if p.Unit == "seconds" {
			unit = time.Second
		}
		return strconv.FormatInt(int64((ask.TTL+unit-1)/unit), 10)
	}
	value := ask.value(p.Field)
	for _, e := range p.Encode {
		switch e {
		case "lower":
			value = strings.ToLower(value)
		case "upper":
			value = strings.ToUpper(value)
		case "underscore":
			value = strings.ReplaceAll(value, " ", "_")
		case "plus":
			value = strings.ReplaceAll(value, " ", "+")
		case "nospace":
			value = strings.ReplaceAll(value, " ", "")
		case "country_prefix":
			value = strings.ToLower(ask.Country) + "_" + value
		}
	}
	return value
}

// has reports whether the ask demands f. A ttl belongs to a session and means nothing without one.
func (a Ask) has(f Field) bool {
	if f == FieldTTL {
		return a.TTL > 0 && a.Session != ""
	}
	return a.value(f) != ""
}

func (a Ask) value(f Field) string {
	switch f {
	case FieldCountry:
		return a.Country
	case FieldRegion:
		return a.Region
	case FieldCity:
		return a.City
	case FieldASN:
		return strings.TrimPrefix(strings.ToUpper(a.ASN), "AS")
	case FieldSession:
		return a.Session
	default:
		return ""
	}
}
