package scheduler

import "slices"

// capable answers the sources that can express all of in, or the first demand that none of them can.
func capable(sources []*Source, in Intent) ([]*Source, *RefusedError) {
	demands := []struct {
		field, value, why string
		can               func(*Source) bool
	}{
		{"exit", in.Exit, "no exit has that name", func(s *Source) bool { return s.Name == in.Exit }},
		{"country", in.Country, "no source offers it", func(s *Source) bool { return s.offers(in.Country) }},
		{"region", in.Region, "no source can express a region", func(s *Source) bool { return s.Region }},
		{"city", in.City, "no source can express a city, and it is never weakened", func(s *Source) bool { return s.City }},
		{"asn", in.ASN, "no source can express a network", func(s *Source) bool { return s.ASN }},
	}
	left, err := speaking(sources, in)
	if err != nil {
		return nil, err
	}
	for _, d := range demands {
		if d.value == "" {
			continue
		}
		left = slices.DeleteFunc(left, func(s *Source) bool { return !d.can(s) })
		if len(left) == 0 {
			return nil, &RefusedError{Field: d.field, Value: d.value, Reason: d.why}
		}
	}
	return left, nil
}

// capable is the function of that name over the configured sources, which never change. It remembers its answers:
// nobody may write to them.
func (s *Scheduler) capable(in Intent) ([]*Source, *RefusedError) {
	in.Mode, in.Window, in.Class = "", 0, ""
	if known, ok := s.able[in]; ok {
		return known, nil
	}
	sources, refusal := capable(s.sources, in)
	if refusal != nil {
		return nil, refusal
	}
	if len(s.able) >= maxAble {
		clear(s.able)
	}
	s.able[in] = sources
	return sources, nil
}

// speaking answers the sources of the intent's protocol, in a new slice. An intent without one takes any proxy, or
// whatever its named exit speaks; it goes direct only where nothing but direct exits is configured, because to leave
// from our own address must be asked for.
func speaking(sources []*Source, in Intent) ([]*Source, *RefusedError) {
	if len(sources) == 0 {
		return nil, &RefusedError{Field: "protocol", Value: in.Protocol, Reason: "no source is configured"}
	}
	proxied := slices.ContainsFunc(sources, func(s *Source) bool { return s.Protocol != protocolDirect })
	var out []*Source
	for _, s := range sources {
		switch {
		case in.Protocol != "" && s.Protocol != in.Protocol:
		case in.Protocol == "" && in.Exit == "" && proxied && s.Protocol == protocolDirect:
		default:
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, &RefusedError{Field: "protocol", Value: in.Protocol, Reason: "no source speaks it"}
	}
	return out, nil
}

// offers reports whether country may be asked for. A provider that lists none offers any; a fixed exit that lists
// none is nowhere known.
func (s *Source) offers(country string) bool {
	if len(s.Countries) == 0 {
		return !s.Fixed
	}
	return slices.Contains(s.Countries, country)
}

// account is the provider whose credential and account the source uses.
func (s *Source) account() string {
	if s.Provider == "" {
		return s.Name
	}
	return s.Provider
}

// segment is the unit of supply of an intent at the source.
func (s *Source) segment(in Intent) Segment {
	class := in.Class
	if class == "" {
		class = "default"
	}
	return Segment{Provider: s.account(), Country: in.Country, Class: class, Protocol: s.Protocol}
}

// check reports what is wrong with the request itself.
func (r Request) check() *RefusedError {
	missing := func(field string) *RefusedError { return &RefusedError{Field: field, Reason: "is empty"} }
	switch {
	case r.Job == "":
		return missing("job")
	case r.Identity == "":
		return missing("identity")
	case r.Origin == "":
		return missing("origin")
	case r.Intent.Window < 0:
		return &RefusedError{Field: "window", Value: r.Intent.Window.String(), Reason: "is negative"}
	case r.Limits.validate() != nil:
		return &RefusedError{Field: "budget", Reason: "a limit is negative"}
	}
	switch r.Intent.Mode {
	case "", Rotate, Windowed, Static:
		return nil
	default:
		return &RefusedError{Field: "mode", Value: string(r.Intent.Mode), Reason: "is none of rotate, windowed, static"}
	}
}

// Express reports the first demand of an intent that none of the sources can express, as a *RefusedError; nil if one
// can express them all.
func Express(sources []Source, in Intent) error {
	all := make([]*Source, len(sources))
	for i := range sources {
		all[i] = &sources[i]
	}
	if _, refused := capable(all, in); refused != nil {
		return refused
	}
	return nil
}
