-- Completion of the command line for bash, written from the registry. `make docs` puts it into docs/tide.bash.
local tide = require "tide"

local completion = {}

local body = [[
# bash completion of tide; written by `tide doc --completion`, not to be edited.
_tide() {
  local word=${COMP_WORDS[COMP_CWORD]} verb=
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    @verbs@) verb=${COMP_WORDS[i]}; break ;;
    esac
  done
  COMPREPLY=()
  case $verb,$word in
@cases@
  ,-*) COMPREPLY=($(compgen -W '@options@' -- "$word")) ;;
  ,*) ((COMP_CWORD == 1)) && COMPREPLY=($(compgen -W '@words@' -- "$word")) ;;
  esac
  COMPREPLY+=($(compgen -o plusdirs -f -X '!*.@(lua|md)' -- "$word"))
}
shopt -s extglob
complete -o filenames -F _tide tide
]]

-- The options that the text of a verb's arguments names.
local function flags_of(verb)
  local flags = {}
  for flag in (verb.args or ""):gmatch "%-%-?%l+" do flags[#flags + 1] = flag end
  return flags
end

--- The text of the file.
function completion.text()
  local r, options, verbs, cases = tide.registry(), {}, {}, {}
  for _, o in ipairs(r.options) do
    if o.letter and o.letter ~= "-" then options[#options + 1] = "-" .. o.letter end
    if o.name then options[#options + 1] = "--" .. o.name .. (o.args and not o.letter and "=" or "") end
  end
  for _, v in ipairs(r.verbs) do
    verbs[#verbs + 1] = v.name
    local flags = table.concat(flags_of(v), " ")
    if flags ~= "" then
      cases[#cases + 1] = ("  %s,-*) COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;"):format(v.name, flags)
    end
  end
  local parts = { options = table.concat(options, " "), verbs = table.concat(verbs, " | "),
    words = table.concat(verbs, " "), cases = table.concat(cases, "\n") }
  return (body:gsub("@(%l+)@", parts))
end

return completion
