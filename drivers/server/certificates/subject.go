package certificates

import (
	"encoding/asn1"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// An attribute is one part of a distinguished name.
type attribute struct {
	Type  asn1.ObjectIdentifier
	Value asn1.RawValue
}

// An attributeSET holds the attributes at one position of a distinguished name.
type attributeSET []attribute // asn1 treats types whose names end in SET as sets

// Subject returns the text of a DER-encoded distinguished name in the form of RFC 2253, as
// Java's X500Principal.getName does. ZooKeeper's ACLs identify certificates by this text.
func Subject(der []byte) (string, error) {
	var sets []attributeSET
	if rest, err := asn1.Unmarshal(der, &sets); err != nil || len(rest) > 0 {
		return "", fmt.Errorf("subject of a certificate: %w, %d bytes too many", err, len(rest))
	}
	var names []string
	for _, set := range slices.Backward(sets) {
		var parts []string
		for _, a := range set {
			parts = append(parts, a.String())
		}
		names = append(names, strings.Join(parts, "+"))
	}
	return strings.Join(names, ","), nil
}

// keywords are the attribute keywords of RFC 2253. Other types are written as OIDs, with their
// values in hexadecimal.
var keywords = map[string]string{
	"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
	"2.5.4.10": "O", "2.5.4.11": "OU",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
}

func (a attribute) String() string {
	id := a.Type.String()
	keyword, known := keywords[id]
	if !known || !isText(a.Value.Tag) {
		if !known {
			keyword = id
		}
		return keyword + "=#" + hex.EncodeToString(a.Value.FullBytes)
	}
	return keyword + "=" + escaped(string(a.Value.Bytes))
}

func isText(tag int) bool {
	switch tag {
	case asn1.TagUTF8String, asn1.TagPrintableString, asn1.TagT61String, asn1.TagIA5String,
		asn1.TagGeneralString, asn1.TagBMPString:
		return true
	}
	return false
}

// escaped puts a backslash before characters that are special in a name, and before spaces at
// either end.
func escaped(value string) string {
	inner := strings.Trim(value, " \r\n")
	start := strings.Index(value, inner)
	var b strings.Builder
	for i, r := range value {
		switch {
		case r == 0:
			b.WriteString(`\00`)
			continue
		case strings.ContainsRune(`,=+<>#;"\`, r), i < start, i >= start+len(inner):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
