package spec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of a plan file. The parser's time grows with the square of what is in
// one mapping, and it calls itself for what is nested.
const (
	MaxDocument = 1 << 20 // bytes
	maxTokens   = 20_000
	maxNesting  = 32  // of [ and {
	maxIndent   = 200 // columns, within which keys and entries of blocks begin
)

// nodeKind is what a value of a plan file is.
type nodeKind string

const (
	scalar   nodeKind = "a value"
	mapping  nodeKind = "a mapping"
	sequence nodeKind = "a list"
)

// node is a value of a plan file, and where it stands. The text of a scalar is
// as it is in the file: nothing is taken for a number or a truth value by the
// looks of it, so that the level on is called on.
type node struct {
	kind         nodeKind
	line, column int // from 1, in characters
	text         string
	empty        bool // no text at all, or ~ or null without quotes
	entries      []entry
	items        []*node
}

// entry is a key of a mapping with its value.
type entry struct{ key, value *node }

// place is an error at a place of a plan file.
type place struct {
	line, column int
	err          error
}

func (p *place) Error() string { return p.err.Error() }
func (p *place) Unwrap() error { return p.err }

// wrong is an error at the node.
func (n *node) wrong(format string, args ...any) error {
	return &place{n.line, n.column, fmt.Errorf(format, args...)}
}

// parseYAML reads a file of one mapping. Anchors, aliases, tags, merged keys and
// directives are no part of a plan.
func parseYAML(text string) (root *node, err error) {
	if len(text) > MaxDocument {
		return nil, &place{1, 1, fmt.Errorf("the file has %d bytes, more than %d", len(text), MaxDocument)}
	}
	defer func() {
		// The parser has not been proven against every text. What it has trouble
		// with is no plan in any case.
		if r := recover(); r != nil {
			root, err = nil, &place{1, 1, errors.New("the file can't be read as YAML")}
		}
	}()
	tokens := lexer.Tokenize(text)
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil:
		case body != nil:
			return nil, placed(d.Body.GetToken(), "a second document: a plan is one")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, &place{1, 1, errors.New("the file is empty: a plan has at least factors")}
	}
	return treeOf(body, 0)
}

func placed(t *token.Token, format string, args ...any) error {
	p := &place{1, 1, fmt.Errorf(format, args...)}
	if t != nil && t.Position != nil {
		p.line, p.column = t.Position.Line, t.Position.Column
	}
	return p
}

// syntaxError is the parser's error in one line, with its place.
func syntaxError(err error) error {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) {
		return placed(at.GetToken(), "%s", oneLine(at.GetMessage()))
	}
	return placed(nil, "%s", oneLine(err.Error()))
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}

// foreign are the things of YAML that a plan does not have.
var foreign = map[token.Type]string{
	token.AnchorType:     "an anchor (&)",
	token.AliasType:      "an alias (*): quote the text if it begins with *",
	token.TagType:        "a tag (!): quote the text if it begins with !",
	token.MergeKeyType:   "a merged key (<<)",
	token.DirectiveType:  "a directive (%)",
	token.MappingKeyType: "a key that is marked with ?",
}

// checkTokens looks for what is no part of a plan, and for what the parser could
// choke on.
func checkTokens(tokens token.Tokens) error {
	if len(tokens) > maxTokens {
		return placed(tokens[maxTokens], "the file has more than %d words and signs", maxTokens)
	}
	depth := 0
	for _, t := range tokens {
		if what, bad := foreign[t.Type]; bad {
			return placed(t, "%s is no part of a plan", what)
		}
		switch t.Type {
		case token.InvalidType:
			if strings.Contains(t.Error, "'\t'") {
				return placed(t, "a line is indented with blanks, not tabs")
			}
			return placed(t, "%s", oneLine(t.Error))
		case token.MappingStartType, token.SequenceStartType:
			if depth++; depth > maxNesting {
				return placed(t, "more than %d brackets are within one another", maxNesting)
			}
		case token.MappingEndType, token.SequenceEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType, token.MappingValueType:
			if depth == 0 && t.Position != nil && t.Position.Column > maxIndent {
				return placed(t, "a key or entry stands beyond column %d", maxIndent)
			}
		}
	}
	return nil
}

// treeOf makes the node of the parser's.
func treeOf(n ast.Node, depth int) (*node, error) {
	if depth > 2*maxIndent {
		return nil, placed(n.GetToken(), "values are nested too deeply")
	}
	made := &node{kind: scalar, line: 1, column: 1}
	if t := firstToken(n); t != nil && t.Position != nil {
		made.line, made.column = t.Position.Line, t.Position.Column
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		made.kind = mapping
		for _, v := range n.Values {
			e, err := entryOf(v, depth)
			if err != nil {
				return nil, err
			}
			made.entries = append(made.entries, e)
		}
	case *ast.MappingValueNode:
		made.kind = mapping
		e, err := entryOf(n, depth)
		if err != nil {
			return nil, err
		}
		made.entries = []entry{e}
	case *ast.SequenceNode:
		made.kind = sequence
		for _, v := range n.Values {
			item, err := treeOf(v, depth+1)
			if err != nil {
				return nil, err
			}
			made.items = append(made.items, item)
		}
	case *ast.LiteralNode:
		made.text = n.Value.Value
	case *ast.StringNode:
		made.text = n.Value
	case *ast.NullNode:
		made.empty = true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		made.text = n.GetToken().Value
	default:
		return nil, placed(n.GetToken(), "%s is no part of a plan", strings.ToLower(n.Type().String()))
	}
	return made, nil
}

func entryOf(v *ast.MappingValueNode, depth int) (entry, error) {
	key, err := treeOf(v.Key, depth+1)
	if err != nil {
		return entry{}, err
	}
	if key.kind != scalar {
		return entry{}, key.wrong("a key is a word")
	}
	if key.text == "" { // ~ and null, which are words here
		key.text = v.Key.GetToken().Value
	}
	value, err := treeOf(v.Value, depth+1)
	return entry{key, value}, err
}

// firstToken is where a value begins: a mapping without braces with its first
// key.
func firstToken(n ast.Node) *token.Token {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return m.Values[0].Key.GetToken()
		}
		return m.Start
	case *ast.MappingValueNode:
		return m.Key.GetToken()
	}
	return n.GetToken()
}
