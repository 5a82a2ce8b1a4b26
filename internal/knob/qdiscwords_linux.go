package knob

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// attribute is one of route netlink (rtnetlink(7)).
type attribute struct {
	kind  uint16
	value []byte
}

// attributeHead is the size of struct rtattr, and what attributes are aligned to.
const attributeHead = 4

// attributesOf takes a run of attributes apart.
func attributesOf(raw []byte) ([]attribute, error) {
	var all []attribute
	for len(raw) > 0 {
		if len(raw) < attributeHead {
			return nil, fmt.Errorf("%d bytes are too few for an attribute", len(raw))
		}
		n := int(binary.NativeEndian.Uint16(raw))
		if n < attributeHead || n > len(raw) {
			return nil, fmt.Errorf("an attribute of %d bytes in %d", n, len(raw))
		}
		const flags = 0xc000 // nested, in network order (linux/netlink.h)
		all = append(all, attribute{binary.NativeEndian.Uint16(raw[2:]) &^ flags, raw[attributeHead:n]})
		raw = raw[min(len(raw), (n+3)&^3):]
	}
	return all, nil
}

// appendAttribute adds one to a run.
func appendAttribute(raw []byte, kind uint16, value []byte) []byte {
	raw = binary.NativeEndian.AppendUint16(raw, uint16(attributeHead+len(value)))
	raw = binary.NativeEndian.AppendUint16(raw, kind)
	raw = append(raw, value...)
	for len(raw)%attributeHead != 0 {
		raw = append(raw, 0)
	}
	return raw
}

// numbersOf reads the options that are known by name from the kernel's.
func (k qdiscKind) numbersOf(raw []byte) (map[string]uint32, error) {
	numbers := map[string]uint32{}
	if k.fifo {
		if len(raw) < 4 {
			return nil, fmt.Errorf("options of %s are %d bytes", k.name, len(raw))
		}
		numbers[k.options[0].name] = binary.NativeEndian.Uint32(raw)
		return numbers, nil
	}
	if len(k.options) == 0 {
		return numbers, nil
	}
	attrs, err := attributesOf(raw)
	if err != nil {
		return nil, fmt.Errorf("options of %s: %w", k.name, err)
	}
	for _, a := range attrs {
		if i := slices.IndexFunc(k.options, func(o qdiscOption) bool { return o.attr == a.kind }); i >= 0 && len(a.value) == 4 {
			numbers[k.options[i].name] = binary.NativeEndian.Uint32(a.value)
		}
	}
	return numbers, nil
}

// optionsOf are the kernel's options for numbers; nil for none.
func (k qdiscKind) optionsOf(numbers map[string]uint32) []byte {
	var raw []byte
	for _, o := range k.options {
		n, ok := numbers[o.name]
		if !ok {
			continue
		}
		value := binary.NativeEndian.AppendUint32(nil, n)
		if k.fifo {
			return value
		}
		raw = appendAttribute(raw, o.attr, value)
	}
	return raw
}

// again are the options to put back what the kernel told. Of a time it tells less
// than it has, by the rounding to us; the next us gives the same units again.
func (k qdiscKind) again(raw []byte) ([]byte, error) {
	attrs, err := attributesOf(raw)
	if err != nil {
		return nil, fmt.Errorf("options of %s: %w", k.name, err)
	}
	var out []byte
	for _, a := range attrs {
		value := a.value
		if i := slices.IndexFunc(k.options, func(o qdiscOption) bool { return o.attr == a.kind }); i >= 0 && k.options[i].codel && len(value) == 4 {
			value = binary.NativeEndian.AppendUint32(nil, binary.NativeEndian.Uint32(value)+1)
		}
		out = appendAttribute(out, a.kind, value)
	}
	return out, nil
}

// restoring are the options to make the qdisc again; nil for none.
func (k qdiscKind) restoring(q qdisc) ([]byte, error) {
	if k.fifo || len(k.options) == 0 {
		return k.optionsOf(q.numbers), nil
	}
	return k.again(q.raw)
}
