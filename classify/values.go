package classify

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	errFieldMissing = errors.New("missing")
	errNoNumber     = errors.New("no number")
)

// A reader turns a field's collapsed, non-empty text into its value.
type reader func(raw string, loc locale) (any, error)

// readerOf gives the reader of a type of field; nil if there is no such type.
func readerOf(kind string) reader {
	switch kind {
	case "", "text":
		return func(raw string, _ locale) (any, error) { return raw, nil }
	case "number", "decimal":
		return readNumber
	case "integer":
		return readInteger
	case "price":
		return readPrice
	case "boolean":
		return readBoolean
	case "url":
		return readURL
	case "date":
		return readDate
	default:
		return nil
	}
}

// fieldTypes names the types for people.
const fieldTypes = "text, number, decimal, integer, boolean, url, price and date"

func readNumber(raw string, loc locale) (any, error) {
	nums := numbersIn(raw)
	switch len(nums) {
	case 0:
		return nil, fmt.Errorf("%w in %q", errNoNumber, clip(raw, maxRawSignal))
	case 1:
		return loc.decimal(nums[0].text)
	default:
		return nil, fmt.Errorf("several numbers in %q: say which with a pattern", clip(raw, maxRawSignal))
	}
}

func readInteger(raw string, loc locale) (any, error) {
	v, err := readNumber(raw, loc)
	if err != nil {
		return nil, err
	}
	n, ok := v.(json.Number)
	if !ok {
		return nil, errNoNumber
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	if strings.Trim(fraction, "0") != "" {
		return nil, fmt.Errorf("%q is not whole", clip(raw, maxRawSignal))
	}
	return json.Number(whole), nil
}

// readPrice is the one amount in raw that stands beside a currency, or else the only number.
func readPrice(raw string, loc locale) (any, error) {
	var priced []number
	for _, n := range numbersIn(raw) {
		if n.currency(raw) != "" {
			priced = append(priced, n)
		}
	}
	if len(priced) == 1 {
		return loc.decimal(priced[0].text)
	}
	return readNumber(raw, loc)
}

func readBoolean(raw string, _ locale) (any, error) {
	switch strings.ToLower(raw) {
	case "true", "yes", "on", "1", "y":
		return true, nil
	case "false", "no", "off", "0", "n":
		return false, nil
	}
	return nil, fmt.Errorf("%q is neither true nor false", clip(raw, maxRawSignal))
}

func readURL(raw string, loc locale) (any, error) {
	u, err := resolve(raw, loc.address)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no web address", clip(raw, maxRawSignal))
	}
	return u.String(), nil
}

// readDate gives a day as 2006-01-02 and an instant in RFC 3339.
func readDate(raw string, loc locale) (any, error) {
	if t, err := time.Parse(time.RFC3339, raw); err == nil {
		return t.Format(time.RFC3339), nil
	}
	for _, layout := range dayLayouts() {
		if t, err := time.Parse(layout, raw); err == nil {
			return t.Format(time.DateOnly), nil
		}
	}
	if t, ok := httpDate(raw); ok {
		return t.Format(time.RFC3339), nil
	}
	return readSlashDate(raw, loc)
}

func readSlashDate(raw string, loc locale) (any, error) {
	var days []string
	for _, layout := range loc.slashLayouts() {
		t, err := time.Parse(layout, strings.ReplaceAll(raw, "-", "/"))
		if day := t.Format(time.DateOnly); err == nil && !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	switch len(days) {
	case 1:
		return days[0], nil
	case 0:
		return nil, fmt.Errorf("%q is no date", clip(raw, maxRawSignal))
	default:
		return nil, fmt.Errorf("%q is %s or %s: the page does not say which", clip(raw, maxRawSignal), days[0], days[1])
	}
}
