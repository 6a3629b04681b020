package identity

import "golang.org/x/text/language"

// Complete fills what the persona leaves open from the country of its exit. A country that is unknown leaves
// the browser's own settings.
func (p Persona) Complete(exitCountry string) Persona {
	if p.Country == "" {
		p.Country = exitCountry
	}
	if p.Locale == "" {
		p.Locale = localeOf(p.Country)
	}
	if p.TimeZone == "" {
		p.TimeZone = timeZones[p.Country]
	}
	return p
}

// localeOf is the most likely locale of a country, as CLDR's likely subtags say: "und-DE" is "de-DE".
func localeOf(country string) string {
	region, err := language.ParseRegion(country)
	if country == "" || err != nil || !region.IsCountry() {
		return ""
	}
	tag, err := language.Compose(language.Und, region)
	if err != nil {
		return ""
	}
	base, confidence := tag.Base()
	if confidence == language.No {
		return ""
	}
	return base.String() + "-" + region.String()
}

// timeZones names the time zone in which most people of a country live, after the zone database's zone.tab.
var timeZones = map[string]string{
	"AR": "America/Argentina/Buenos_Aires", "AT": "Europe/Vienna", "AU": "Australia/Sydney", "BE": "Europe/Brussels",
	"BG": "Europe/Sofia", "BR": "America/Sao_Paulo", "CA": "America/Toronto", "CH": "Europe/Zurich",
	"CL": "America/Santiago", "CN": "Asia/Shanghai", "CO": "America/Bogota", "CZ": "Europe/Prague",
	"DE": "Europe/Berlin", "DK": "Europe/Copenhagen", "EE": "Europe/Tallinn", "EG": "Africa/Cairo",
	"ES": "Europe/Madrid", "FI": "Europe/Helsinki", "FR": "Europe/Paris", "GB": "Europe/London",
	"GR": "Europe/Athens", "HK": "Asia/Hong_Kong", "HR": "Europe/Zagreb", "HU": "Europe/Budapest",
	"ID": "Asia/Jakarta", "IE": "Europe/Dublin", "IL": "Asia/Jerusalem", "IN": "Asia/Kolkata", "IT": "Europe/Rome",
	"JP": "Asia/Tokyo", "KR": "Asia/Seoul", "LT": "Europe/Vilnius", "LU": "Europe/Luxembourg", "LV": "Europe/Riga",
	"MX": "America/Mexico_City", "MY": "Asia/Kuala_Lumpur", "NL": "Europe/Amsterdam", "NO": "Europe/Oslo",
	"NZ": "Pacific/Auckland", "PE": "America/Lima", "PH": "Asia/Manila", "PL": "Europe/Warsaw",
	"PT": "Europe/Lisbon", "RO": "Europe/Bucharest", "RS": "Europe/Belgrade", "SA": "Asia/Riyadh",
	"SE": "Europe/Stockholm", "SG": "Asia/Singapore", "SI": "Europe/Ljubljana", "SK": "Europe/Bratislava",
	"TH": "Asia/Bangkok", "TR": "Europe/Istanbul", "TW": "Asia/Taipei", "UA": "Europe/Kyiv",
	"US": "America/New_York", "VN": "Asia/Ho_Chi_Minh", "ZA": "Africa/Johannesburg",
}
