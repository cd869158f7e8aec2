# Completion of the arguments of roper and ./roper in bash, which asks roper itself.
_roper() {
  local line=${COMP_LINE:0:COMP_POINT} IFS=$'\n'
  local word=${line##*[[:blank:]]}
  local kept=${word%"${word##*[=:]}"} # for bash a word of its own
  [[ $word == [\'\"]* ]] && kept=     # within quotes it is part of the word
  COMPREPLY=($("$1" --complete "$line" 2>/dev/null))
  COMPREPLY=("${COMPREPLY[@]#"$kept"}")
  if [[ ${#COMPREPLY[@]} == 1 && $word == [\'\"]*[=\{]* ]]; then
    COMPREPLY+=("${COMPREPLY[0]}…") # so that bash does not close the quotes: more may follow
  fi
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _roper roper
