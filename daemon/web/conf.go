package web

import (
	"encoding/xml"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"heddle/daemon"
	"heddle/yarn/rest"
)

// A Property is a setting that the daemon runs with.
type Property struct {
	Key    string `json:"key" xml:"name"`
	Value  string `json:"value" xml:"value"`
	Final  bool   `json:"isFinal" xml:"final"`
	Source string `json:"resource" xml:"source"` // the file it comes from
}

// conf answers GET /conf: the settings in the form of a configuration file, or as JSON if Accept names that, as Hadoop
// does; a single one with name=.
func (s *site) conf(r *http.Request) (rest.Answer, error) {
	kind := typeXML
	if strings.Contains(strings.Join(r.Header.Values("Accept"), ","), "json") {
		kind = typeJSON
	}
	switch format := r.URL.Query().Get("format"); format {
	case "json":
		kind = typeJSON
	case "xml":
		kind = typeXML
	case "":
	default:
		return rest.Answer{}, &oops{status: http.StatusBadRequest, plain: true, message: "format is " + format + "; it should be json or xml"}
	}
	list := make([]Property, 0, len(s.Conf))
	name := r.URL.Query().Get("name")
	secret := s.secrets()
	for i, p := range s.Conf {
		if err := daemon.Breathe(r.Context(), i); err != nil {
			return rest.Answer{}, err
		}
		if secret(p.Key) {
			p.Value = "<redacted>"
		}
		if name == "" || name == p.Key {
			list = append(list, p)
		}
	}
	switch {
	case name != "" && len(list) == 0:
		return rest.Answer{}, &oops{status: http.StatusNotFound, plain: true, message: "Property " + name + " not found"}
	case kind == typeXML:
		return confXML(list)
	case name != "":
		return indented(map[string]any{"property": list[0]})
	}
	return indented(map[string]any{"properties": list})
}

// telling matches parts of names of settings whose values must not be shown: Hadoop's own list and a little more.
var telling = regexp.MustCompile(`(?i)secret|password|pass$|passphrase|credential|token$|oauth.*token|(access|account|encryption)\.key|private\.key|z(k|ookeeper)[.-]auth$`)

// sensitive is the property that names further ones: regular expressions separated by commas or white space.
const sensitive = "hadoop.security.sensitive-config-keys"

// secrets returns a function that reports whether a setting must not be shown. If the property sensitive cannot be
// parsed, no setting is shown.
func (s *site) secrets() func(key string) bool {
	all := []*regexp.Regexp{telling}
	for _, p := range s.Conf {
		if p.Key != sensitive {
			continue
		}
		for text := range strings.FieldsFuncSeq(p.Value, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
			more, err := regexp.Compile(text)
			if err != nil {
				s.Log.Warn("settings are not shown: "+sensitive+" is not a valid list of patterns", "part", text, "error", err)
				return func(string) bool { return true }
			}
			all = append(all, more)
		}
	}
	return func(key string) bool {
		return slices.ContainsFunc(all, func(r *regexp.Regexp) bool { return r.MatchString(key) })
	}
}

// confXML returns settings in the form of a configuration file.
func confXML(list []Property) (rest.Answer, error) {
	type configuration struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []Property `xml:"property"`
	}
	data, err := xml.MarshalIndent(configuration{Properties: list}, "", "  ")
	return rest.Answer{Value: document{typeXML, append([]byte(xml.Header), data...)}}, err
}
