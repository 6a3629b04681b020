package classify

import "slices"

// contentText is the visible text, in characters, above which a page is taken to have content: the longest of
// 190 measured walls has 1,638 and all but the branded ones stay under 1,500.
const contentText = 1500

// A match is a rule that matched and where.
type match struct {
	rule *rule
	hit  hit
	full bool // counts as definitive
}

func (m match) signal() Signal {
	w := m.rule.table.weight()
	if m.rule.table == definitive && !m.full {
		w = supporting.weight()
	}
	return Signal{Rule: m.rule.id, Weight: w, Where: m.hit.where}
}

// wall looks for challenges, captchas and refusals: one definitive signal, or two independent supporting ones on
// a page without the business marker. Whatever matched without deciding is noted.
func (j *judge) wall() finding {
	matches := j.matches()
	f := decide(matches, j.out.present)
	for _, m := range matches {
		if !slices.Contains(f.signals, m.signal()) {
			j.noted = append(j.noted, m.signal())
		}
	}
	if f.found() && f.vendor == "" && StageOf(f.class) == StageChallenge {
		f.vendor = onlyVendor(matches)
	}
	if f.class != "" && j.v.status() == 429 && f.vendor == "" {
		f.class = RateLimited // nobody's wall, and the origin calls it a limit itself
	}
	return f
}

func (j *judge) matches() []match {
	var ms []match
	content := j.out.present || j.v.textSize > contentText
	for i := range j.c.walls {
		r := &j.c.walls[i]
		if h, ok := r.match(j.v); ok {
			ms = append(ms, match{rule: r, hit: h, full: r.table == definitive && (!r.dormant || !content)})
		}
	}
	return ms
}

// decide picks the class. The first definitive rule wins, since files put the special before the general; the
// others that agree about the vendor stand with it as signals.
func decide(ms []match, marker bool) finding {
	if i := slices.IndexFunc(ms, func(m match) bool { return m.full }); i >= 0 {
		first := ms[i]
		f := finding{class: first.rule.class, vendor: first.rule.vendor, confidence: sureSignature}
		for _, m := range ms[i:] {
			if m.full && m.rule.vendor == first.rule.vendor {
				f.signals = append(f.signals, m.signal())
			}
		}
		return f
	}
	if marker {
		return finding{}
	}
	return decideTogether(ms)
}

// decideTogether looks for two supporting signals from different sources that do not contradict each other
// about the vendor.
func decideTogether(ms []match) finding {
	for i, a := range ms {
		if a.rule.table == ambient || a.hit.source == fromStatus {
			continue // a status supports others; it never leads
		}
		for _, b := range ms {
			if !independent(a, b) {
				continue
			}
			f := finding{class: ms[i].rule.class, vendor: a.rule.vendor, confidence: sureTwo, signals: []Signal{a.signal(), b.signal()}}
			if f.vendor == "" {
				f.vendor = b.rule.vendor
			}
			return f
		}
	}
	return finding{}
}

// independent reports whether b supports a. A status does not support a title, because an error page's title only
// repeats its status.
func independent(a, b match) bool {
	switch {
	case b.rule.table == ambient || b.rule == a.rule || b.hit.source == a.hit.source:
		return false
	case a.hit.source == fromTitle && b.hit.source == fromStatus:
		return false
	default:
		return agree(a.rule, b.rule)
	}
}

func agree(a, b *rule) bool { return a.vendor == b.vendor || a.vendor == "" || b.vendor == "" }

// onlyVendor is the one vendor that all matches name; "" if they name none or several.
func onlyVendor(ms []match) string {
	var only string
	for _, m := range ms {
		switch v := m.rule.vendor; {
		case v == "" || v == only:
		case only == "":
			only = v
		default:
			return ""
		}
	}
	return only
}
