package spec

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// PlanSchema returns the JSON schema (draft 2020-12) of plan files, for editors
// that complete and check what is typed. It is made from the tables of tests and
// knobs. ParseDocument is stricter: a value that a knob can't have, or two factors
// that set one thing, are beyond a schema.
func PlanSchema() []byte {
	type object = map[string]any
	text := object{"type": []string{"string", "number", "boolean"}}
	patterned := func(pattern, about string) object {
		return object{"type": "string", "pattern": pattern, "description": about}
	}
	duration := patterned(`^([0-9.]+(ns|us|µs|μs|ms|s|m|h))+$`, "a number with a unit: 500ms, 1.5s, 10m")
	percent := patterned(`^[0-9.eE+-]+ *%$`, "a percentage: 2%")
	name := object{"type": []string{"string", "number", "boolean"}, "pattern": "^[!-+\\--<>-~]{1,64}$"}
	list := func(item object) object {
		return object{"oneOf": []object{item, {"type": "array", "minItems": 1, "items": item}}}
	}
	closed := func(about string, properties object, required ...string) object {
		o := object{"type": "object", "description": about, "properties": properties, "additionalProperties": false}
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	commands := object{"oneOf": []object{{"type": "string"}, closed("commands that sh runs at that end",
		object{"apply": object{"type": "string", "minLength": 1}, "restore": object{"type": "string"}, "check": object{"type": "string"}}, "apply")}}
	settings := object{"type": "object", "description": "all that the level sets, by [DEVICE.]KNOB[.ARG][@END]",
		"patternProperties": object{refPattern(false): text, refPattern(true): commands}, "additionalProperties": false, "minProperties": 1}
	value := object{"oneOf": []object{text, {"type": "object"}, {"type": "null"}}}
	properties := object{
		"set":       object{"type": "string", "pattern": anyPattern(refPattern(false), refPattern(true)), "description": "what the levels set: [DEVICE.]KNOB[.ARG][@END]; knobs: " + knobHelp()},
		"slow":      object{"type": "boolean", "description": "a change is expensive: the factor changes only between whole plots"},
		"condition": object{"type": "boolean", "description": "the levels are circumstances: all else is compared within each, and they with nothing; one is enough"},
		"baseline":  object{"type": []string{"string", "number", "boolean"}, "description": "the level that the others are compared with; the first if not given"},
	}
	with := func(levels object) object {
		o := object{"levels": levels}
		for k, v := range properties {
			o[k] = v
		}
		return o
	}
	one := closed("levels of one knob", with(object{"oneOf": []object{
		{"type": "array", "minItems": 1, "items": name},
		{"type": "object", "minProperties": 1, "additionalProperties": value},
	}}), "set", "levels")
	several := closed("levels that each set several things", with(object{"type": "object", "minProperties": 1,
		"additionalProperties": object{"oneOf": []object{settings, {"type": "null"}}}}), "levels")
	delete(several["properties"].(object), "set")
	for _, f := range []object{one, several} {
		f["anyOf"] = []object{
			{"properties": object{"levels": object{"minItems": 2, "minProperties": 2}}},
			{"properties": object{"condition": object{"const": true}}, "required": []string{"condition"}},
		}
	}
	test := object{"type": "string", "pattern": `^ *(` + strings.Join(TestNames(), "|") + `)([ ,]|$)`, "description": "a test with its parameters: udp_rr size=1. Tests: " + strings.Join(TestNames(), ", ")}
	item := object{"anyOf": []object{test, {"type": []string{"string", "number"}, "pattern": "^[0-9]"}}}
	cpus := object{"type": []string{"string", "number"}, "description": "CPUs of the traffic threads: 0, 0,1, none"}
	plain := object{"type": "string"}
	schema := closed("A plan of netdelta.", object{
		"name":     name,
		"question": object{"type": "string", "description": "what the plan is to answer, for the report"},
		"hosts": closed("the two ends of a plan between hosts", object{"remote": plain, "local": plain, "data": plain,
			"cpu-local": cpus, "cpu-remote": cpus, "device-local": plain, "device-remote": plain}, "remote"),
		"lab": closed("two hosts made on this machine", object{"link": object{"enum": []string{"veth", "ether"}}, "context": plain,
			"offload": object{"type": "boolean"}, "mtu": object{"type": "integer", "minimum": minMTU, "maximum": maxMTU},
			"wire": patterned(`^(`+strings.Join(WireNames(), "|")+`)=`, "what the wire of ether does to frames: delay=100us,rate=1Gbit/s"),
			"ipv6": object{"type": "boolean"}, "cpu-local": cpus, "cpu-remote": cpus, "cpu-wire": cpus}),
		"factors": object{"type": "object", "minProperties": 1, "maxProperties": maxFactors, "description": "what varies, by name",
			"additionalProperties": object{"oneOf": []object{one, several}}},
		"variants": object{"type": "array", "minItems": 2, "description": "the combinations of levels that are run; all if not given",
			"items": object{"type": "object", "additionalProperties": text}},
		"fraction": patterned("^1/[1-9][0-9]*$", "the share of all combinations that is run: 1/2, 1/4 ..."),
		"tests":    object{"oneOf": []object{test, {"type": "array", "minItems": 1, "items": item}}},
		"sizes":    list(object{"type": []string{"string", "number"}}),
		"beside": list(object{"type": "string", "pattern": `^ *` + besideNames() + `([ ,]|$)`,
			"description": "tests that need no path, in slots of their own: wake by=futex at=other"}),
		"each":      object{"type": "integer", "minimum": 0, "maximum": MaxEach, "description": "how many round trips of each window are kept one by one"},
		"explain":   object{"enum": ExplainWays(), "description": "have the tests of round trips run a second time with some round trips watched, and tell where their time goes"},
		"blocks":    object{"type": "integer", "minimum": 1, "maximum": MaxBlocks},
		"precision": percent,
		"limit":     duration,
		"time":      duration,
		"warmup":    duration,
		"interval":  duration,
		"seed":      object{"type": "integer", "minimum": 0},
		"margin":    percent,
		"metrics":   list(plain),
		"counters":  list(plain),
		"soak":      object{"type": "boolean"},
	}, "factors")
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "netdelta plan"
	schema["not"] = object{"anyOf": []object{{"required": []string{"hosts", "lab"}}, {"required": []string{"fraction", "variants"}}}}
	out, err := json.MarshalIndent(schema, "", "  ")
	if err != nil { // of maps, texts and numbers
		return []byte("{}\n")
	}
	return append(out, '\n')
}

// refPattern is the form of references to knobs, of commands or of the others.
func refPattern(commands bool) string {
	var names []string
	for _, k := range knobs {
		if (k.Scope == OnCommand) != commands {
			continue
		}
		p := regexp.QuoteMeta(k.Name)
		if k.Scope == OnDevice {
			p = `([^\s/:@]+\.)?` + p
		}
		if k.Arg != "" {
			p += `\.[^\s@]+`
		}
		names = append(names, p)
	}
	return fmt.Sprintf("^(%s)(@(%s|%s|%s))?$", strings.Join(names, "|"), EndLocal, EndRemote, EndBoth)
}

// besideNames are the tests that can run beside, as a pattern.
func besideNames() string {
	var names []string
	for _, k := range kinds {
		if k.Pattern == Wake {
			names = append(names, k.Name)
		}
	}
	return "(" + strings.Join(names, "|") + ")"
}

func anyPattern(patterns ...string) string { return "(" + strings.Join(patterns, ")|(") + ")" }

// knobHelp is the table of knobs in a line.
func knobHelp() string {
	all := make([]string, len(knobs))
	for i, k := range knobs {
		all[i] = fmt.Sprintf("%s (%s; %s)", k.Written(), k.Form, k.About)
	}
	return strings.Join(all, ", ")
}
