package web

import (
	"encoding/xml"
	"net/http"
	"strings"
)

// A Property is one setting the daemon runs with.
type Property struct {
	Key    string `json:"key" xml:"name"`
	Value  string `json:"value" xml:"value"`
	Final  bool   `json:"isFinal" xml:"final"`
	Source string `json:"resource" xml:"source"` // the file it stands in, or who set it
}

// conf answers GET /conf: the settings, as JSON or in the form of a configuration file, or one of them with name=.
func (s *site) conf(w http.ResponseWriter, r *http.Request) {
	kind := negotiate(r.Header.Values("Accept"))
	switch format := r.URL.Query().Get("format"); format {
	case "json":
		kind = typeJSON
	case "xml":
		kind = typeXML
	case "":
	default:
		http.Error(w, "format is "+format+"; it should be json or xml", http.StatusBadRequest)
		return
	}
	list := make([]Property, 0, len(s.Conf))
	name := r.URL.Query().Get("name")
	for _, p := range s.Conf {
		if secret(p.Key) {
			p.Value = "<redacted>"
		}
		if name == "" || name == p.Key {
			list = append(list, p)
		}
	}
	if name != "" && len(list) == 0 {
		http.Error(w, "Property "+name+" not found", http.StatusNotFound)
		return
	}
	if kind == typeXML {
		s.confXML(w, list)
		return
	}
	if name != "" {
		writeJSON(w, map[string]any{"property": list[0]})
		return
	}
	writeJSON(w, map[string]any{"properties": list})
}

// secret reports whether a setting is not to be shown, going by how its name ends, as Hadoop does.
func secret(key string) bool {
	key = strings.ToLower(key)
	for _, end := range []string{"secret", "password", "pass", "passphrase", "credential", "token", "secret.key", "access.key", "account.key"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

func (s *site) confXML(w http.ResponseWriter, list []Property) {
	type configuration struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []Property `xml:"property"`
	}
	data, err := xml.MarshalIndent(configuration{Properties: list}, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", typeXML+";charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(append([]byte(xml.Header), data...)) // the client is gone if this fails
}
