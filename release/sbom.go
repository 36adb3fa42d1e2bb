package main

import (
	"bytes"
	"debug/buildinfo"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the bill of materials of one binary as CycloneDX JSON: the modules and build
// settings recorded in the binary, and the licenses. It has no serial number, which would
// differ in each build.
func bill(file, version string, at time.Time, licences map[string][]string) ([]byte, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	self := cdx.Component{
		BOMRef: purl(info.Main.Path, version), Type: cdx.ComponentTypeApplication, Name: "countersign", Version: version,
		PackageURL: purl(info.Main.Path, version), Licenses: choices([]string{"Apache-2.0"}), Properties: &[]cdx.Property{},
	}
	for _, s := range info.Settings {
		*self.Properties = append(*self.Properties, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cdx.Component{library("std", std, "", []string{"BSD-3-Clause"})}
	refs := []string{purl("std", std)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, library(m.Path, m.Version, m.Sum, licences[m.Path]))
		refs = append(refs, purl(m.Path, m.Version))
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: at.Format(time.RFC3339), Component: &self}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	var b bytes.Buffer
	err = cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return b.Bytes(), err
}

// library is one module. Its Go checksum covers all its files and is not the hash of one
// file, so it is a property and not a hash.
func library(path, version, sum string, licences []string) cdx.Component {
	c := cdx.Component{BOMRef: purl(path, version), Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl(path, version), Licenses: choices(licences)}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}

func choices(ids []string) *cdx.Licenses {
	var all cdx.Licenses
	for _, id := range ids {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}

// purl is the package URL of a module, by which scanners identify it.
func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }
