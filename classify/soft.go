package classify

// shellText is the visible text, in characters, below which a page without media shows nothing: the measured
// threshold for settled pages.
const shellText = 40

// softFailure explains why an answer that is no wall is not useful either. The rules are data; the order of the
// classes is here: a session that ended also shows a login form, and a login form also lacks the content.
func (j *judge) softFailure() finding {
	best := finding{}
	for i := range j.c.soft {
		r := &j.c.soft[i]
		h, ok := r.match(j.v)
		if !ok {
			continue
		}
		m := match{rule: r, hit: h}
		switch {
		case r.class == best.class:
			best.signals = append(best.signals, m.signal())
			best.confidence = sureTwo
		case !best.found() || softRank(r.class) < softRank(best.class):
			for _, s := range best.signals {
				s.Weight = weightNoted
				j.noted = append(j.noted, s)
			}
			best = finding{class: r.class, vendor: r.vendor, confidence: sureLikely, signals: []Signal{m.signal()}}
		default:
			j.note(r.id, h.where)
		}
	}
	if best.found() {
		return best
	}
	return j.hollow()
}

func softRank(c Class) int {
	for i, x := range []Class{SessionEnded, LoginWall, ConsentWall, Maintenance, Soft404, Paywall, Unhydrated} {
		if x == c {
			return i
		}
	}
	return len(All())
}

// hollow finds pages that never came to show anything, and such as were cut before what the job looks for.
func (j *judge) hollow() finding {
	if j.v.doc == nil {
		return finding{}
	}
	if j.v.cut {
		return found(Truncated, sureLikely, "page.truncated", "HTML cut at the size limit")
	}
	if j.v.textSize < shellText && len(j.v.scripts)+len(j.v.inline) > 0 && !hasMedia(j.v.doc) {
		return found(Unhydrated, sureLikely, "page.shell", "visible text under 40 characters, and scripts")
	}
	return finding{}
}
