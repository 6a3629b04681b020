package strict

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	durationForm = regexp.MustCompile(`^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+$`)
	durationPart = regexp.MustCompile(`([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)`)
	sizeForm     = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?((?:[kKMG]i?)?B)$`)
)

// ParseDuration reads a duration such as 90s, 1h30m or 1d, a day being 24 hours. ok is false without a unit, for
// negative values, and for what does not fit a time.Duration.
func ParseDuration(text string) (d time.Duration, ok bool) {
	if !durationForm.MatchString(text) {
		return 0, false
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	var total float64
	for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(part[1], 64)
		if err != nil {
			return 0, false
		}
		total += v * float64(units[part[2]])
	}
	if total >= math.MaxInt64 {
		return 0, false
	}
	return time.Duration(total), true
}

// ParseSize reads a number of bytes such as 500kB, 5MB or 2MiB: kB, MB and GB count in thousands (SI), KiB, MiB and
// GiB in 1024 (IEC). ok is false without a unit, and for what does not fit.
func ParseSize(text string) (bytes int64, ok bool) {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	units := map[string]float64{"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
	v, err := strconv.ParseFloat(m[1], 64)
	if v *= units[strings.ToUpper(m[2])]; err != nil || v >= math.MaxInt64 {
		return 0, false
	}
	return int64(v), true
}
