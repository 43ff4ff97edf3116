package netguard

import (
	"encoding/xml"
	"path/filepath"
)

// mavenSettings is what a settings.xml says about servers.
type mavenSettings struct {
	Mirrors  []mavenServer `xml:"mirrors>mirror"`
	Profiles []struct {
		Repositories []mavenServer `xml:"repositories>repository"`
		Plugins      []mavenServer `xml:"pluginRepositories>pluginRepository"`
	} `xml:"profiles>profile"`
}

// mavenServer is a mirror or a repository.
type mavenServer struct {
	ID      string `xml:"id"`
	URL     string `xml:"url"`
	Blocked bool   `xml:"blocked"`
}

// presetMaven is Maven Central, and the mirrors and repositories of the user's
// and the installation's settings.xml.
func presetMaven(f *finder) error {
	f.builtIn("repo.maven.apache.org", "repo1.maven.org")
	files := []string{f.user.home(".m2", "settings.xml")}
	for _, name := range []string{"MAVEN_HOME", "M2_HOME"} {
		if dir := f.user.Env[name]; filepath.IsAbs(dir) {
			files = append(files, filepath.Join(dir, "conf", "settings.xml"))
		}
	}
	for _, path := range append(files, f.user.system("/etc/maven/settings.xml")) {
		if err := f.readMaven(path); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) readMaven(path string) error {
	text, found, err := f.read(path)
	if err != nil || !found {
		return err
	}
	var s mavenSettings
	if err := xml.Unmarshal([]byte(text), &s); err != nil {
		return f.broken(path, err)
	}
	servers := func(kind string, list []mavenServer) {
		for _, m := range list {
			// A blocked mirror is how Maven says "never ask there".
			if m.Blocked || m.URL == "" {
				continue
			}
			f.url(mavenExpand(f.user, m.URL), kind+" "+quote(m.ID)+" in "+f.user.show(path))
		}
	}
	servers("mirror", s.Mirrors)
	for _, p := range s.Profiles {
		servers("repository", p.Repositories)
		servers("plugin repository", p.Plugins)
	}
	return nil
}

// mavenExpand replaces ${env.NAME}; any other property stays, and then the
// address is none.
func mavenExpand(u UserConfig, value string) string {
	env := make(map[string]string, len(u.Env))
	for name, v := range u.Env {
		env["env."+name] = v
	}
	if v, ok := (UserConfig{Env: env}).expand(value); ok {
		return v
	}
	return ""
}
