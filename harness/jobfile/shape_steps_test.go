package jobfile_test

import (
	"github.com/invopop/jsonschema"

	"github.com/limpet-dev/limpet/harness/strict/stricttest"
)

const later = "is not in this version of Limpet"

type steps struct{}

func (steps) JSONSchema() *jsonschema.Schema {
	one := uint64(1)
	list := &jsonschema.Schema{Type: "array", MinItems: &one, Items: stricttest.Inline(stepShape{})}
	recording := jsonschema.NewProperties()
	recording.Set("recording", stricttest.Refused(later))
	s := stricttest.OneOf(list, &jsonschema.Schema{Type: "object", Properties: recording, AdditionalProperties: jsonschema.FalseSchema})
	s.Description = "What to do, in order. The first step is a goto."
	return s
}

// stepShape has one verb. Each has a short form for its main word and a long form for the rest.
type stepShape struct {
	Goto       short[gotoShape]       `yaml:"goto" jsonschema_description:"Opens an address."`
	Click      short[elementShape]    `yaml:"click" jsonschema_description:"Clicks an element."`
	Fill       fillShape              `yaml:"fill" jsonschema_description:"Replaces the value of an input."`
	Select     selectShape            `yaml:"select" jsonschema_description:"Chooses options of a select element by value or by label."`
	Press      short[pressShape]      `yaml:"press" jsonschema_description:"Presses one key."`
	Wait       short[waitShape]       `yaml:"wait" jsonschema_description:"Waits for one thing; a selector in the short form."`
	Scroll     short[scrollShape]     `yaml:"scroll" jsonschema_description:"Scrolls an element into view or the page by pixels."`
	Extract    extract                `yaml:"extract"`
	Paginate   short[paginateShape]   `yaml:"paginate" jsonschema_description:"Takes the expected records of every page behind a next link."`
	Screenshot short[screenshotShape] `yaml:"screenshot" jsonschema_description:"Keeps a picture in the trace."`
	Evaluate   short[evaluateShape]   `yaml:"evaluate" jsonschema_description:"Runs a JavaScript expression in the page."`
	Boundary   short[boundaryShape]   `yaml:"boundary" jsonschema_description:"Marks a place where rotation may happen."`
	Hover      refused                `yaml:"hover"`
	Download   refused                `yaml:"download"`
	Upload     refused                `yaml:"upload"`
	Frame      refused                `yaml:"frame"`
	When       refused                `yaml:"when"`
}

// JSONSchemaExtend refuses a step that does nothing.
func (stepShape) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	s.MinProperties = &one
}

type refused struct{}

func (refused) JSONSchema() *jsonschema.Schema { return stricttest.Refused(later) }

// short is a verb whose main word may stand alone.
type short[T any] struct{}

func (short[T]) JSONSchema() *jsonschema.Schema {
	var long T
	return stricttest.OneOf(stricttest.Text(), stricttest.Inline(long))
}

type extract struct{}

func (extract) JSONSchema() *jsonschema.Schema {
	s := stricttest.OneOf(&jsonschema.Schema{Type: "null"}, stricttest.Inline(recordsShape{}))
	s.Description = "Takes records of the page as it is now: those that the job expects, or others."
	return s
}

type timed struct {
	Timeout stricttest.Duration `yaml:"timeout"`
}

type acting struct {
	timed `yaml:",inline"`

	Effect bool `yaml:"effect" jsonschema_description:"Begins a side effect: never retried by itself."`
}

type gotoShape struct {
	acting `yaml:",inline"`

	URL string `yaml:"url" jsonschema:"required,minLength=1" jsonschema_description:"Absolute http or https address."`
}

type elementShape struct {
	acting `yaml:",inline"`

	Selector string `yaml:"selector" jsonschema:"required,minLength=1" jsonschema_description:"CSS selector."`
}

type fillShape struct {
	elementShape `yaml:",inline"`

	Value  *string `yaml:"value" jsonschema_description:"What to type."`
	Secret string  `yaml:"secret" jsonschema:"minLength=1" jsonschema_description:"A reference such as {{env.SHOP_PASS}} whose value is shown nowhere."`
}

type selectShape struct {
	elementShape `yaml:",inline"`

	Value  string   `yaml:"value" jsonschema_description:"The option."`
	Values []string `yaml:"values" jsonschema:"minItems=1" jsonschema_description:"The options."`
}

type pressShape struct {
	acting `yaml:",inline"`

	Key      string `yaml:"key" jsonschema:"required,minLength=1" jsonschema_description:"Name of the key such as Enter or a."`
	Selector string `yaml:"selector" jsonschema:"minLength=1" jsonschema_description:"CSS selector of the element that gets it. Without it: what has the focus."`
}

type waitShape struct {
	timed `yaml:",inline"`

	Selector string              `yaml:"selector" jsonschema:"minLength=1" jsonschema_description:"Until it matches a visible element."`
	URL      string              `yaml:"url" jsonschema:"minLength=1" jsonschema_description:"Until the address matches; * stands for any characters."`
	Idle     bool                `yaml:"idle" jsonschema_description:"Until the document holds still."`
	Time     stricttest.Duration `yaml:"time"`
}

type scrollShape struct {
	timed `yaml:",inline"`

	Selector string `yaml:"selector" jsonschema:"minLength=1" jsonschema_description:"CSS selector of the element to bring into view."`
	X        int    `yaml:"x" jsonschema_description:"CSS pixels to the right."`
	Y        int    `yaml:"y" jsonschema_description:"CSS pixels down."`
}

type paginateShape struct {
	acting `yaml:",inline"`

	Next string `yaml:"next" jsonschema:"required,minLength=1" jsonschema_description:"CSS selector of the link to the next page."`
	Max  int    `yaml:"max" jsonschema:"minimum=1,maximum=10000,default=10" jsonschema_description:"Pages at most."`
}

type screenshotShape struct {
	timed `yaml:",inline"`

	Name string `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"Name of the picture."`
	Full bool   `yaml:"full" jsonschema_description:"The whole page instead of the viewport."`
}

type evaluateShape struct {
	acting `yaml:",inline"`

	Script string `yaml:"script" jsonschema:"required,minLength=1" jsonschema_description:"JavaScript expression. A literal {{ is written {{{{."`
}

type boundaryShape struct {
	Name string `yaml:"name" jsonschema:"required,minLength=1" jsonschema_description:"Name of the boundary."`
}
