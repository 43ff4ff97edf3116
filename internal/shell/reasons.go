package shell

// reason is why a text is opaque. Its code is stable and public.
type reason uint8

const (
	rNone reason = iota
	// The text could not be read.
	rTooLong
	rTooDeep
	rNul
	rCR
	rCtrl
	rInvisible
	rBadUTF8
	rParse
	rInternal
	// The text was read, and other commands than the listed ones may run.
	rTooMany
	rWrapDepth
	rDialect
	rCommentSplice
	rHeredocDelim
	rHeredocSplice
	rHeredocEscape
	rLetOps
	rExtglob
	rBacktick
	rParamProcSubst
	rParamQuote
	rCoprocName
	rDupExpand
	rZshRedirect
	rZshExpand
	rZshBrace
	rZshEquals
	rZshGlob
	rArithQuote
	rTokenSplice
	rTrailingBackslash
	rTimeOption
	rCmdName
	rANSIC
	rShellCDynamic
	rShellStdin
	rEvalDynamic
	rTrapDynamic
	rRemoteDynamic
	rSourceDynamic
	rXargsShell
	rFindShell
	rParallelStdin
	rInterpStdin
	rDeferredStdin
	rPathChange
	rEnvExec
	rAlias
	rHash
	rEnable
	rBind
	rFc
	rZmodload
	rCNFHandler
	rPromptExpand
	rIndirect
	rNameref
	rArithInject
	rMapfileC
	rCompgen
	rSedExec
	rGitExt
	rGitConfig
	rArgInject
	rForeignShell
	rOptionExec
	rScript
	reasonCount
)

// reasonTable has one line per reason: its code and what it means to a person.
var reasonTable = [reasonCount]struct{ code, words string }{
	rNone:      {"", ""},
	rTooLong:   {"too-long", "the command is longer than 64 KiB, too long to check"},
	rTooDeep:   {"too-deep", "brackets or statements nest more than 200 deep, too deep to check"},
	rNul:       {"nul", "the command contains a NUL byte, which hides what runs"},
	rCR:        {"cr", "the command contains a carriage return, which a shell takes for a letter"},
	rCtrl:      {"ctrl", "the command contains control characters, which can repaint what you see"},
	rInvisible: {"invisible", "the command contains invisible or look-alike blank characters, so it does not run as it looks"},
	rBadUTF8:   {"bad-utf8", "the command is not valid UTF-8 text"},
	rParse:     {"parse-error", "the command is not valid shell syntax as far as it can be checked"},
	rInternal:  {"internal", "the command could not be checked because of an internal error"},

	rTooMany:           {"too-many", "the command has too many parts to list"},
	rWrapDepth:         {"wrap-depth", "commands are wrapped in each other more than 12 deep"},
	rDialect:           {"dialect", "shells disagree about what this command means"},
	rCommentSplice:     {"comment-splice", "a comment ends in a backslash, which can hide the next line"},
	rHeredocDelim:      {"heredoc-delim", "the end mark of a here-document is written in a way that shells read differently"},
	rHeredocSplice:     {"heredoc-splice", "a here-document may end earlier than it seems, so text could run as a command"},
	rHeredocEscape:     {"heredoc-escape", "a here-document opened inside a substitution has its text outside of it"},
	rLetOps:            {"let-ops", "let has unquoted operators, which the shell runs as commands"},
	rExtglob:           {"extglob-subst", "a file pattern contains quotes or expansions that may run commands"},
	rBacktick:          {"backtick-desync", "a backquoted command may end earlier than it seems"},
	rParamProcSubst:    {"param-procsubst", "a process substitution inside ${...} may run commands"},
	rParamQuote:        {"param-quote", "a single quote inside ${...} inside double quotes is read differently by shells"},
	rCoprocName:        {"coproc-name", "the command that coproc starts cannot be told from its name"},
	rDupExpand:         {"dup-expand", "the target of >& or <& is expanded twice and may run commands"},
	rZshRedirect:       {"zsh-redirect", "a redirection means another file in zsh"},
	rZshExpand:         {"zsh-expand", "an expansion means something else in zsh"},
	rZshBrace:          {"zsh-brace", "a command name starts with a brace, which zsh reads as a group"},
	rZshEquals:         {"zsh-equals", "a command name starts with =, which zsh replaces by the program's path"},
	rZshGlob:           {"zsh-glob", "a file pattern may run code in zsh"},
	rArithQuote:        {"arith-quote", "quotes inside arithmetic do not quote, so hidden commands may run"},
	rTokenSplice:       {"token-splice", "a line continuation stands inside an operator or expansion"},
	rTrailingBackslash: {"trailing-backslash", "the command ends in a lone backslash"},
	rTimeOption:        {"time-option", "time with options may be another program and write files"},
	rCmdName:           {"cmd-name", "the name of the program is only known when the command runs"},
	rANSIC:             {"ansi-c", "a $'...' string contains escapes that shells read differently"},
	rShellCDynamic:     {"shell-c-dynamic", "the script given to a shell is only known when it runs"},
	rShellStdin:        {"shell-stdin", "a shell runs whatever it reads from its input"},
	rEvalDynamic:       {"eval-dynamic", "eval runs text that is only known when it runs"},
	rTrapDynamic:       {"trap-dynamic", "trap sets up text that is only known when it runs"},
	rRemoteDynamic:     {"remote-dynamic", "the command sent to another host is only known when it runs"},
	rSourceDynamic:     {"source-dynamic", "source runs text that is only known when it runs"},
	rXargsShell:        {"xargs-shell", "input becomes shell text through xargs or parallel"},
	rFindShell:         {"find-shell", "file names become shell text through find or fd"},
	rParallelStdin:     {"parallel-stdin", "parallel runs the commands that it reads from its input"},
	rInterpStdin:       {"interp-stdin", "an interpreter runs whatever it reads from a pipe"},
	rDeferredStdin:     {"deferred-stdin", "a scheduler will run whatever it reads from its input"},
	rPathChange:        {"path-change", "PATH is changed, so later names can mean other programs"},
	rEnvExec:           {"env-exec", "a variable is set that makes programs run other code"},
	rAlias:             {"alias", "aliases change what later names mean"},
	rHash:              {"hash", "hash makes a name run another program"},
	rEnable:            {"enable", "enable loads or replaces shell builtins"},
	rBind:              {"bind", "bind makes keys run commands"},
	rFc:                {"fc", "fc runs commands from the history"},
	rZmodload:          {"zmodload", "zsh modules can replace commands"},
	rCNFHandler:        {"cnf-handler", "a handler for unknown commands is defined"},
	rPromptExpand:      {"prompt-expand", "an expansion runs the commands in a variable's value"},
	rIndirect:          {"indirect", "an indirect expansion can run the commands in a variable's value"},
	rNameref:           {"nameref", "a name reference can run the commands in a variable's value"},
	rArithInject:       {"arith-inject", "text that is evaluated as arithmetic or as a subscript contains a command"},
	rMapfileC:          {"mapfile-C", "mapfile runs a callback"},
	rCompgen:           {"compgen", "completion runs commands"},
	rSedExec:           {"sed-exec", "the sed script runs commands"},
	rGitExt:            {"git-ext", "a git ext:: address runs a command"},
	rGitConfig:         {"git-config", "git is told to take programs or hooks from somewhere else"},
	rArgInject:         {"arg-inject", "an unquoted expansion may add options that run commands"},
	rForeignShell:      {"foreign-shell", "the script is for a shell that cannot be checked"},
	rScript:            {"script-error", "a script inside the command is not valid shell syntax as far as it can be checked"},
	rOptionExec:        {"option-exec", "an option runs a program that is only known when the command runs"},
}

// unreadable reports the reasons that make a text unparseable, not just dynamic.
func (r reason) unreadable() bool { return r >= rTooLong && r <= rInternal }

// distrust reports the reasons under which the syntax tree may be wrong.
func (r reason) distrust() bool { return r >= rDialect && r <= rTrailingBackslash }

var reasonByCode = func() map[string]reason {
	m := make(map[string]reason, reasonCount)
	for r := rTooLong; r < reasonCount; r++ {
		m[reasonTable[r].code] = r
	}
	return m
}()

// Explain says in words what a reason code of model.Command.Reasons means. An
// unknown code is its own explanation.
func Explain(code string) string {
	if r, ok := reasonByCode[code]; ok {
		return reasonTable[r].words
	}
	return code
}
