package jobfile_test

import (
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/limpet-dev/limpet/harness/strict/stricttest"
)

// The shape of a job file, from which job.schema.json is made. What the loader reads and this does not say is
// refused as an unknown key, so the two cannot drift apart unseen.

func TestSchemaIsThatOfTheShape(t *testing.T) {
	stricttest.Golden(t, "job.schema.json", "Limpet job file", fileShape{})
}

type fileShape struct {
	Schema   string        `yaml:"$schema" jsonschema_description:"Where editors find this schema."`
	Version  version       `yaml:"version" jsonschema:"required"`
	Defaults defaultsShape `yaml:"defaults" jsonschema_description:"What every job has unless it says otherwise. Maps are merged key by key and lists are replaced."`
	Scope    scopeShape    `yaml:"scope" jsonschema_description:"Where these jobs may go and who answers for them."`
	Jobs     []jobShape    `yaml:"jobs" jsonschema:"required,minItems=1" jsonschema_description:"The jobs. One with foreach stands for many."`
}

type version struct{}

func (version) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Enum: []any{1}, Description: "Version of the format: 1.",
		Extras: map[string]any{"errorMessage": "is not a version that this program reads: write version: 1"},
	}
}

type scopeShape struct {
	Origins []string `yaml:"origins" jsonschema:"minItems=1" jsonschema_description:"Host names. A name covers its sub-domains. Without it: the hosts of the jobs' first steps."`
	Owner   string   `yaml:"owner" jsonschema_description:"Who answers for these jobs. Required unless every origin is loopback or ends in .test or .localhost."`
	Basis   string   `yaml:"basis" jsonschema_description:"On what ground the jobs may go there. Required like owner."`
	Expires string   `yaml:"expires" jsonschema_description:"The last day of the authorization such as 2027-03-31, or a time such as 2027-03-31T12:00:00Z."`
}

type defaultsShape struct {
	Identity   defaultIdentityShape `yaml:"identity" jsonschema_description:"What the identities have in common."`
	Intent     intentShape          `yaml:"intent"`
	Budget     budgetShape          `yaml:"budget"`
	Trace      traceShape           `yaml:"trace"`
	Continuity bool                 `yaml:"continuity" jsonschema_description:"Never rotate inside a job."`
	Robots     robots               `yaml:"robots"`
	Expect     expectShape          `yaml:"expect"`
}

type jobShape struct {
	ID          string        `yaml:"id" jsonschema:"required,minLength=1" jsonschema_description:"Name of the job: letters, digits and . _ - @ +. Unique once variables are filled in."`
	Description string        `yaml:"description" jsonschema_description:"For people."`
	Foreach     foreach       `yaml:"foreach"`
	Identity    identityShape `yaml:"identity" jsonschema_description:"Who the job acts as. Without it every job is an identity of its own."`
	Intent      intentShape   `yaml:"intent"`
	Budget      budgetShape   `yaml:"budget"`
	Trace       traceShape    `yaml:"trace"`
	Continuity  bool          `yaml:"continuity" jsonschema_description:"Never rotate inside this job."`
	Robots      robots        `yaml:"robots"`
	Steps       steps         `yaml:"steps" jsonschema:"required"`
	Expect      expectShape   `yaml:"expect"`
}

type robots string

func (robots) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Enum: []any{"obey", "ignore"},
		Description: "Whether robots.txt is obeyed (the default). Ignoring it needs scope.owner.",
	}
}

type foreach struct{}

func (foreach) JSONSchema() *jsonschema.Schema {
	scalar := &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}}
	one := uint64(1)
	list := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "array", Items: scalar, MinItems: &one} }
	properties := jsonschema.NewProperties()
	file := stricttest.OneOf(stricttest.Text(), list())
	file.Description = "A .csv file with a header line, or a .jsonl file of one object a line; relative to this file."
	properties.Set("file", file)
	return &jsonschema.Schema{
		Type: "object", MinProperties: &one, Properties: properties, AdditionalProperties: list(),
		Description: "Makes one job for each combination of the lists, or for each row of a file.",
	}
}

type identityShape struct {
	Key       string       `yaml:"key" jsonschema:"minLength=1" jsonschema_description:"Name of the identity. Jobs with the same key share a session."`
	Persona   personaShape `yaml:"persona"`
	Exclusive bool         `yaml:"exclusive" jsonschema_description:"At most one live job of this identity in the whole fleet."`
}

type defaultIdentityShape struct {
	Persona   personaShape `yaml:"persona"`
	Exclusive bool         `yaml:"exclusive" jsonschema_description:"At most one live job of an identity in the whole fleet."`
}

type personaShape struct {
	Country  stricttest.Country `yaml:"country"`
	Locale   string             `yaml:"locale" jsonschema:"example=de-DE" jsonschema_description:"BCP 47 language tag. Without it: that of the exit's country."`
	TimeZone string             `yaml:"timezone" jsonschema:"example=Europe/Berlin" jsonschema_description:"IANA time zone. Without it: that of the exit's country."`
	Viewport viewportShape      `yaml:"viewport"`
}

type viewportShape struct {
	Width  int `yaml:"width" jsonschema:"required,minimum=100,maximum=8192" jsonschema_description:"CSS pixels."`
	Height int `yaml:"height" jsonschema:"required,minimum=100,maximum=8192" jsonschema_description:"CSS pixels."`
}

type intentShape struct {
	Mode     string             `yaml:"mode" jsonschema:"enum=rotate,enum=windowed,enum=static" jsonschema_description:"How long an identity rides one exit."`
	Country  stricttest.Country `yaml:"country"`
	Region   string             `yaml:"region" jsonschema:"minLength=1" jsonschema_description:"Region of the country. Never weakened to the country."`
	City     string             `yaml:"city" jsonschema:"minLength=1" jsonschema_description:"City. Never weakened to the country."`
	ASN      asn                `yaml:"asn"`
	Protocol string             `yaml:"protocol" jsonschema:"enum=http,enum=socks5,enum=direct" jsonschema_description:"How bytes reach the exit."`
	Minutes  int                `yaml:"minutes" jsonschema:"minimum=1,maximum=10080" jsonschema_description:"Length of the window in minutes."`
	Class    string             `yaml:"class" jsonschema:"minLength=1" jsonschema_description:"Class of the target: supply is accounted by it."`
	Exit     string             `yaml:"exit" jsonschema:"minLength=1" jsonschema_description:"Name of one exit or provider of the configuration."`
}

type asn struct{}

func (asn) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		OneOf:       []*jsonschema.Schema{{Type: "integer", Minimum: "1"}, {Type: "string", Pattern: `^(?:AS)?[1-9][0-9]*$|\{\{`}},
		Description: "Number of the autonomous system.", Extras: map[string]any{"errorMessage": "is not the number of an autonomous system, such as 3320 or AS3320"},
	}
}

type budgetShape struct {
	Attempts     int                 `yaml:"attempts" jsonschema:"minimum=1,maximum=100" jsonschema_description:"Tries at the job, at most."`
	RouteChanges int                 `yaml:"route_changes" jsonschema:"minimum=0,maximum=100" jsonschema_description:"New sessions for the job, at most."`
	Elapsed      stricttest.Duration `yaml:"elapsed"`
	Bytes        stricttest.Size     `yaml:"bytes"`
}

type traceShape struct {
	Failed bool    `yaml:"failed" jsonschema:"default=true" jsonschema_description:"Keep the trace of every failed attempt."`
	Sample float64 `yaml:"sample" jsonschema:"minimum=0,maximum=1" jsonschema_description:"Share of useful attempts whose trace is kept, from 0 to 1."`
	Level  string  `yaml:"level" jsonschema:"enum=light,enum=full,default=light" jsonschema_description:"How much a trace holds."`
}

type expectShape struct {
	Marker  string             `yaml:"marker" jsonschema:"minLength=1" jsonschema_description:"CSS selector without which a page is not useful."`
	Geo     geoShape           `yaml:"geo" jsonschema_description:"What a page of the right market shows."`
	Records expectRecordsShape `yaml:"records"`
	Empty   string             `yaml:"empty" jsonschema:"minLength=1" jsonschema_description:"CSS selector that shows that there is honestly nothing."`
}

type geoShape struct {
	Currency currency           `yaml:"currency"`
	Country  stricttest.Country `yaml:"country"`
	Language string             `yaml:"language" jsonschema:"minLength=1" jsonschema_description:"Beginning of the page's language, such as de."`
	Selector string             `yaml:"selector" jsonschema:"minLength=1" jsonschema_description:"CSS selector that must match."`
}

type currency string

func (currency) JSONSchema() *jsonschema.Schema {
	return stricttest.Matching(`[A-Z]{3}`, "is not a currency of three capital letters, such as EUR", "ISO 4217 code of the currency that the page shows.", "EUR")
}

type recordsShape struct {
	Each   string           `yaml:"each" jsonschema:"required,minLength=1" jsonschema_description:"CSS selector of one record's element."`
	Fields map[string]field `yaml:"fields" jsonschema:"required,minProperties=1" jsonschema_description:"How to read each field inside that element."`
	Min    int              `yaml:"min" jsonschema:"minimum=1,default=1" jsonschema_description:"Fewer records are a failure."`
}

type expectRecordsShape struct {
	recordsShape `yaml:",inline"`

	Schema string `yaml:"schema" jsonschema:"minLength=1" jsonschema_description:"JSON Schema file of one record, relative to this file."`
}

type field struct{}

func (field) JSONSchema() *jsonschema.Schema {
	s := stricttest.OneOf(stricttest.Text(), stricttest.Inline(fieldShape{}))
	s.Description = "A CSS selector, or a map for more than its text."
	return s
}

type fieldShape struct {
	CSS      string `yaml:"css" jsonschema:"minLength=1" jsonschema_description:"CSS selector inside the record. Without it: the record's element itself."`
	Attr     string `yaml:"attr" jsonschema:"minLength=1" jsonschema_description:"Attribute to read instead of the text."`
	Type     string `yaml:"type" jsonschema:"enum=text,enum=number,enum=decimal,enum=integer,enum=boolean,enum=url,enum=price,enum=date,default=text" jsonschema_description:"What the text must be."`
	Count    bool   `yaml:"count" jsonschema_description:"The number of matches instead of a value."`
	Optional bool   `yaml:"optional" jsonschema_description:"May be missing."`
	Pattern  string `yaml:"pattern" jsonschema:"minLength=1" jsonschema_description:"RE2 regular expression: its first group is the value, or else the whole match."`
}
