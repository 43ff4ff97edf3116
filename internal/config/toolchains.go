package config

// toolchain is a kind of project: the files that show it, and the commands that
// its people run all day. A table, so that a new kind is a new row.
type toolchain struct {
	name string
	// files are names in the root; the first that exists counts. A name that
	// starts with "*" is a suffix.
	files []string
	// unless names files that show a more special row: then this one is left out.
	unless []string
	// allow are settings rules, network the presets that its downloads need.
	allow   []string
	network string
}

// toolchains are the kinds that `lictor init` knows, in the order of the file
// that it writes. Each rule covers tests, builds and checks of the project's own
// code; installing and publishing stay questions.
var toolchains = []toolchain{
	{
		name: "Go", files: []string{"go.mod", "go.work"}, network: "go",
		allow: []string{"bash(go build *)", "bash(go test *)", "bash(go vet *)", "bash(gofmt -l *)"},
	},
	{
		name: "Node (pnpm)", files: []string{"pnpm-lock.yaml"}, network: "npm",
		allow: []string{"bash(pnpm test *)", "bash(pnpm run build)", "bash(pnpm run lint)", "bash(pnpm run typecheck)"},
	},
	{
		name: "Node (yarn)", files: []string{"yarn.lock"}, network: "npm",
		allow: []string{"bash(yarn test *)", "bash(yarn build)", "bash(yarn lint)", "bash(yarn typecheck)"},
	},
	{
		name: "Node (npm)", files: []string{"package.json"}, unless: []string{"pnpm-lock.yaml", "yarn.lock"}, network: "npm",
		allow: []string{"bash(npm test *)", "bash(npm run build)", "bash(npm run lint)", "bash(npm run typecheck)"},
	},
	{
		name: "Python", files: []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}, network: "pypi",
		allow: []string{"bash(pytest *)", "bash(python -m pytest *)", "bash(ruff check *)", "bash(mypy *)"},
	},
	{
		name: "Rust", files: []string{"Cargo.toml"}, network: "cargo",
		allow: []string{"bash(cargo build *)", "bash(cargo check *)", "bash(cargo test *)", "bash(cargo clippy *)", "bash(cargo fmt --check)"},
	},
	{
		name: "Maven", files: []string{"pom.xml"}, network: "maven",
		allow: []string{"bash(mvn compile)", "bash(mvn test *)", "bash(mvn verify)"},
	},
	{
		name: "Gradle", files: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"}, network: "maven",
		allow: []string{"bash(./gradlew build)", "bash(./gradlew check)", "bash(./gradlew test *)"},
	},
	{
		name: ".NET", files: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj"},
		allow: []string{"bash(dotnet build *)", "bash(dotnet test *)"},
	},
	{
		name: "Ruby", files: []string{"Gemfile"},
		allow: []string{"bash(bundle exec rspec *)", "bash(bundle exec rake test)", "bash(bundle exec rubocop *)"},
	},
	{
		name: "CMake", files: []string{"CMakeLists.txt"},
		allow: []string{"bash(cmake --build build)", "bash(ctest --test-dir build *)"},
	},
	{
		name: "Make", files: []string{"Makefile", "GNUmakefile", "makefile"},
		allow: []string{"bash(make)", "bash(make build)", "bash(make check)", "bash(make lint)", "bash(make test)"},
	},
}

// anyProject are rules for every project. Of git only exact commands: options
// such as --output would let a wider pattern write files.
var anyProject = Permissions{
	Allow: []string{"bash(git status)", "bash(git diff)", "bash(git diff --stat)", "bash(git log --oneline)"},
	Ask:   []string{"bash(git push *)"},
	Deny:  []string{"bash(git push *--force*)", "write_file(.github/workflows/**)", "edit_file(.github/workflows/**)"},
}
